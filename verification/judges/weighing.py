"""How the measured values of a claim become a support score."""

from collections.abc import Mapping
from math import exp, isfinite
from types import MappingProxyType
from typing import Final

from cragraph.errors import SettingsError
from cragraph.verification.judges.features import FEATURES, Reading

LEXICAL: Final[Mapping[str, float]] = MappingProxyType(
    {"bias": -3.2, "coverage": 4.5, "phrases": 2.0, "figures_missing": -2.0, "names_missing": -1.0}
)
EMBEDDING: Final[Mapping[str, float]] = MappingProxyType(
    {"bias": -5.0, "coverage": 3.0, "phrases": 1.5, "figures_missing": -2.0, "names_missing": -1.0, "cosine": 4.5}
)


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
