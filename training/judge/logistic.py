"""The small layers of the head: logistic regression with non-negative weights, balanced between sources."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from training.judge.cheap import CHEAP, LEARNED
from training.judge.metrics import auroc
from training.judge.rows import CONTRADICTED, SUPPORTED, UNSUPPORTED
from training.judge.table import Table

Array = NDArray[Any]
FEATURES = LEARNED + CHEAP
KINDS_MARKED = ("defacto", "conjnli", "dialfact")
"""Files that tell *unsupported* from *contradicted*."""


def fit_logistic(x: Array, y: Array, weight: Array, penalty: float) -> tuple[Array, float]:
    """Logistic weights, none below 0, and the bias; `weight` (n,) sums to 1, `penalty` is on the squares."""

    def loss(w: Array) -> tuple[float, Array]:
        z = x @ w[:-1] + w[-1]
        value = float((weight * (np.logaddexp(0, z) - y * z)).sum() + penalty * (w[:-1] ** 2).sum())
        error = weight * (1 / (1 + np.exp(-z)) - y)
        return value, np.append(x.T @ error + 2 * penalty * w[:-1], error.sum())

    bounds = [(0.0, None)] * x.shape[1] + [(None, None)]
    found = minimize(loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B", bounds=bounds)
    return found.x[:-1], float(found.x[-1])


def balanced_weights(group: Array, y: Array) -> Array:
    """Every class counts the same within its source; every source counts the same."""
    weight = np.zeros(len(y))
    for g in np.unique(group):
        sides = [np.flatnonzero((group == g) & (y == side)) for side in (True, False)]
        sides = [s for s in sides if s.size]
        for side in sides:
            weight[side] = 1 / (len(sides) * side.size)
    return weight / weight.sum()


class HeadFit:
    """The claims to fit on, standardised once."""

    def __init__(self, train: Table) -> None:
        self.y = train["label"] == SUPPORTED
        self.group = train["source"]
        x = train["features"].astype(np.float64)
        self.means, self.scales = x.mean(0), x.std(0) + 1e-6
        self.x = (x - self.means) / self.scales

    def fit(self, columns: Array, penalty: float, keep: Array | None = None) -> tuple[Array, float]:
        """Weights of all features (0 outside `columns`) and the bias, fitted on the claims of `keep`."""
        keep = np.ones(len(self.y), bool) if keep is None else keep
        weight = balanced_weights(self.group[keep], self.y[keep])
        part, bias = fit_logistic(self.x[keep][:, columns], self.y[keep], weight, penalty)
        whole = np.zeros(self.x.shape[1])
        whole[columns] = part
        return whole, bias

    def left_out(self, columns: Array, penalty: float) -> float:
        """Mean AUROC over the sources, each scored by a head that was fitted without it."""
        found = []
        for g in np.unique(self.group):
            own = self.group == g
            if 5 <= self.y[own].sum() <= own.sum() - 5:
                weights, _ = self.fit(columns, penalty, ~own)
                found.append(auroc(self.x[own] @ weights, self.y[own]))
        return float(np.mean(found))

    def score(self, table: Table, weights: Array, bias: float) -> Array:
        """Logits of all readings of a table."""
        return np.asarray((table["features"] - self.means) / self.scales @ weights + bias)


def fit_words(train: Table) -> tuple[float, float, float]:
    """The word layer: from the network's logit and the missing idf to a chance, on claims whose words are marked."""
    readings = np.flatnonzero(train["marked"])
    words = train.words(readings)
    x = np.stack([words.logits, words.missing], 1).astype(np.float64)
    weights, bias = fit_logistic(x, words.tags, np.full(len(x), 1 / len(x)), 1e-5)
    return float(weights[0]), float(weights[1]), bias


def fit_contradiction(train: Table) -> tuple[float, float]:
    """Scale and bias from the network's logits to *contradicted, given not supported*, where both are marked."""
    marked = np.array([str(s).startswith(KINDS_MARKED) for s in train.sources])
    own = np.flatnonzero(marked & np.isin(train["label"], (UNSUPPORTED, CONTRADICTED)))
    x = (train["logits"][own, 2] - train["logits"][own, 1])[:, None].astype(np.float64)
    y = train["label"][own] == CONTRADICTED
    weights, bias = fit_logistic(x, y, balanced_weights(train["source"][own], y), 1e-4)
    return float(weights[0]), bias
