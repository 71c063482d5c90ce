"""Figures that a text does not hold but gives by reckoning: sums, differences, changes in percent, halves."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

from cragraph.text.facts.fact import Fact

MOST: Final = 12
"""Figures of one kind that are put together at most: among more of them something always fits."""
_SUM: Final = re.compile(r"\b(?:total|together|combined|altogether|in all|sum|overall|both)\b", re.IGNORECASE)
_UP: Final = re.compile(
    r"\b(?:rose|rises?|risen|rising|grew|grown|grows?|growing|growth|increas\w+|gain\w*|climb\w*|up|higher|more|"
    r"dearer|improv\w+|expand\w*)\b",
    re.IGNORECASE,
)
_DOWN: Final = re.compile(
    r"\b(?:fell|falls?|fallen|falling|dropp?\w*|declin\w+|decreas\w+|reduc\w+|shr[aiu]nk\w*|down|lower|less|fewer|"
    r"cheaper|lost|loss)\b",
    re.IGNORECASE,
)
_BETWEEN: Final = re.compile(
    r"\b(?:by|difference|gap|than|more|fewer|less|longer|shorter|older|younger|taller|heavier|later|earlier|ahead|behind|"
    r"lead)\b",
    re.IGNORECASE,
)
_LASTING: Final = re.compile(r"\b(?:for|took|lasted|after|later|over|within|span\w*|years?)\b", re.IGNORECASE)
_HALF: Final = re.compile(r"\b(?:half|twice|doubl\w+|halv\w+)\b", re.IGNORECASE)
_YEAR: Final = 31556952.0


def reckoned(fact: Fact, claim: str, facts: Sequence[Fact], text: str) -> str:
    """How the figures of a text give one of a claim, as a formula; empty where they do not.

    The claim, or for halves the text, must say that something was reckoned: "together", "rose by", "half of them".
    """
    alike = [f for f in facts if (f.kind, f.unit) == (fact.kind, fact.unit) and f.kind not in ("name", "ordinal")]
    if fact.kind == "percent":
        return next(_changes(fact, claim, [f for f in facts if f.kind in ("number", "money", "measure")], text), "")
    if fact.unit == "duration" and _LASTING.search(claim):
        years = [replace(f, value=f.date[0] * _YEAR) for f in facts if f.kind == "date" and f.date[0] and not f.unit]
        if formula := next(_differences(fact, years), ""):
            return formula
    found = alike[:MOST]
    if _SUM.search(claim):
        for count in (2, 3, 4):
            for some in combinations(found, count):
                if _equal(fact, sum(f.value for f in some)):
                    return f"{fact.said.strip()} = {' + '.join(f.said.strip() for f in some)}"
    # A small bare number is soon a difference of others: it must be said right beside it that it is one.
    beside = claim[max(0, fact.start - 8) : fact.end + 12] if fact.bare else claim
    changed = fact.value > 2 and (_UP.search(beside) or _DOWN.search(beside) or _BETWEEN.search(beside))
    if changed and (formula := next(_differences(fact, found), "")):
        return formula
    if _HALF.search(text):
        for other in found:
            if _equal(fact, other.value / 2):
                return f"{fact.said.strip()} = half of {other.said.strip()}"
            if _equal(fact, other.value * 2):
                return f"{fact.said.strip()} = twice {other.said.strip()}"
    return ""


def _changes(fact: Fact, claim: str, facts: Sequence[Fact], text: str) -> Iterator[str]:
    """The change in percent from one figure to another of its kind, in the direction that the claim says."""
    up, down = bool(_UP.search(claim)), bool(_DOWN.search(claim))
    if up == down:
        return
    for one, other in combinations(facts[:MOST], 2):
        if (one.kind, one.unit) != (other.kind, other.unit) or not one.value or not other.value:
            continue
        # "5 million, down from 6 million": what follows "from" came first.
        turned = text[: other.start].rstrip().endswith("from")
        first, last = (other, one) if turned else (one, other)
        change = 100 * (last.value - first.value) / first.value
        if _equal(fact, change if up else -change):
            yield f"{fact.said.strip()} from {first.said.strip()} to {last.said.strip()}"


def _differences(fact: Fact, facts: Sequence[Fact]) -> Iterator[str]:
    for one, other in combinations(facts, 2):
        if _equal(fact, abs(one.value - other.value)):
            less, more = sorted((one, other), key=lambda f: f.value)
            yield f"{fact.said.strip()} = {more.said.strip()} - {less.said.strip()}"


def _equal(fact: Fact, value: float) -> bool:
    """Whether a value is the fact's, as far as its digits say, or nearly where it says "about"."""
    if value <= 0:
        return False
    near = 0.05 * value if fact.bound == "~" else 1e-6 * value
    return abs(fact.value - value) <= max(
        near, 0.5000001 * fact.step if fact.kind == "percent" or fact.step < 1 else near
    )
