"""Confidence in words."""

from cragraph.types import Level

LEVELS: tuple[tuple[float, Level], ...] = ((0.9, "high"), (0.7, "medium"), (0.5, "low"))
"""Lower bounds of the levels, highest first; what is below the last one is very low."""


def level_of(confidence: float) -> Level:
    """The level of a confidence in 0..1: at least 0.9 high, 0.7 medium, 0.5 low, else very low.

    Rounding to nine digits first keeps a sum such as 0.3 + 0.6 at the bound that it stands for.
    """
    for bound, level in LEVELS:
        if round(confidence, 9) >= bound:
            return level
    return "very low"
