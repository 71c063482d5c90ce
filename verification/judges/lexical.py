"""The judge by words: how much of a claim the likeliest window covers, and whether its facts are there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.claims import without_markers
from cragraph.verification.judges.deciding import Thresholds, clearest, decide
from cragraph.verification.judges.features import Held, Reading, read
from cragraph.verification.judges.weighing import LEXICAL, checked_weights, support_of
from cragraph.verification.windows import Space, space

THRESHOLDS: Final = Thresholds(supported=0.5, partial=0.35, contradicted=0.75)
"""`supported` has the best balanced accuracy on the dev part of the grounding data, macro-averaged."""
WINDOWS: Final = 3
"""Windows that each claim is measured against; see `clearest` for which one counts."""


@dataclass(frozen=True)
class LexicalJudge:
    """Judges by stems, neighbouring words, figures, names and negation; needs no model, takes milliseconds.

    `weights` turn the measured values into support (see `weighing`), `thresholds` turn scores into verdicts. It knows
    no synonyms: a faithful paraphrase in other words looks unsupported to it.
    """

    thresholds: Thresholds = THRESHOLDS
    weights: Mapping[str, float] = field(default_factory=lambda: LEXICAL)
    windows: int = WINDOWS
    name: str = "lexical"

    def __post_init__(self) -> None:
        checked_weights(self.weights)

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict a claim, in order."""
        return [
            decide(claim, reading, self.support(reading), 0.0, self.thresholds, passages, self.name)
            for claim, reading in zip(claims, self.readings(claims, passages), strict=True)
        ]

    def readings(self, claims: Sequence[Claim], passages: Sequence[Passage]) -> list[Reading | None]:
        """Each claim against the window that supports it best, in order; None where there is no text."""
        texts = [without_markers(claim["text"]) for claim in claims]
        found = space(texts, passages)
        held = Held.of(passages)
        return [self._best(text, column, found, held, passages) for column, text in enumerate(texts)]

    def support(self, reading: Reading | None) -> float:
        """The support, 0..1, that the measured values give, before facts hold anything against it."""
        return support_of(reading, self.weights) if reading else 0.0

    def _best(self, text: str, column: int, found: Space, held: Held, passages: Sequence[Passage]) -> Reading | None:
        readings = [read(text, column, place, found, held, passages) for place in found.best(column, self.windows)]
        return clearest(readings, self.support)
