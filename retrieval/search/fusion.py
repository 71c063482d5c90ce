"""Reciprocal rank fusion: one order out of several rankings."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

CONSTANT: Final = 60.0
"""How flat the reciprocal ranks are; the value of the paper that proposed them."""

Ranking = Sequence[tuple[str, float]]
"""Ids with their scores (0 or more), best first."""


def fuse(rankings: Iterable[tuple[Ranking, float]], constant: float = CONSTANT) -> dict[str, float]:
    """Ids by fused score, best first: the sum over rankings of weight * share / (constant + rank), ranks from 1.

    `share` is a passage's score as a share of the best score in its ranking. Plain reciprocal rank fusion (Cormack,
    Clarke and Büttcher 2009; every share is 1) favours what several rankings agree on and cannot see that one of them
    found nothing good: the tenth best of a flat, undecided ranking counts as much as the tenth best of a decided one.
    With the share, a ranking speaks as loudly as its scores fall off. Ties keep the order of first appearance.
    """
    fused: dict[str, float] = {}
    for ranking, weight in rankings:
        best = max((score for _, score in ranking), default=0.0)
        for rank, (chunk_id, score) in enumerate(ranking, start=1):
            share = score / best if best > 0.0 else 1.0
            fused[chunk_id] = fused.get(chunk_id, 0.0) + weight * share / (constant + rank)
    return in_order(fused)


def in_order(scores: Mapping[str, float]) -> dict[str, float]:
    """The same scores, best first; ties keep their order."""
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
