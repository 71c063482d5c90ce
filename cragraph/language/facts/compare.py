"""Comparison of a claim's facts with its evidence: matched, missing, or with another value."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from math import log10
from typing import Final

from cragraph.language.facts.fact import Fact, Kind, initials
from cragraph.language.lexicon import pattern, words_of

ABOUT: Final = 0.05  # relative tolerance of "about"
CONVERTED: Final = 0.01  # relative tolerance of a conversion between units
_TITLES: Final = words_of("titles")
BEYOND: Final = 0.25  # largest relative distance from a bound at which a value still counts as "more than" it
NUMERIC: Final[frozenset[Kind]] = frozenset(["number", "percent", "points", "money", "measure", "ordinal", "time"])
_SCALED: Final = re.compile(
    r"\bin (thousands|millions|billions)\b|\((?:in )?(?:US)?[$€£] ?(thousands|millions|billions)", re.IGNORECASE
)
_POUNDS: Final = re.compile(r"\bpounds?$", re.IGNORECASE)
_SCALE_OF: Final = {"thousands": 1e3, "millions": 1e6, "billions": 1e9}


@dataclass(frozen=True)
class Comparison:
    """The claim's facts that the evidence has, the ones it lacks, and the ones with another value there."""

    matched: tuple[Fact, ...] = ()
    missing: tuple[Fact, ...] = ()
    conflicting: tuple[tuple[Fact, Fact], ...] = ()

    @property
    def lacking(self) -> list[Fact]:
        """The claim's facts that the evidence does not have."""
        return [*self.missing, *(fact for fact, _ in self.conflicting)]

    @property
    def total(self) -> int:
        """The number of facts compared."""
        return len(self.matched) + len(self.missing) + len(self.conflicting)

    @property
    def share(self) -> float:
        """Share of the facts that matched, 0..1; 1.0 without facts."""
        return len(self.matched) / self.total if self.total else 1.0


def compare(claim: Iterable[Fact], evidence: Sequence[Fact], text: str = "") -> Comparison:
    """Match each fact of the claim against the facts of the evidence.

    `text` is the evidence's text: names are also sought among its words, and "in millions" in a table's heading scales
    its bare numbers. A fact conflicts when the evidence has no such value but another one of the same kind and unit
    that the claim does not have; it is missing when the evidence has nothing of that kind.
    """
    claimed = list(claim)
    words, scales = (_words(text), _scales(text)) if claimed else (frozenset(), frozenset())
    matched, missing, conflicting = [], [], []
    for fact in claimed:
        if matches(fact, evidence, words, scales):
            matched.append(fact)
            continue
        other = _other_value(fact, claimed, evidence)
        if other is None:
            missing.append(fact)
        else:
            conflicting.append((fact, other))
    return Comparison(tuple(matched), tuple(missing), tuple(conflicting))


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


@lru_cache(maxsize=4096)
def _scales(text: str) -> frozenset[float]:
    """The factors that a table's heading gives its numbers: "in millions"."""
    return frozenset(_SCALE_OF[word.lower()] for heading in _SCALED.findall(text) for word in heading if word)


def matches(
    fact: Fact, evidence: Sequence[Fact], words: frozenset[str] = frozenset(), scales: Iterable[float] = ()
) -> bool:
    """Whether a fact is in the evidence; `words` are the evidence's words, `scales` the factors of its table
    headings."""
    if fact.kind == "name":
        return _name_held(fact, evidence, words)
    if fact.kind == "date":
        return _date_held(fact, [other for other in evidence if other.kind in ("date", "quarter")], evidence)
    if fact.kind == "quarter":
        quarters = (other for other in evidence if other.kind == "quarter" and other.value == fact.value)
        return any(_agree(fact.date, other.date) for other in quarters)
    return any(same_value(fact, other, scales) for other in evidence)


def same_value(claim: Fact, evidence: Fact, scales: Iterable[float] = ()) -> bool:
    """Whether two numbers are the same within the precision and bounds that the claim states."""
    if evidence.kind == "date" and claim.bare:
        return claim.value == evidence.date[0]  # "2000" of something, read as a year
    if evidence.kind not in NUMERIC:
        return False
    # If a field's name gives the unit, the bare figure matches too, and "in millions" above still scales it.
    if evidence.written and claim.bare and same_value(claim, evidence.written, scales):
        return True
    if claim.written and evidence.bare and same_value(claim.written, evidence, scales):
        return True
    if {claim.kind, evidence.kind} == {"money", "measure"}:
        claim, evidence = _sterling(claim), _sterling(evidence)
    if not _comparable(claim, evidence):
        return False
    # "30 paid days" is a bare 30 for "30 days of leave".
    if claim.bare and not evidence.bare and claim.value == evidence.figure:
        return True
    sizes = [1.0, *scales] if evidence.bare or evidence.written else [1.0]
    return any(_close(claim, evidence.value * size, evidence) for size in sizes)


