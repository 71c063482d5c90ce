"""The decision on an answer: accepted, doubtful or refused. Made once, and carried by all that shows the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from cragraph.types import OnLowConfidence, Outcome, SetBy, apart

DEFAULT_LINE: Final = 0.7
"""The confidence from which an answer is accepted where nobody set another: the founding documents' threshold."""
WORTH_SHOWING: Final = 0.4
"""Where nobody chose what happens below the line, a supported answer is shown from here on, as a doubtful one: the
utility of what is shown was best there on sources held out (`training.reader.fit`)."""
WRITTEN: Final = 0.5
"""The same for what a chat model writes: its own words are shown where they are more likely right than not. A quotation
stands in the documents and keeps to its own threshold."""
WRITTEN_BY_SMALL: Final = 0.7
"""The same for what a small model writes: of what was stated between .5 and this three of ten were right, on questions
to decide on and on others (`lab.benchmarks.prompts`)."""

NO_ANSWER: Final = "The passages that were found do not answer the question."

BY_PERSON: Final[Mapping[str, tuple[Outcome, str]]] = {
    "accept": ("accepted", "A person accepted this answer."),
    "edit": ("accepted", "A person wrote this answer."),
    "abstain": ("refused", "A person chose not to answer."),
}
"""What becomes of an answer that a person decided on, and why."""


@dataclass(frozen=True)
class Line:
    """The confidence from which an answer is accepted, and who set it."""

    at: float = DEFAULT_LINE
    set_by: SetBy = "default"


@dataclass(frozen=True)
class Decision:
    """What becomes of an answer, the number and the line that say so, who set the line, and why in a sentence.

    `accepted` answers are given as they are, `doubtful` ones with their doubt said first, `refused` ones not at all.
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
        """Whether the number is at the line, whatever became of the answer."""
        return reaches(self.confidence, self.threshold)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The decision that `to_dict` wrote down."""
        return cls(**data)


def decide(
    confidence: float,
    line: Line,
    low: OnLowConfidence,
    *,
    sound: bool,
    supported: bool,
    judged: bool,
    showing: float = WORTH_SHOWING,
    doubts: Sequence[str] = (),
) -> Decision:
    """Decide on an answer.

    It is accepted at the line or above where its verdicts are `sound` (judged, and nothing in them speaks against what
    the number says) and there are no `doubts`, which are sentences on the reading of what it quotes. Else `low` says,
    what is to happen then: ``"doubt"`` (nobody chose) shows it as doubtful where the passages support it and
    the confidence is `showing` or more, or where nobody could judge it; ``"flag"`` always; ``"abstain"`` never;
    ``"prune"`` only where nobody could judge it.
    """
    reached = reaches(confidence, line.at)
    if reached and sound and judged and not doubts:
        return Decision(
            "accepted", confidence, line.at, line.set_by, f"Confidence {_told(confidence, line.at, 'reaches')}"
        )
    why = below(confidence, line.at)
    if not judged:
        why = "No judge could judge this answer: the confidence says nothing for it or against it."
    elif sound and doubts:
        why = " ".join(doubts)
    elif reached:
        why = "The passages do not support every claim of the answer."
    worth = supported and reaches(confidence, showing)
    shown = low == "flag" or (not judged and low != "abstain") or (low == "doubt" and worth)
    return Decision("doubtful" if shown else "refused", confidence, line.at, line.set_by, why)


def unanswered(line: Line, why: str) -> Decision:
    """The decision where there is no answer: refused, and why."""
    return Decision("refused", 0.0, line.at, line.set_by, why)


def reaches(value: float, threshold: float) -> bool:
    """Whether a value is at a threshold or above it; six digits count, so that a sum of 0.7 reaches 0.7."""
    return round(value, 6) >= round(threshold, 6)


def below(confidence: float, threshold: float) -> str:
    """Confidence and threshold in a sentence, with as many digits as tell them apart."""
    return f"Confidence {_told(confidence, threshold, 'is below')}"


def _told(confidence: float, threshold: float, how: str) -> str:
    own, line = apart(confidence, threshold)
    return f"{own} {how} the threshold of {line}."
