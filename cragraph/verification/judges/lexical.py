"""The judge by words: how much of a claim the likeliest window covers, and whether its facts are there."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.reading import ClaimReading, Readings, clearest, support_of
from cragraph.verification.judges.verdicts import BY_WORDS, decide

WINDOWS: Final = 3


@dataclass(frozen=True)
class LexicalJudge:
    """Judges by stems, neighbouring words, figures, names and negation; needs no model, takes milliseconds.

    It knows no synonyms: a faithful paraphrase in other words looks unsupported to it.
    """

    name: str = "lexical"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        return [
            decide(claim, reading, (self.support(reading), 0.0), BY_WORDS, passages, self.name)
            for claim, reading in zip(claims, self.readings(claims, passages), strict=True)
        ]

    def readings(self, claims: Sequence[Claim], passages: Sequence[Passage]) -> list[ClaimReading | None]:
        """Each claim against the window that supports it best, in order; None where there is no text."""
        measures = Readings(claims, passages)
        return [chosen(measures, number) for number in range(len(claims))]

    def support(self, reading: ClaimReading | None) -> float:
        """The support, 0..1, that the measured values give, before facts hold anything against it."""
        return support_of(reading, "lexical")


def chosen(measures: Readings, number: int) -> ClaimReading | None:
    """The window that words choose for the claim with this number; None where there is no text."""
    return clearest([measures.read(number, place) for place in measures.space.best(number, WINDOWS)], "lexical")
