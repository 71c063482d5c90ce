"""Settings of answer validation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from os import environ
from typing import Final

from cragraph.errors import SettingsError
from cragraph.verification.signals.material import UNCERTAINTY_PHRASES

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})


def _threshold(variable: str, default: float) -> Callable[[], float]:
    def read() -> float:
        text = environ.get(variable, "").strip()
        if not text:
            return default
        try:
            return float(text)
        except ValueError:
            raise SettingsError(
                f"{variable} is {text!r}; wanted a number of 0..1, e.g. {variable}={default}."
            ) from None

    return read


def _enabled() -> bool:
    text = environ.get("ENABLE_ANSWER_VALIDATION", "").strip().lower()
    if text and text not in _TRUE | _FALSE:
        raise SettingsError(f"ENABLE_ANSWER_VALIDATION is {text!r}; wanted 1 or 0.")
    return text not in _FALSE


@dataclass
class ValidationConfig:
    """Thresholds 0..1 of answer validation: an argument wins over the environment, that over the default.

    Variables: ENABLE_ANSWER_VALIDATION, CONFIDENCE_THRESHOLD, HALLUCINATION_THRESHOLD, RELEVANCE_THRESHOLD,
    FAITHFULNESS_THRESHOLD. `uncertainty_words` is a list of its own, to be extended. Raises SettingsError for a
    threshold that is not a number of 0..1.
    """

    enabled: bool = field(default_factory=_enabled)
    confidence_threshold: float = field(default_factory=_threshold("CONFIDENCE_THRESHOLD", 0.7))
    hallucination_threshold: float = field(default_factory=_threshold("HALLUCINATION_THRESHOLD", 0.5))
    relevance_threshold: float = field(default_factory=_threshold("RELEVANCE_THRESHOLD", 0.6))
    faithfulness_threshold: float = field(default_factory=_threshold("FAITHFULNESS_THRESHOLD", 0.7))
    uncertainty_words: list[str] = field(default_factory=lambda: list(UNCERTAINTY_PHRASES))

    def __post_init__(self) -> None:
        for name in ("confidence", "hallucination", "relevance", "faithfulness"):
            value = getattr(self, f"{name}_threshold")
            if not 0.0 <= value <= 1.0:
                raise SettingsError(f"{name}_threshold is {value!r}; wanted a number of 0..1.")
