"""Judges: one file an implementation."""

from cragraph.verification.judges.cascade import CascadeJudge
from cragraph.verification.judges.embedding import EmbeddingJudge
from cragraph.verification.judges.evidence import checked, sanitised
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.judges.nli import NLIJudge

__all__ = ["CascadeJudge", "EmbeddingJudge", "LexicalJudge", "NLIJudge", "checked", "sanitised"]