def _sterling(fact: Fact) -> Fact:
    """A figure in pounds, read as a weight, turned into money."""
    if fact.kind != "measure" or not _POUNDS.search(fact.text):
        return fact
    step = fact.step * fact.figure / fact.value if fact.value else fact.step
    return replace(fact, kind="money", unit="GBP", value=fact.figure, step=step)


def _comparable(claim: Fact, evidence: Fact) -> bool:
    if claim.kind == evidence.kind:
        return claim.unit == evidence.unit
    # A table's cell has its unit in the heading; a claim may leave the unit out ("394 billion").
    if evidence.bare:
        return claim.kind in ("percent", "money", "measure")
    return claim.bare and evidence.kind in ("money", "measure")


def _close(claim: Fact, value: float, evidence: Fact) -> bool:
    distance = abs(claim.value - value)
    scale = max(abs(value), abs(claim.value))
    if distance <= 1e-9 * max(scale, 1e-12) or distance <= 0.5000001 * claim.step:
        return claim.bound + evidence.bound not in ("<>", "><")
    if claim.kind == "measure" and _converted(claim, evidence):
        return distance <= CONVERTED * scale
    if claim.bound == "~" or evidence.bound == "~":
        return distance <= ABOUT * scale
    if claim.bound == ">":
        return claim.value < value <= claim.value * (1 + BEYOND)
    return claim.bound == "<" and claim.value * (1 - BEYOND) <= value < claim.value


def _converted(claim: Fact, evidence: Fact) -> bool:
    """Whether two measures of a dimension are in different units, so that one was rounded after conversion."""
    if not (claim.written or evidence.written):
        return claim.text.split()[-1:] != evidence.text.split()[-1:]
    # `text` has no unit that a field's name gives; steps that differ by powers of ten are of one unit, or metric.
    if not claim.step or not evidence.step:
        return False
    decades = log10(claim.step / evidence.step)
    return abs(decades - round(decades)) > 1e-6


def _agree(one: tuple[int | None, ...], other: tuple[int | None, ...]) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def _date_held(fact: Fact, dates: Sequence[Fact], evidence: Sequence[Fact]) -> bool:
    """Whether a date is in the evidence, whole or in two parts ("January 5", and "2023" elsewhere)."""
    if fact.unit == "decade":
        first = fact.date[0] or 0
        return any(first <= (other.date[0] or -1) < first + 10 for other in dates)
    for other in dates:
        if other.unit == "decade" or not _agree(fact.date, other.date):
            continue
        lacking = [i for i, part in enumerate(fact.date) if part is not None and other.date[i] is None]
        if all(any(more.date[i] == fact.date[i] for more in dates) for i in lacking):
            return True
    year, month, _ = fact.date
    return month is None and any(other.bare and other.value == year for other in evidence)


def _name_held(fact: Fact, evidence: Sequence[Fact], present: frozenset[str]) -> bool:
    """Whether a name is in the evidence: all its words, its surname, its initials, or the words behind an acronym."""
    if fact.words[-1][0].isdigit():
        rivals = [other.words for other in evidence if other.kind == "name" and other.words[0] == fact.words[0]]
        if any(other[-1][0].isdigit() for other in rivals):
            return fact.words in rivals
        return fact.words[-1] in present
    words = [part for word in fact.words for part in re.findall(r"\w+", word)]
    if not words or all(word in present or (len(word) > 4 and word.removesuffix("s") in present) for word in words):
        return not _mixed(fact, evidence)
    others = (other for other in evidence if other.kind == "name")
    if fact.unit == "acronym":
        return any(initials(other.words).startswith(words[0]) for other in others if len(other.words) > 1)
    surname = words[-1] in present and len(words[-1]) > 3
    acronyms = (other.words[0] for other in others if other.unit == "acronym")
    return len(words) > 1 and (surname or initials(words) in acronyms)


def _mixed(fact: Fact, evidence: Sequence[Fact]) -> bool:
    """Whether a name is put together from two others: Ilja Tolland from Ilja Broome and Vera Tolland."""
    if len(fact.words) != 2 or fact.unit == "acronym" or _TITLES & set(fact.words):
        return False
    others = [other.words for other in evidence if other.kind == "name" and len(other.words) > 1]
    if any(set(fact.words) <= set(other) for other in others):
        return False
    first, last = fact.words
    alone = any(other.words == (first,) for other in evidence if other.kind == "name")
    return not alone and any(first in other for other in others) and any(last in other for other in others)


