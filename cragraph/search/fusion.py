"""The formulas of search: rankings fused into one, and relevance on one scale."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from cragraph.errors import InputError
from cragraph.search.rerankers import logistic

Mode = Literal["hybrid", "dense", "lexical"]
Ranking = Sequence[tuple[str, float]]  # ids with their scores (0 or more), best first

CONSTANT: Final = 60.0  # the constant of reciprocal ranks, from the original paper


def distinct_queries(queries: Sequence[str], k: int) -> list[str]:
    """The distinct queries with a word. Raises InputError if there are none, or if `k` is below 1."""
    distinct = list(dict.fromkeys(query.strip() for query in queries if query.strip()))
    if k < 1 or not distinct:
        raise InputError(
            f"The search was asked for {k} passages with {len(distinct)} queries; wanted at least one of each."
        )
    return distinct


def fuse(rankings: Iterable[tuple[Ranking, float]], constant: float = CONSTANT) -> dict[str, float]:
    """Ids by fused score, best first: the sum over rankings of weight * share / (constant + rank), ranks from 1.

    `share` is a passage's score as a share of the best in its ranking. Plain reciprocal rank fusion (Cormack, Clarke,
    Büttcher 2009; every share is 1, as where all scores are 0) favours what several rankings agree on and cannot see
    that one of them found nothing good. Ties keep the order of first appearance.
    """
    fused: dict[str, float] = {}
    for ranking, weight in rankings:
        best = max((score for _, score in ranking), default=0.0)
        for rank, (chunk_id, score) in enumerate(ranking, start=1):
            share = score / best if best > 0.0 else 1.0
            fused[chunk_id] = fused.get(chunk_id, 0.0) + weight * share / (constant + rank)
    return dict(sorted(fused.items(), key=lambda item: -item[1]))


@dataclass(frozen=True)
class Logistic:
    """A logistic curve over the two raw scores: 1 / (1 + exp(-(base + dense * d + lexical * l)))."""

    base: float
    dense: float = 0.0
    lexical: float = 0.0

    def __call__(self, dense: float | None, lexical: float | None) -> float:
        """Relevance 0..1; a score that is missing counts as 0."""
        return logistic(self.base + self.dense * (dense or 0.0) + self.lexical * (lexical or 0.0))


@dataclass(frozen=True)
class Curves:
    """One curve per mode, so that a floor means the same relevance in every mode.

    Fitted for the embedded encoder (lab/benchmarks/calibration.py); other models spread their cosines differently.
    """

    dense: Logistic = Logistic(-6.1, dense=8.8)
    lexical: Logistic = Logistic(-3.1, lexical=4.3)
    hybrid: Logistic = Logistic(-5.4, dense=7.4, lexical=1.2)


def falling(values: Sequence[float]) -> list[float]:
    """The closest sequence that never rises, in least squares (pool adjacent violators).

    Passages whose relevance disagrees with the order of fusion share their mean, so that a floor cuts the list once.
    """
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] < total / count:
            above, more = blocks.pop()
            total, count = total + above, count + more
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]
