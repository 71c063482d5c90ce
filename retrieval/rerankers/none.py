"""No reranking: the order of retrieval stands."""

from collections.abc import Sequence
from dataclasses import dataclass

from cragraph.protocols import Notes
from cragraph.types import Passage


@dataclass(frozen=True)
class NoReranker:
    """Leaves order and passages as they are; `rerank_score` stays None, as no such stage ran."""

    name: str = "none"

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """The passages, as they came."""
        return list(passages)
