"""All facts of a text."""

from functools import lru_cache

from cragraph.text.facts.dates import dates
from cragraph.text.facts.fact import Fact
from cragraph.text.facts.names import names
from cragraph.text.facts.numbers import numbers


@lru_cache(maxsize=8192)
def extract(text: str) -> tuple[Fact, ...]:
    """The numbers, dates and names of a text in order of appearance; no two of dates and numbers overlap.

    A figure whose field names a unit is no year: ``kilograms: 2012``.
    """
    figures = list(numbers(text))
    measured = {fact.start for fact in figures if fact.written}
    found = [fact for fact in dates(text) if fact.start not in measured]
    taken = [(fact.start, fact.end) for fact in found]
    for fact in figures:
        if not any(start < fact.end and fact.start < end for start, end in taken):
            taken.append((fact.start, fact.end))
            found.append(fact)
    found.extend(fact for fact in names(text) if not any(start < fact.end and fact.start < end for start, end in taken))
    return tuple(sorted(found, key=lambda fact: (fact.start, fact.end)))
