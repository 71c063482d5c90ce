"""Judges: one file an implementation."""

from cragraph.verification.judges.cascade import CascadeJudge
from cragraph.verification.judges.embedding import EmbeddingJudge
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.judges.nli import NLIJudge
from cragraph.verification.judges.verdicts import checked, sanitised

__all__ = ["CascadeJudge", "EmbeddingJudge", "LexicalJudge", "NLIJudge", "checked", "sanitised"]
