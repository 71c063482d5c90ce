"""How the measured values of a claim become a support score."""

from collections.abc import Mapping
from math import exp, isfinite
from types import MappingProxyType
from typing import Final

from cragraph.errors import SettingsError
from cragraph.verification.judges.features import FEATURES, Reading

LEXICAL: Final[Mapping[str, float]] = MappingProxyType(
    {
        "bias": 0.18,
        "coverage": 0.18,
        "phrases": 0.56,
        "whole": 0.62,
        "figures_missing": -0.52,
        "figures_nowhere": -0.67,
        "names_missing": -0.58,
        "negation": -0.83,
        "opposite": -0.84,
        "new_words": -0.57,
        "new_weight": -0.19,
        "length": 0.09,
    }
)
"""Weights for words and facts alone.

A logistic regression on the redistributable training part of the grounding data (each set and label weighing the same,
signs held to what each value means, a base rate of its own for each set); none of it saw the figures in the docs.
"""

EMBEDDING: Final[Mapping[str, float]] = MappingProxyType(
    {
        "bias": -0.04,
        "phrases": 0.51,
        "whole": 0.49,
        "figures_missing": -0.45,
        "figures_nowhere": -0.75,
        "names_missing": -0.6,
        "negation": -0.81,
        "opposite": -0.84,
        "new_words": -0.53,
        "new_weight": -0.07,
        "length": -0.02,
        "cosine": 0.92,
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
