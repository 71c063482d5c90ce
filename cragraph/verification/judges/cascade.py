"""A cascade: a cheap judge for all claims, a strong one for those it is unsure of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.errors import SettingsError
from cragraph.protocols import Judge, Notes, stand_in
from cragraph.types import Claim, Passage, Verdict

BAND: Final = (0.35, 0.75)  # support scores between which the cheap judge is not relied on


@dataclass(frozen=True)
class CascadeJudge:
    """Judges with `cheap`, and asks `strong`, in one call, about the claims that stay `unjudged` or lie in the band.

    The notes say how many went on ("2 of 5"). When the strong judge fails, the cheap verdicts stand.
    """

    cheap: Judge
    strong: Judge
    band: tuple[float, float] = BAND
    name: str = "cascade"

    def __post_init__(self) -> None:
        low, high = self.band
        if not 0.0 <= low <= high <= 1.0:
            raise SettingsError(f"the band is {self.band}; wanted two numbers of 0..1, the lower one first.")

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order; raises what the cheap judge raises."""
        if not claims:
            return []
        low, high = self.band
        verdicts = list(self.cheap(claims, passages, notes, question=question))
        unsure = [n for n, v in enumerate(verdicts) if v["verdict"] == "unjudged" or low <= v["support"] <= high]
        notes.ran("cascade: escalated", f"{len(unsure)} of {len(claims)}")
        if not unsure:
            return verdicts

        def again() -> dict[int, Verdict]:
            second = self.strong([claims[number] for number in unsure], passages, notes, question=question)
            return {n: v for n, v in zip(unsure, second, strict=True) if v["verdict"] != "unjudged"}

        part = f"The strong judge {self.strong.name!r} of the cascade"
        better = stand_in(part, again, f"the verdicts of {self.cheap.name!r} stand", notes) or {}
        return [better.get(number, verdict) for number, verdict in enumerate(verdicts)]
