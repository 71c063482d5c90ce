"""Similarities in 0..1 from whatever each side measures."""

import math
from collections.abc import Callable, Mapping
from typing import Final

METRICS: Final[Mapping[str, Callable[[float], float]]] = {
    "cosine": lambda distance: 1.0 - distance,
    "ip": lambda distance: 1.0 - distance,
    "l2": lambda distance: 1.0 - distance / 2.0,
}
"""Chroma's distances (cosine: 1 - cos, inner product: 1 - dot, l2: squared) as the cosine of unit vectors."""

K1: Final = 1.2
"""The term saturation of SQLite's `bm25()`."""


def similarity(distance: float, metric: str) -> float:
    """The cosine similarity behind a distance, with "unrelated or opposite" (a cosine of 0 or less) as 0.

    Favours nothing but the angle: lengths play no part. With the floor at 0 a threshold of 0.5 still
    means a cosine of 0.5.
    """
    return min(1.0, max(0.0, METRICS[metric](distance)))


def fts_idf(documents: int, holding: int) -> float:
    """The weight SQLite's `bm25()` gives a term that `holding` of `documents` contain (Robertson's, floored)."""
    return max(1e-6, math.log((documents - holding + 0.5) / (holding + 0.5)))


def positive_idf(documents: int, holding: int) -> float:
    """How much a term tells, never negative: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    return math.log1p((documents - holding + 0.5) / (holding + 0.5))


def lexical_share(bm25: float, known: Mapping[str, int], asked: Mapping[str, int], documents: int) -> float:
    """BM25 as the share of what the best possible passage would score, 0..1.

    `bm25` is positive, larger is better. A term adds at most idf * (k1 + 1), when it fills the passage, so the first
    factor is the share of that ceiling over the terms the store knows (`known`: term to number of passages). The
    second is the share of the whole query's information that those terms carry, so that a question of words the store
    has never seen scores low however well the one familiar word fits. Both depend on the query alone apart from
    `bm25`, so for one query the order is BM25's. A passage of average length with every term once gets 1/2.2 = 0.45.
    """
    ceiling = sum(fts_idf(documents, n) for n in known.values()) * (K1 + 1)
    told = sum(positive_idf(documents, n) for n in asked.values())
    if ceiling <= 0.0 or told <= 0.0:
        return 0.0
    coverage = sum(positive_idf(documents, n) for n in asked.values() if n) / told
    return min(1.0, max(0.0, bm25 / ceiling)) * coverage
