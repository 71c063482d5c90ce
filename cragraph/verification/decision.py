"""The decision on an answer: accepted, doubtful or refused. Made once, and carried by all that shows the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.types import OnLowConfidence, Outcome, SetBy, distinct_digits

DEFAULT_THRESHOLD: Final = 0.7
"""The default threshold of the confidence, 0..1, from which an answer is accepted (founding documents)."""
WORTH_SHOWING: Final = 0.4
"""Under the default `on_low_confidence` a supported answer is shown as doubtful from this confidence up. On sources
held out the utility of the answers shown was best there (`training.reader.fit`)."""
QUOTED: Final = 0.25
"""The same for a quotation of the embedded answerer; its signs count as well (`cragraph.answers.quotations`)."""
WRITTEN: Final = 0.5
"""The same for a chat model's own words: they are shown if they are more likely right than not. A quotation keeps to
the threshold of quotations."""
WRITTEN_BY_SMALL: Final = 0.7
"""The same for a small model's own words: of its answers with a confidence between .5 and this three of ten were right
(`lab.benchmarks.prompts`)."""

NO_ANSWER: Final = "The passages that were found do not answer the question."

BY_PERSON: Final[Mapping[str, tuple[Outcome, str]]] = {
    "accept": ("accepted", "A person accepted this answer."),
    "edit": ("accepted", "A person wrote this answer."),
    "abstain": ("refused", "A person chose not to answer."),
}
"""The decision, and its reason, for each choice of a person."""


@dataclass(frozen=True)
class Threshold:
    """The confidence from which an answer is accepted, and who set it."""

    at: float = DEFAULT_THRESHOLD
    set_by: SetBy = "default"


@dataclass(frozen=True)
class Decision:
    """The decision on an answer: its confidence, the threshold, who set the threshold, and the reason in a sentence.

    `accepted` answers are given as they are, `doubtful` ones with their doubt in front, `refused` ones not at all.
    """

    outcome: Outcome
    confidence: float  # 0..1
    threshold: float  # the confidence from which an answer is accepted, 0..1
    set_by: SetBy  # default; calibration (`cragraph calibrate`, in the settings file); person (a setting, an option)
    why: str

    @property
    def accepted(self) -> bool:
        """Whether the answer is given without a doubt."""
        return self.outcome == "accepted"

    @property
    def reached(self) -> bool:
        """Whether the confidence reaches the threshold, whatever the decision was."""
        return reaches(self.confidence, self.threshold)


def decide(
    confidence: float,
    threshold: Threshold,
    low: OnLowConfidence,
    *,
    sound: bool,
    supported: bool,
    judged: bool,
    showing: float = WORTH_SHOWING,
    doubts: Sequence[str] = (),
) -> Decision:
    """Decide on an answer.

    The answer is accepted if the confidence reaches the threshold, its verdicts are `sound` (judged, and none speaks
    against the answer) and there are no `doubts` (sentences on how its quotations were read). Otherwise `low` decides
    whether it is shown as doubtful: ``"doubt"`` (the default) if the passages support it and the confidence is at least
    `showing`, or if no judge could run; ``"flag"`` always; ``"abstain"`` never; ``"prune"`` only if no judge could run.
    """
    reached = reaches(confidence, threshold.at)
    if reached and sound and judged and not doubts:
        return Decision(
            "accepted",
            confidence,
            threshold.at,
            threshold.set_by,
            f"Confidence {_both(confidence, threshold.at, 'reaches')}",
        )
    why = below(confidence, threshold.at)
    if not judged:
        why = "No judge could judge this answer: the confidence says nothing for it or against it."
    elif sound and doubts:
        why = " ".join(doubts)
    elif reached:
        why = "The passages do not support every claim of the answer."
    worth = supported and reaches(confidence, showing)
    shown = low == "flag" or (not judged and low != "abstain") or (low == "doubt" and worth)
    return Decision("doubtful" if shown else "refused", confidence, threshold.at, threshold.set_by, why)


def unanswered(threshold: Threshold, why: str) -> Decision:
    """The decision if there is no answer: refused, with the reason."""
    return Decision("refused", 0.0, threshold.at, threshold.set_by, why)


def reaches(value: float, threshold: float) -> bool:
    """Whether a value reaches a threshold, compared at six digits, so that a sum of 0.7 reaches 0.7."""
    return round(value, 6) >= round(threshold, 6)


def below(confidence: float, threshold: float) -> str:
    """Confidence and threshold in a sentence, with enough digits to tell the two apart."""
    return f"Confidence {_both(confidence, threshold, 'is below')}"


def _both(confidence: float, threshold: float, how: str) -> str:
    reached, wanted = distinct_digits(confidence, threshold)
    return f"{reached} {how} the threshold of {wanted}."
