"""The reranker with a chat model: each passage scored 0..1 by a call of its own, in parallel."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event

from pydantic import BaseModel

from cragraph.errors import DeadlineError, ModelError, ModelNotFoundError, ModelUnavailableError
from cragraph.models.chat import ChatPart
from cragraph.models.replies import Score
from cragraph.models.weights import side_by_side
from cragraph.protocols import Notes
from cragraph.types import Passage


class Relevance(BaseModel):
    """The relevance of one passage."""

    score: Score


@dataclass(frozen=True)
class LLMReranker(ChatPart):
    """Scores every passage in a separate call; if a call fails the passage keeps its score, with a note.

    Once the server is gone or the deadline has passed, no further passage is tried.
    """

    max_concurrency: int = 4

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with `rerank_score`, best first; equal scores keep their order. One call per passage."""
        if not passages:
            return []
        gone = Event()
        scores = side_by_side(lambda passage: self._score(query, passage, notes, gone), passages, self.max_concurrency)
        failed = sum(score is None for score in scores)
        if failed:
            notes.degraded(f"{failed} of {len(passages)} passages kept the score they had, as {self.name} gave none.")
        ranked: list[Passage] = []
        for passage, score in zip(passages, scores, strict=True):
            before = passage["retrieval_score"] if passage["rerank_score"] is None else passage["rerank_score"]
            ranked.append({**passage, "rerank_score": before if score is None else score})
        return sorted(ranked, key=lambda passage: -(passage["rerank_score"] or 0.0))

    def _score(self, query: str, passage: Passage, notes: Notes, gone: Event) -> float | None:
        if gone.is_set():
            return None
        try:
            return self.ask(Relevance, "rerank", notes, [passage], question=query).score
        except (DeadlineError, ModelNotFoundError, ModelUnavailableError) as error:
            if not gone.is_set():
                notes.degraded(f"Reranking by {self.name} stopped: {error}")
            gone.set()
        except ModelError as error:
            notes.degraded(f"{self.name} could not score a passage: {error}")
        return None
