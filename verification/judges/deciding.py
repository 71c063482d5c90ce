"""From scores and facts to a verdict, with a reason that a person can check."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.errors import SettingsError
from cragraph.types import Claim, Label, Passage, Verdict
from cragraph.verification.facts import Fact
from cragraph.verification.judges.evidence import evidence_of, verdict_of
from cragraph.verification.judges.features import Reading

ON_TOPIC: Final = 0.5
"""Coverage from which on a window is on the claim's matter, so that another figure in it contradicts the claim."""
CLOSE: Final = 0.65
"""Coverage from which on a negation or an opposite word contradicts: nearly all else must be the same."""


@dataclass(frozen=True)
class Thresholds:
    """Scores from which on a claim is supported, partly supported, contradicted; each 0..1, partial below supported."""

    supported: float
    partial: float
    contradicted: float

    def __post_init__(self) -> None:
        values = (self.supported, self.partial, self.contradicted)
        if not all(0.0 <= value <= 1.0 for value in values) or self.partial > self.supported:
            raise SettingsError(
                f"thresholds are {self.supported} (supported), {self.partial} (partial) and {self.contradicted} "
                "(contradicted); wanted numbers of 0..1, partial not above supported."
            )


def against(reading: Reading) -> float:
    """How strongly facts, negation and opposite words contradict the claim, 0..1.

    Favours the sentence that says the same but for one figure or one word: the more of the claim it covers, the
    stronger the contradiction.
    """
    coverage = reading.coverage
    strength = 0.0
    if _conflicts(reading) and coverage >= ON_TOPIC:
        strength = 0.5 + 0.5 * coverage
    if (reading.negation != (reading.opposite is not None)) and coverage >= CLOSE:
        strength = max(strength, coverage)
    return min(1.0, strength)


def decide(
    claim: Claim,
    reading: Reading | None,
    support: float,
    contradiction: float,
    thresholds: Thresholds,
    passages: Sequence[Passage],
    judge: str,
    *,
    strict: bool = True,
) -> Verdict:
    """The verdict on a claim by its scores and by the facts that its window shares with it.

    A claim with a figure that no passage has is never supported, whatever its score (`strict`): partly where other
    figures match and the score would do, else not.
    """
    if reading is None:
        return verdict_of(claim, "unsupported", 0.0, 0.0, None, "There is no text to support it.", judge)
    lacking = _nowhere(reading) if strict else []
    contradiction = max(contradiction, against(reading)) if strict else contradiction
    label: Label
    if lacking:
        support = min(support, max(0.0, thresholds.supported - 0.01))
    if contradiction >= thresholds.contradicted and support < max(thresholds.supported, contradiction):
        label = "contradicted"
        support = min(support, max(0.0, thresholds.supported - 0.01))
    elif support >= thresholds.supported:
        label = "supported"
    elif support >= thresholds.partial and (not lacking or _some_figure(reading)):
        label = "partially_supported"
    else:
        label = "unsupported"
    evidence = None if label == "unsupported" else evidence_of(reading.window, passages)
    return verdict_of(claim, label, support, contradiction, evidence, _reason(reading, label, lacking), judge)


def _figures(facts: Sequence[Fact]) -> list[Fact]:
    return [fact for fact in facts if fact.kind != "name"]


def _nowhere(reading: Reading) -> list[Fact]:
    """The claim's figures and dates that no passage has."""
    return [*reading.elsewhere.missing, *(fact for fact, _ in reading.elsewhere.conflicting)]


def _conflicts(reading: Reading) -> list[tuple[Fact, Fact]]:
    """Figures for which the window has another value, and which no other passage has either."""
    nowhere = _nowhere(reading)
    return [pair for pair in reading.facts.conflicting if pair[0] in nowhere]


def _some_figure(reading: Reading) -> bool:
    return bool(_figures(reading.facts.matched))


def _reason(reading: Reading, label: Label, lacking: Sequence[Fact]) -> str:
    """What did not match, in a sentence; else how much of the claim the quote covers."""
    said: list[str] = []
    conflicts = reading.facts.conflicting
    for fact, other in conflicts[:2]:
        said.append(f"{other.said.strip()} in the passage, {fact.said.strip()} in the claim")
    alone = [fact for fact in lacking if fact not in [pair[0] for pair in conflicts]]
    said += [f"{fact.said.strip()} is in no passage" for fact in alone[:2]]
    if label != "supported":
        said += [f"{fact.said.strip()} is not in the passage" for fact in reading.facts.missing if fact.kind == "name"][
            :2
        ]
        if reading.opposite:
            said.append(f"{reading.opposite[1]!r} in the passage, {reading.opposite[0]!r} in the claim")
        elif reading.negation and reading.coverage >= ON_TOPIC:
            said.append("only one of the claim and the passage is negated")
    covered = f"{reading.coverage:.0%} of the claim's words are in the passage"
    return "; ".join([*said, covered]) + "."
