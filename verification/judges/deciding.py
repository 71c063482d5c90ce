"""From scores and facts to a verdict, with a reason that a person can check."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.errors import SettingsError
from cragraph.text.facts import Fact
from cragraph.types import Claim, Label, Passage, Verdict
from cragraph.verification.judges.evidence import evidence_of, verdict_of
from cragraph.verification.judges.features import Reading
from cragraph.verification.judges.spans import objected_spans

ON_TOPIC: Final = 0.5
"""Coverage from which on a window is on the claim's matter: another figure or an opposite word in it contradicts.

Of the training claims whose window covers half of them and has a word's opposite, one in seven is supported.
"""
SOME: Final = 0.3
"""Coverage below which a window shares nothing that could be called a part of the claim."""
CLOSE: Final = 0.65
"""Coverage from which on a negation contradicts: of the training claims beyond it, one in five is supported."""


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


def against(reading: Reading, *, by_words: bool = True) -> float:
    """How strongly facts and (`by_words`) negation and opposite words contradict the claim, 0..1.

    Favours the sentence that says the same but for one figure or one word: the more of the claim it covers, the
    stronger the contradiction.
    """
    coverage = reading.coverage
    opposite = by_words and reading.opposite is not None
    negation = by_words and reading.negation
    differs = coverage >= ON_TOPIC and bool(_conflicts(reading))
    differs = differs or (reading.matter >= ON_TOPIC and opposite and not negation)
    # "did not fall" and "rose" agree: a negation and an opposite word cancel each other.
    differs = differs or (coverage >= CLOSE and negation and not opposite)
    return 0.5 + 0.5 * min(1.0, max(coverage, ON_TOPIC)) if differs else 0.0


@dataclass(frozen=True)
class Objections:
    """What facts and words hold against a claim, whatever its score.

    `lacking` are its figures and dates that no passage has; `against` is how strongly the window contradicts it (see
    `against`); `unmatched` says that a name or a negation of it is in no passage, or a word of it in another row.
    """

    lacking: tuple[Fact, ...]
    against: float
    unmatched: bool

    def __bool__(self) -> bool:
        return bool(self.lacking) or self.against > 0.0 or self.unmatched


def objections(reading: Reading, *, by_words: bool = True) -> Objections:
    """What keeps a claim from being supported; names, negation and opposite words only `by_words`."""
    unmatched = by_words and bool(reading.strangers or reading.undenied or reading.misplaced)
    return Objections(tuple(_nowhere(reading)), against(reading, by_words=by_words), unmatched)


def clearest(readings: Sequence[Reading], support: Callable[[Reading], float]) -> Reading | None:
    """The window to judge a claim by: the one that supports it best, or where that is off its matter, one that differs.

    "Sales rose" scores lower for "sales fell" than a sentence that has nothing to do with it; it is the evidence all
    the same.
    """
    best = max(readings, key=support, default=None)
    if best is None or best.coverage >= SOME:
        return best
    opposing = [reading for reading in readings if against(reading) > 0.0]
    return max(opposing, key=lambda reading: reading.coverage) if opposing else best


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
    by_words: bool = True,
) -> Verdict:
    """The verdict on a claim by its scores and by the facts that its window shares with it.

    A claim with a figure that no passage has is never supported, whatever its score (`strict`): partly where other
    figures match and the score would do, else not. Nor is one that the facts of its window contradict. A judge that
    does not read the sentence as a whole goes `by_words`: for it a name that no passage has, and a negation that the
    window does not have in any form, leave a claim partly supported at best.
    """
    if reading is None:
        return verdict_of(claim, "unsupported", 0.0, 0.0, None, "There is no text to support it.", judge)
    held = objections(reading, by_words=by_words) if strict else Objections((), 0.0, False)
    lacking = held.lacking
    opposed = held.against >= thresholds.contradicted or (
        contradiction >= thresholds.contradicted and contradiction > support
    )
    contradiction = max(contradiction, held.against)
    label: Label
    if lacking or opposed or held.unmatched:
        support = min(support, max(0.0, thresholds.supported - 0.01))
    if opposed:
        label = "contradicted"
    elif support >= thresholds.supported:
        label = "supported"
    elif support >= thresholds.partial and _shares_part(reading, lacking, by_words):
        label = "partially_supported"
    else:
        label = "unsupported"
    evidence = None if label == "unsupported" else evidence_of(reading.window, passages)
    verdict = verdict_of(claim, label, support, contradiction, evidence, _reason(reading, label, lacking), judge)
    if label != "supported" and held and (spans := objected_spans(claim, reading, lacking)):
        verdict["unsupported_spans"] = spans
    return verdict


def _shares_part(reading: Reading, lacking: Sequence[Fact], by_words: bool) -> bool:
    """Whether there is a part that the window supports: a score alone may be a short claim's lack of evidence."""
    return (not by_words or reading.coverage >= SOME) and (not lacking or _some_figure(reading))


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
        said += [f"{name.said.strip()} is in no passage" for name in reading.strangers[:2]]
        said += ["the figures are those of another row"] if reading.misplaced else []
        if reading.opposite:
            said.append(f"{reading.opposite[1]!r} in the passage, {reading.opposite[0]!r} in the claim")
        elif reading.undenied:
            said.append("the claim is negated, the passage is not")
        elif reading.negation and reading.coverage >= ON_TOPIC:
            said.append("the passage is negated, the claim is not")
    covered = f"{reading.coverage:.0%} of the claim's words are in the passage"
    return "; ".join([*said, covered]) + "."
