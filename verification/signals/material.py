"""What the signals are measured on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from cragraph.types import Passage, Verdict
from cragraph.verification.signals.closeness import Closeness

UNCERTAINTY_PHRASES: Final = (
    "might",
    "possibly",
    "perhaps",
    "unclear",
    "may",
    "could",
    "probably",
    "likely",
    "i think",
    "i believe",
    "not sure",
    "don't know",
    "cannot determine",
)
"""What tells of an uncertain answer (answer-validation formula)."""

IDENTIFIER_FIELDS: Final = ("ticker", "year", "filing_type")
"""Metadata fields whose values, named in an answer, cite their passage; without any, its source and file name do."""


class NotMeasured(Exception):
    """A signal has nothing to be measured on; its text says what is missing."""


@dataclass(frozen=True)
class SignalOptions:
    """Settings of the signals; thresholds are similarities in 0..1."""

    uncertainty_phrases: Sequence[str] = UNCERTAINTY_PHRASES
    identifier_fields: Sequence[str] = IDENTIFIER_FIELDS
    attribution_threshold: float = 0.7
    agreement_threshold: float = 0.5


@dataclass(frozen=True)
class Material:
    """One answer with all that a signal may look at.

    `alignment` and `consistency` are scores of injected scorers, None where there is none or it failed. `knowledge`
    holds the verdicts of the claims judged against the known facts: empty without facts, None where no judge could run.
    `weights` are those of the passages' sources; empty where every source is fully relied on.
    """

    answer: str
    passages: Sequence[Passage]
    verdicts: Sequence[Verdict]
    closeness: Closeness
    question: str = ""
    alignment: float | None = None
    consistency: float | None = None
    knowledge: Sequence[Verdict] | None = ()
    weights: Sequence[float] = ()
    options: SignalOptions = field(default_factory=SignalOptions)
