"""What a verification says besides its verdicts: issues, scorers that failed, and a failure of it all."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from cragraph.errors import ModelError
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.conflicts import find_conflicts
from cragraph.verification.judges.evidence import unjudged
from cragraph.verification.result import Uncovered, Verification

OWN: Final[Mapping[str, str]] = MappingProxyType(
    {"alignment": "keyword overlap", "consistency": "facts, opposites and negation"}
)
"""What a signal measures by where its scorer fails."""


def scored(what: str, name: str, score: Callable[[], float], notes: Notes) -> float | None:
    """A scorer's score, 0..1; None, and noted, when it fails: the signal's own measure stands in."""
    try:
        value = float(score())
        if not 0.0 <= value <= 1.0:
            raise ModelError(f"it returned {value}; wanted a number of 0..1")
    # A model's server may raise anything; what the signal measures by itself stands in.
    except Exception as error:
        notes.degraded(
            f"The {what} scorer {name!r} failed ({type(error).__name__}: {error}); {what} was measured by {OWN[what]}."
        )
        return None
    return value


def failed_verification(answer: str, policy: str, notes: Notes, threshold: float = 0.7) -> Verification:
    """What a caller gets when verification failed: the whole answer as one unjudged claim, confidence 0.0, and why."""
    whole = Claim(text=answer, start=0, end=len(answer), type="factual")
    why = "Verification failed: nothing was judged, and the confidence of 0.0 says only that"
    return Verification(
        confidence=0.0,
        claims=(unjudged(whole, why + "."),) if answer.strip() else (),
        issues=(why,),
        policy=policy,
        degraded=tuple(notes.sentences),
        threshold=threshold,
        failed=True,
    )


def issues_besides(
    verdicts: Sequence[Verdict], uncovered: Sequence[Uncovered], passages: Sequence[Passage]
) -> list[str]:
    """Issues that are no signal's: claims without a verdict, parts without a claim, passages at odds."""
    lost = sum(verdict["verdict"] == "unjudged" for verdict in verdicts)
    return [
        *([f"{lost} claim(s) could not be judged"] if lost else []),
        *(f"Part of the answer was not checked: “{part['text']}”" for part in uncovered),
        *(conflict.issue for conflict in find_conflicts(passages)),
    ]
