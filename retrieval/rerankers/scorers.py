"""Models that read a question and a passage for the encoder reranker."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
from langchain_core.embeddings import Embeddings

from cragraph.retrieval.rerankers.scored import logistic
from cragraph.sentences import sentence_spans

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
