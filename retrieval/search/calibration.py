"""From raw similarities to one scale: the share of such passages that are relevant."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Curve:
    """A logistic curve over the two raw scores: 1 / (1 + exp(-(base + dense * d + lexical * l)))."""

    base: float
    dense: float = 0.0
    lexical: float = 0.0

    def __call__(self, dense: float | None, lexical: float | None) -> float:
        """Relevance 0..1; a score that is missing counts as 0."""
        z = self.base + self.dense * (dense or 0.0) + self.lexical * (lexical or 0.0)
        return 1.0 / (1.0 + math.exp(-z)) if z > -700 else 0.0


@dataclass(frozen=True)
class Calibration:
    """One curve a mode, so that a floor lets through equally relevant passages whichever mode found them.

    Fitted for the embedded encoder on the judged passages of the development collections (benchmarks/calibration.py);
    other embedding models spread their cosines differently: give curves of their own.
    """

    dense: Curve = Curve(-6.1, dense=8.8)
    lexical: Curve = Curve(-3.1, lexical=4.3)
    hybrid: Curve = Curve(-5.4, dense=7.4, lexical=1.2)


def falling(values: Sequence[float]) -> list[float]:
    """The closest sequence that never rises, in least squares (pool adjacent violators).

    Relevance is estimated passage by passage, order is decided by fusion; where the two disagree, the passages
    concerned share their mean, so that a floor cuts the list at one place.
    """
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] < total / count:
            above, more = blocks.pop()
            total, count = total + above, count + more
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]
