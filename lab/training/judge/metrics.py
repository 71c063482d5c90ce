"""Figures that say how well scores separate and how far probabilities can be trusted."""

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


def auroc(scores: Numbers, positive: Flags) -> float:
    """The chance that a positive row scores above a negative one; ties count half. NaN with one class alone."""
    _, rank, count = np.unique(scores, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - (count - 1) / 2
    ranks = middle[rank]
    n, m = int(positive.sum()), int((~positive).sum())
    if not n or not m:
        return float("nan")
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * m))


def balanced_accuracy(said: Flags, positive: Flags) -> float:
    """The mean of the shares of positives and of negatives that were called right."""
    sides = [(said == positive)[positive == side] for side in (True, False)]
    return float(np.mean([s.mean() for s in sides if s.size]))


def expected_calibration_error(chances: Numbers, positive: Flags, bins: int = 10) -> float:
    """The mean gap between the chance stated and the share that came true, over `bins` equal steps, by rows."""
    place = np.minimum((chances * bins).astype(int), bins - 1)
    gaps = [
        abs(float(chances[place == b].mean()) - float(positive[place == b].mean())) * int((place == b).sum())
        for b in range(bins)
        if (place == b).any()
    ]
    return float(sum(gaps) / len(chances))


def f1(said: Flags, true: Flags) -> tuple[float, float, float]:
    """Precision, recall and F1 of flags."""
    hit = int((said & true).sum())
    precision, recall = hit / max(1, int(said.sum())), hit / max(1, int(true.sum()))
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def reliability(chances: Numbers, positive: Flags, bins: int = 10) -> tuple[list[float], list[float]]:
    """Mean chance and share that came true of each of `bins` equal steps that holds at least ten rows."""
    place = np.minimum((chances * bins).astype(int), bins - 1)
    held = [b for b in range(bins) if (place == b).sum() >= 10]
    return [float(chances[place == b].mean()) for b in held], [float(positive[place == b].mean()) for b in held]
