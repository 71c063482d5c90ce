"""How good a ranking is against judged passages: pure functions over ids in ranked order.

`gains` maps ids to graded relevance; 0 and below mean judged and not relevant, and count like unjudged ones.
"""

import math
from collections.abc import Mapping, Sequence

Gains = Mapping[str, float]


def relevant(gains: Gains) -> frozenset[str]:
    """The ids with a gain above 0."""
    return frozenset(item for item, gain in gains.items() if gain > 0)


def dcg(gains: Sequence[float]) -> float:
    """Discounted cumulative gain: the sum of gain / log2(rank + 1), ranks from 1 (Järvelin and Kekäläinen 2002)."""
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def ndcg(ranking: Sequence[str], gains: Gains, k: int = 10) -> float:
    """DCG of the first `k` as a share of the best possible, 0..1; favours highly graded passages early.

    Linear gain, as trec_eval's ``ndcg_cut``; 0 where nothing is relevant.
    """
    ideal = dcg(sorted((gain for gain in gains.values() if gain > 0), reverse=True)[:k])
    found = dcg([max(0.0, gains.get(item, 0.0)) for item in _once(ranking)[:k]])
    return found / ideal if ideal else 0.0


def recall(ranking: Sequence[str], gains: Gains, k: int) -> float:
    """The share of the relevant that is among the first `k`, 0..1; 0 where nothing is relevant."""
    wanted = relevant(gains)
    return len(wanted & set(_once(ranking)[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranking: Sequence[str], gains: Gains) -> float:
    """1 / the rank of the first relevant, 0 where none is found; favours one good hit at the top."""
    wanted = relevant(gains)
    return next((1.0 / rank for rank, item in enumerate(_once(ranking), start=1) if item in wanted), 0.0)


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed; 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 for none."""
    return sum(values) / len(values) if values else 0.0


def _once(ranking: Sequence[str]) -> list[str]:
    """The ids at their first rank, so that a repeated hit earns nothing twice."""
    return list(dict.fromkeys(ranking))
