"""Rerankers, one strategy per file, with shared functions: scores of passages, and the gain of reranking."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from cragraph.protocols import Notes
from cragraph.types import Passage


def ranked(passages: Sequence[Passage], scores: Iterable[float]) -> list[Passage]:
    """Copies with their `rerank_score` (also in ``metadata["scores"]``), best first; ties keep their order."""
    scored = [with_score(passage, score) for passage, score in zip(passages, scores, strict=True)]
    return sorted(scored, key=lambda passage: -(passage["rerank_score"] or 0.0))


def with_score(passage: Passage, score: float) -> Passage:
    """A copy with its `rerank_score`, clamped to 0..1, NaN as 0."""
    value = 0.0 if math.isnan(score) else min(1.0, max(0.0, score))
    copy, scores = passage.copy(), passage["metadata"].get("scores")
    scores = {**scores, "rerank": value} if isinstance(scores, dict) else {"rerank": value}
    copy["metadata"] = {**passage["metadata"], "scores": scores}
    copy["rerank_score"] = value
    return copy


def logistic(z: float) -> float:
    """1 / (1 + exp(-z)) without overflow."""
    return 1.0 / (1.0 + math.exp(-z)) if z > -700.0 else 0.0


def logit(p: float) -> float:
    """The inverse of `logistic`, for p kept off 0 and 1 by a thousandth."""
    p = min(0.999, max(0.001, p))
    return math.log(p / (1.0 - p))


def rerank_gain(before: Sequence[Passage], after: Sequence[Passage], k: int = 3) -> float:
    """The mean rerank score of the first `k` after, less that of the first `k` before (mean score gain).

    0 where the reranker gave no scores; a passage that it dropped counts as 0.
    """
    if not before or not after:
        return 0.0
    scores = {p["chunk_id"]: p["rerank_score"] for p in after if p["rerank_score"] is not None}
    if not scores:
        return 0.0
    kept = fmean([scores.get(p["chunk_id"], 0.0) for p in after[:k]])
    return kept - fmean([scores.get(p["chunk_id"], 0.0) for p in before[:k]])


@dataclass(frozen=True)
class NoReranker:
    """Leaves order and passages as they are; `rerank_score` stays None."""

    name: str = "none"

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """The passages, as they came."""
        return list(passages)
