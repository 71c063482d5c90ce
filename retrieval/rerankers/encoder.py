"""Rerankers that let a model read question and passage together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from langchain_core.embeddings import Embeddings

from cragraph.errors import ModelError
from cragraph.protocols import Notes, Reranker
from cragraph.retrieval.documents import contextual_text
from cragraph.retrieval.rerankers.scored import logistic, logit, ranked
from cragraph.text.sentences import sentence_spans
from cragraph.types import Passage

Scorer = Callable[[Sequence[tuple[str, str]]], Sequence[float]]
"""Relevance 0..1 of each (question, passage) pair, such as a cross-encoder gives."""


@dataclass(frozen=True)
class EncoderReranker:
    """Scores (question, passage) pairs with a model, and joins its odds with those of retrieval.

    `share` is the model's say, 1 for the model alone; passages without a retrieval score are always scored by the
    model alone. Where another reranker goes `first`, its scores take the place of those of retrieval.
    """

    scorer: Scorer
    share: float = 0.5
    first: Reranker | None = None
    name: str = "encoder"

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with their `rerank_score`, best first.

        Raises:
            ModelError: the model gave another number of scores than it got pairs.
        """
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
        before = [p["retrieval_score"] if self.first is None else p["rerank_score"] for p in passages]
        return ranked(passages, [self._joined(float(s), p) for s, p in zip(scores, before, strict=True)])

    def _joined(self, score: float, prior: float | None) -> float:
        if prior is None:
            return score
        return logistic(self.share * logit(score) + (1.0 - self.share) * logit(prior))


STEEPNESS: Final = 10.0
MIDDLE: Final = 0.5
"""The curve from cosine to relevance; see docs/retrieval.md for what other values gave."""
SENTENCES: Final = 2
"""Sentences of a window: an answer often stands beside the sentence that names its subject."""


class Grounded(Protocol):
    """What a grounding says of a pair; `cragraph.models.grounding.Grounding` is one."""

    @property
    def supported(self) -> float:
        """Probability 0..1."""
        ...


class Grounder(Protocol):
    """What scores pairs of claim and passage; `cragraph.models.grounding.GroundingModel` is one."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Grounded]:
        """One grounding a pair, in order."""
        ...


@dataclass(frozen=True)
class GroundingScorer:
    """How far the grounding model takes the question, read as a claim, for supported by the passage."""

    model: Grounder

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Relevance 0..1 of each (question, passage), in order."""
        return [found.supported for found in self.model.score(pairs)]


@dataclass(frozen=True)
class SentenceScorer:
    """The cosine of the question to the passage's closest window of two sentences.

    A passage is embedded as a whole when it is stored; the one sentence that answers may be lost in it.
    """

    embeddings: Embeddings

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Relevance 0..1 of each (question, passage), in order; every distinct text is embedded once."""
        windows = [windows_of(passage) for _, passage in pairs]
        texts = list(dict.fromkeys([*(question for question, _ in pairs), *(w for own in windows for w in own)]))
        vectors = np.asarray(self.embeddings.embed_documents(texts), np.float32) if texts else np.zeros((0, 1))
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.where(lengths > 0, lengths, 1)
        row = {text: number for number, text in enumerate(texts)}
        return [
            max((_relevance(float(unit[row[question]] @ unit[row[window]])) for window in own), default=0.0)
            for (question, _), own in zip(pairs, windows, strict=True)
        ]


def windows_of(passage: str) -> list[str]:
    """The passage's sentences, each with the next one."""
    spans = sentence_spans(passage)
    ends = [spans[min(place + SENTENCES, len(spans)) - 1][1] for place in range(len(spans))]
    return [passage[start:end] for (start, _), end in zip(spans, ends, strict=True)]


def _relevance(cosine: float) -> float:
    return logistic(STEEPNESS * (cosine - MIDDLE))
