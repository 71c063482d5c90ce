"""Putting a rerank score on passages."""

import math
from collections.abc import Iterable, Sequence

from cragraph.types import Passage


def ranked(passages: Sequence[Passage], scores: Iterable[float]) -> list[Passage]:
    """Copies with their `rerank_score`, best first; ties keep their order.

    The score is also kept beside those of the earlier stages, in ``metadata["scores"]["rerank"]``.
    """
    scored = [with_score(passage, score) for passage, score in zip(passages, scores, strict=True)]
    return sorted(scored, key=lambda passage: -(passage["rerank_score"] or 0.0))


def with_score(passage: Passage, score: float) -> Passage:
    """A copy with its `rerank_score`; what is not a number in 0..1 is brought there, NaN to 0."""
    value = 0.0 if math.isnan(score) else min(1.0, max(0.0, score))
    copy = passage.copy()
    copy["metadata"] = {**passage["metadata"], "scores": {**passage["metadata"].get("scores", {}), "rerank": value}}
    copy["rerank_score"] = value
    return copy


def logistic(z: float) -> float:
    """1 / (1 + exp(-z)) without overflow."""
    return 1.0 / (1.0 + math.exp(-z)) if z > -700.0 else 0.0


def logit(p: float) -> float:
    """The inverse of `logistic`, for p kept off 0 and 1 by a thousandth."""
    p = min(0.999, max(0.001, p))
    return math.log(p / (1.0 - p))
