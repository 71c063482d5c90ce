"""The calibration curve: a rising line from the head's logit to the chance that a claim is supported."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.isotonic import IsotonicRegression

from training.judge.metrics import expected_calibration_error
from training.judge.rows import SUPPORTED

Array = NDArray[Any]
Rows = dict[str, tuple[Array, Array]]
KNOTS = 12
"""Few enough that the curve cannot follow single rows."""


def calibration_knots(rows: Rows) -> tuple[Array, Array]:
    """(logits, chances) of the curve; every file counts the same, the ends stay off 0 and 1."""
    x = np.concatenate([s for s, _ in rows.values()])
    y = np.concatenate([la == SUPPORTED for _, la in rows.values()])
    weight = np.concatenate([np.full(len(s), 1 / len(s)) for s, _ in rows.values()])
    fitted = IsotonicRegression(y_min=0.01, y_max=0.99, out_of_bounds="clip").fit(x, y, weight)
    places = np.unique(np.quantile(x, np.linspace(0, 1, KNOTS)))
    # The mean of the steps around a knot, plus a slope too small to matter: equal chances would make rows tie.
    middle = [fitted.predict(x[np.abs(x - p) <= np.ptp(places) / (2 * KNOTS)]).mean() for p in places]
    rising = np.maximum.accumulate(middle) + np.linspace(0, 1e-3, len(places))
    return places, rising.clip(0.005, 0.995)


def cross_fitted(rows: Rows, folds: int = 5, seed: int = 13) -> tuple[float, float]:
    """Expected calibration error of curves fitted on other rows of the same files, and on other files."""
    rng = np.random.default_rng(seed)
    part = {n: rng.integers(folds, size=len(s)) for n, (s, _) in rows.items()}
    chances, true = [], []
    for fold in range(folds):
        knots = calibration_knots({n: (s[part[n] != fold], la[part[n] != fold]) for n, (s, la) in rows.items()})
        for n, (s, la) in rows.items():
            chances.append(np.interp(s[part[n] == fold], *knots))
            true.append(la[part[n] == fold] == SUPPORTED)
    by_row = expected_calibration_error(np.concatenate(chances), np.concatenate(true))
    chances, true = [], []
    for name, (s, la) in rows.items():
        knots = calibration_knots({n: r for n, r in rows.items() if n != name})
        chances.append(np.interp(s, *knots))
        true.append(la == SUPPORTED)
    return by_row, expected_calibration_error(np.concatenate(chances), np.concatenate(true))
