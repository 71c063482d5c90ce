"""Facts that a claim and its evidence must share exactly: numbers, dates, units, names, negation."""

from bisect import bisect_left, insort
from collections.abc import Sequence
from functools import lru_cache

from cragraph.language.facts.compare import Comparison, compare
from cragraph.language.facts.dates import dates
from cragraph.language.facts.fact import Fact, Kind, names, numbered
from cragraph.language.facts.numbers import numbers

__all__ = ["Comparison", "Fact", "Kind", "compare", "dates", "extract", "names", "numbers"]


@lru_cache(maxsize=8192)
def extract(text: str) -> tuple[Fact, ...]:
    """The numbers, dates and names of a text in order of appearance; no two overlap.

    A figure in a field with a unit is no year: ``kilograms: 2012``. A figure that numbers a thing is part of its name.
    """
    figures = list(numbers(text))
    measured = {fact.start for fact in figures if fact.written or (fact.unit == "duration" and ":" in fact.text)}
    facts: list[Fact] = []
    for fact in (*(date for date in dates(text) if date.start not in measured), *figures):
        if not _overlaps(fact, facts):
            insort(facts, (numbered(text, fact) if fact.bare else None) or fact, key=_start)
    named = [fact for fact in names(text) if not _overlaps(fact, facts)]
    return tuple(sorted(facts + named, key=lambda fact: (fact.start, fact.end)))


def _start(fact: Fact) -> int:
    return fact.start


def _overlaps(fact: Fact, others: Sequence[Fact]) -> bool:
    """Whether a fact overlaps one of the others, which are in order and disjoint."""
    after = bisect_left(others, fact.end, key=_start)
    return after > 0 and others[after - 1].end > fact.start
