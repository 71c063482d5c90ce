"""Judges: one file an implementation."""

from typing import TYPE_CHECKING

from cragraph.lazy import exports

if TYPE_CHECKING:
    from cragraph.verification.judges.cascade import CascadeJudge
    from cragraph.verification.judges.embedding import EmbeddingJudge
    from cragraph.verification.judges.lexical import LexicalJudge
    from cragraph.verification.judges.nli import NLIJudge
    from cragraph.verification.judges.verdicts import checked, sanitised

__all__ = ["CascadeJudge", "EmbeddingJudge", "LexicalJudge", "NLIJudge", "checked", "sanitised"]

__getattr__ = exports(
    __name__,
    {
        "cascade": ("CascadeJudge",),
        "embedding": ("EmbeddingJudge",),
        "lexical": ("LexicalJudge",),
        "nli": ("NLIJudge",),
        "verdicts": ("checked", "sanitised"),
    },
)
