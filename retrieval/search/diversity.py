"""Maximal marginal relevance: do not show the same thing twice."""

from collections.abc import Sequence

import numpy as np

from cragraph.retrieval.search.searchable import Vectors


def mmr(relevance: Sequence[float], vectors: Vectors, k: int, *, redundancy: float, same: float) -> list[int]:
    """Indices of the `k` passages picked one by one for relevance less what the picked ones already say.

    A passage loses `redundancy` times how far its cosine to the nearest picked one is above `same`, as a share of the
    way from `same` to 1: an exact copy loses all of `redundancy`, a passage that is merely on the same subject
    nothing. (Carbonell and Goldstein 1998, whose penalty is the cosine itself; that one also costs the second half of
    an answer that runs over two chunks.) `vectors` are unit vectors, one a row. Ties go to the earlier one.
    """
    left = np.asarray(relevance, dtype=np.float64)
    penalty = np.zeros(len(left))
    picked: list[int] = []
    open_ = np.ones(len(left), dtype=bool)
    for _ in range(min(k, len(left))):
        best = int(np.argmax(np.where(open_, left - redundancy * penalty, -np.inf)))
        picked.append(best)
        open_[best] = False
        nearness = (vectors @ vectors[best] - same) / (1.0 - same)
        penalty = np.maximum(penalty, np.clip(nearness, 0.0, 1.0))
    return picked
