"""Figures for judges and rankings: pure functions over truths, scores, predictions and ranked ids.

A truth or prediction is True for supported, a score 0..1 its probability; `gains` above 0 are graded relevance by id.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

import numpy as np

from cragraph.calibrate import balanced_accuracy, calibration_error, reliability
from cragraph.log import quantile


def unsupported_class(truth: Sequence[bool], predicted: Sequence[bool]) -> dict[str, float | None]:
    """Precision, recall and F1 of finding the unsupported rows; None where there is nothing to find or judge."""
    hits = sum(not real and not guess for real, guess in zip(truth, predicted, strict=True))
    return precision_recall(hits, sum(not guess for guess in predicted), sum(not real for real in truth))


def precision_recall(hits: int, marked: int, wanted: int) -> dict[str, float | None]:
    """Precision, recall and F1 from counts; F1 is None where nothing was wanted, and 0 where none of it was found."""
    return {
        "precision": hits / marked if marked else None,
        "recall": hits / wanted if wanted else None,
        "f1": 2 * hits / (marked + wanted) if wanted else None,
    }


def auroc(truth: Sequence[bool], scores: Sequence[float]) -> float | None:
    """Chance that a supported row scores above an unsupported one, ties counting half; None unless there are both."""
    labels, values = np.asarray(truth, dtype=bool), np.asarray(scores, dtype=float)
    positive, negative = int(labels.sum()), int((~labels).sum())
    if not positive or not negative:
        return None
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    # The mean rank of each distinct score: ties share their places.
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return float((ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * negative))


def classified(truth: Sequence[bool], scores: Sequence[float], predicted: Sequence[bool]) -> dict[str, Any]:
    """All of the above for one data set."""
    curve = reliability(truth, scores)
    return {
        "rows": len(truth),
        "supported": sum(truth),
        "unsupported": len(truth) - sum(truth),
        "balanced_accuracy": balanced_accuracy(truth, predicted),
        **{f"{name}_unsupported": value for name, value in unsupported_class(truth, predicted).items()},
        "auroc": auroc(truth, scores),
        "ece": calibration_error(curve),
        "reliability": [asdict(b) for b in curve],
    }


def times(ms: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile of milliseconds."""
    return {"ms_p50": round(quantile(ms, 0.5), 2), "ms_p95": round(quantile(ms, 0.95), 2)}


def means(sets: Iterable[Mapping[str, Any]], names: Iterable[str]) -> dict[str, float | None]:
    """The mean over data sets of every figure, of those that have it; None where none has."""
    known = {name: [figures[name] for figures in sets if figures[name] is not None] for name in names}
    return {name: mean(values) if values else None for name, values in known.items()}


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
    gained = dcg([max(0.0, gains.get(item, 0.0)) for item in _once(ranking)[:k]])
    return gained / ideal if ideal else 0.0


def recall(ranking: Sequence[str], gains: Gains, k: int) -> float:
    """The share of the relevant that is among the first `k`, 0..1; 0 where nothing is relevant."""
    wanted = relevant(gains)
    return len(wanted & set(_once(ranking)[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranking: Sequence[str], gains: Gains) -> float:
    """1 / the rank of the first relevant, 0 where none is found; favours one good hit at the top."""
    return next((1.0 / rank for rank, item in enumerate(_once(ranking), start=1) if gains.get(item, 0) > 0), 0.0)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; 0 without values."""
    return fmean(values) if values else 0.0


def _once(ranking: Sequence[str]) -> list[str]:
    """The ids at their first rank, so that a repeated hit earns nothing twice."""
    return list(dict.fromkeys(ranking))