def _other_value(fact: Fact, claimed: Sequence[Fact], evidence: Sequence[Fact]) -> Fact | None:
    """The nearest fact of the evidence with the same kind and unit that is not in the claim too."""
    if fact.kind == "name":
        return None
    rivals = [
        other
        for other in evidence
        if other.kind == fact.kind
        and other.unit == fact.unit
        and (fact.kind != "date" or any(None not in parts for parts in zip(fact.date, other.date, strict=True)))
        and not any(matches(own, [other]) for own in claimed)
    ]
    if fact.kind in ("date", "quarter"):
        return next(iter(rivals), None)
    return min(rivals, key=lambda other: abs(other.value - fact.value), default=None)


MOST_COMBINED: Final = 12  # figures of one kind that are combined at most: among more, some combination always fits
_SUM: Final = re.compile(r"\b(?:total|together|combined|altogether|in all|sum|overall|both)\b", re.IGNORECASE)
_UP: Final = pattern("up")
_DOWN: Final = pattern("down")
_BETWEEN: Final = pattern("between")
_LASTING: Final = re.compile(r"\b(?:for|took|lasted|after|later|over|within|span\w*|years?)\b", re.IGNORECASE)
_HALF: Final = re.compile(r"\b(?:half|twice|doubl\w+|halv\w+)\b", re.IGNORECASE)
_YEAR: Final = 31556952.0

_LEVEL: Final = re.compile(r"\b(?:to|at|from|reach(?:ed|es)?)\s+[$€£]?$", re.I)
"""Words before a level reached ("rose to 5"), which is no difference."""


def reckoned(fact: Fact, claim: str, facts: Sequence[Fact], text: str) -> str:
    """The formula by which a claim's figure follows from figures of a text; empty if there is none.

    The claim, or for halves the text, must have a word of calculation: "together", "rose by", "half of them".
    """
    alike = [f for f in facts if (f.kind, f.unit) == (fact.kind, fact.unit) and f.kind not in ("name", "ordinal")]
    if fact.kind == "percent":
        return next(_changes(fact, claim, [f for f in facts if f.kind in ("number", "money", "measure")], text), "")
    if fact.unit == "duration" and _LASTING.search(claim):
        years = [replace(f, value=f.date[0] * _YEAR) for f in facts if f.kind == "date" and f.date[0] and not f.unit]
        if formula := next(_differences(fact, years), ""):
            return formula
    few = alike[:MOST_COMBINED]
    if _SUM.search(claim):
        for count in (2, 3, 4):
            for some in combinations(few, count):
                if _equal(fact, sum(f.value for f in some)):
                    return f"{fact.text} = {' + '.join(f.text for f in some)}"
    # A small bare number is often a difference by accident: the word of calculation must stand beside it.
    beside = claim[max(0, fact.start - 8) : fact.end + 12] if fact.bare else claim
    level = _LEVEL.search(claim[: fact.start]) is not None
    changed = not level and fact.value > 2 and any(words.search(beside) for words in (_UP, _DOWN, _BETWEEN))
    if changed and (formula := next(_differences(fact, few), "")):
        return formula
    for other in few if _HALF.search(text) else ():
        for factor, words in ((0.5, "half of"), (2, "twice")):
            if _equal(fact, other.value * factor):
                return f"{fact.text} = {words} {other.text}"
    return ""


def _changes(fact: Fact, claim: str, facts: Sequence[Fact], text: str) -> Iterator[str]:
    """The change in percent from one figure to another of its kind, in the claim's direction."""
    up, down = bool(_UP.search(claim)), bool(_DOWN.search(claim))
    if up == down:
        return
    for one, other in combinations(facts[:MOST_COMBINED], 2):
        if (one.kind, one.unit) != (other.kind, other.unit) or not one.value or not other.value:
            continue
        # "5 million, down from 6 million": what follows "from" came first.
        turned = text[: other.start].rstrip().endswith("from")
        first, last = (other, one) if turned else (one, other)
        change = 100 * (last.value - first.value) / first.value
        if _equal(fact, change if up else -change):
            yield f"{fact.text} from {first.text} to {last.text}"


def _differences(fact: Fact, facts: Sequence[Fact]) -> Iterator[str]:
    for one, other in combinations(facts, 2):
        less, more = sorted((one, other), key=lambda f: f.value)
        if _equal(fact, more.value - less.value):
            yield f"{fact.text} = {more.text} - {less.text}"


def _equal(fact: Fact, value: float) -> bool:
    """Whether a value equals the fact's to the written digits, or nearly for "about"."""
    if value <= 0:
        return False
    if fact.bound == ">" and fact.value < value <= fact.value * (1 + BEYOND):
        return True
    near = 0.05 * value if fact.bound == "~" else 1e-6 * value
    rounded = 0.5000001 * fact.step if fact.kind == "percent" or fact.step < 1 else 0.0
    return abs(fact.value - value) <= max(near, rounded)
