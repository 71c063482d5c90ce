"""How the measured values of a claim become a support score."""

from collections.abc import Mapping
from math import exp, isfinite
from types import MappingProxyType
from typing import Final

from cragraph.errors import SettingsError
from cragraph.verification.judges.features import FEATURES, Reading

LEXICAL: Final[Mapping[str, float]] = MappingProxyType(
    {
        "bias": 0.27,
        "coverage": 0.27,
        "phrases": 0.84,
        "whole": 0.93,
        "figures_missing": -0.78,
        "figures_nowhere": -1.01,
        "names_missing": -0.87,
        "negation": -1.24,
        "opposite": -1.26,
        "new_words": -0.85,
        "new_weight": -0.29,
        "length": 0.14,
    }
)
"""Weights for words and facts alone.

A logistic regression on the training part of the grounding data: each set and label weighing the same, signs held to
what each value means, a base rate of its own for each set. The dev part chose the penalty and a common factor of 1.5,
which calibrates best (expected calibration error).
"""

EMBEDDING: Final[Mapping[str, float]] = MappingProxyType(
    {
        "bias": 0.06,
        "coverage": 0.21,
        "phrases": 0.66,
        "whole": 0.65,
        "figures_missing": -0.68,
        "figures_nowhere": -0.87,
        "names_missing": -0.73,
        "negation": -0.68,
        "opposite": -0.73,
        "new_words": -0.83,
        "new_weight": -0.15,
        "length": 0.03,
        "cosine": 0.95,
    }
)
"""Weights where the cosine to the window is known too, fitted in the same way with the embedded encoder."""


def checked_weights(weights: Mapping[str, float]) -> Mapping[str, float]:
    """The weights as they are; raises SettingsError for an unknown feature or a weight that is no number."""
    unknown = sorted(set(weights) - {"bias", *FEATURES})
    if unknown:
        raise SettingsError(f"weights came for {', '.join(unknown)}; wanted some of bias, {', '.join(FEATURES)}.")
    for name, value in weights.items():
        if not isfinite(value):
            raise SettingsError(f"the weight of {name} is {value}; wanted a finite number.")
    return weights


def support_of(reading: Reading, weights: Mapping[str, float]) -> float:
    """The logistic function of the weighted values, 0..1; a chance as far as the weights were fitted to one."""
    total = weights.get("bias", 0.0) + sum(
        weights.get(name, 0.0) * value for name, value in zip(FEATURES, reading.values, strict=True)
    )
    return 1.0 / (1.0 + exp(-max(-60.0, min(60.0, total))))
