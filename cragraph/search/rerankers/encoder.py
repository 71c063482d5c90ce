"""The reranker that lets a model read question and passage together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cragraph.errors import ModelError
from cragraph.language.sentences import sentence_spans
from cragraph.passages import contextual_text
from cragraph.protocols import Notes, Reranker
from cragraph.search.rerankers import logistic, logit, ranked
from cragraph.types import Passage

WINDOW: Final = 850  # characters of a passage that the reader reads at once
Scorer = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Relevance 0..1 of each (question, passage) pair, such as a cross-encoder gives."""


@dataclass(frozen=True)
class EncoderReranker:
    """Scores (question, passage) pairs with a model, and joins its odds with those of retrieval, or of the `first`.

    `share` is the model's weight, 1 for the model alone, as where a passage has no other score.
    """

    scorer: Scorer
    share: float = 0.5
    first: Reranker | None = None
    name: str = "encoder"

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with their `rerank_score`, best first; ModelError where the model gave not one score a pair."""
        if not passages:
            return []
        if self.first is not None:
            passages = self.first(query, passages, notes)
        scores = list(self.scorer([(query, contextual_text(passage)) for passage in passages]))
        if len(scores) != len(passages):
            raise ModelError(
                f"the {self.name} reranker's model gave {len(scores)} scores for {len(passages)} passages; wanted one "
                "each: check the scorer that it was made with."
            )
        joined = []
        for score, passage in zip(map(float, scores), passages, strict=True):
            prior = passage["retrieval_score"] if self.first is None else passage["rerank_score"]
            odds = self.share * logit(score) + (1.0 - self.share) * logit(prior or 0.0)
            joined.append(score if prior is None else logistic(odds))
        return ranked(passages, joined)


@dataclass(frozen=True)
class ReaderScorer:
    """How likely the reader takes a passage to answer the question: its best part of up to `WINDOW` characters."""

    reader: Any

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Relevance 0..1 of each (question, passage), in order."""
        return [logistic(max(self._answers(question, passage))) for question, passage in pairs]

    def _answers(self, question: str, passage: str) -> list[float]:
        return [found.answer for found in self.reader.read(question, [("", part) for part in _parts(passage)])]


def _parts(passage: str) -> list[str]:
    """The passage in parts of whole sentences that the reader can read at once."""
    parts = [""]
    for start, end in sentence_spans(passage):
        if parts[-1] and len(parts[-1]) + end - start > WINDOW:
            parts.append("")
        parts[-1] += f" {passage[start:end]}"
    return parts
