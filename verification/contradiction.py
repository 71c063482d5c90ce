"""Whether two sentences of one text contradict each other, by their words alone."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cragraph.verification.keywords import content_words, words

ALIKE: Final = 0.4
"""How long the shorter sentence must be, in words, as a share of the longer one to be on the same matter."""

NEGATIONS: Final = frozenset(["not", "no", "never", "none", "neither", "nor", "without", "cannot"])
OPPOSITES: Final = tuple(
    frozenset(pair.split())
    for pair in (
        "increase decrease",
        "increased decreased",
        "increases decreases",
        "rose fell",
        "rises falls",
        "grew shrank",
        "gained lost",
        "higher lower",
        "more less",
        "before after",
        "above below",
        "allowed forbidden",
        "accepted rejected",
        "enabled disabled",
        "first last",
        "true false",
        "always never",
        "profit loss",
        "won lost",
        "open closed",
        "alive dead",
        "maximum minimum",
        "largest smallest",
        "north south",
        "east west",
    )
)

_NUMBER: Final = re.compile(r"^\d[\d.,]*$")
_YEAR: Final = re.compile(r"^(?:1[5-9]|20|21)\d\d$")


def contradict(one: str, other: str) -> bool:
    """Whether two sentences say the same with another figure, another direction, or one of them negated.

    Sentences on different years or with different subjects do not contradict each other, and where it is unclear
    whether they are on the same matter, they do not either.
    """
    first, second = _parts(one), _parts(other)
    if first.years != second.years or not first.rest or not second.rest:
        return False
    opposite = any(
        (pair & first.rest) and (pair & second.rest) and not (pair & first.rest & second.rest) for pair in OPPOSITES
    )
    smaller, larger = sorted((first.rest - _DIRECTIONS, second.rest - _DIRECTIONS), key=len)
    # Every word of the shorter one: "Apple's revenue" and "Google's revenue" may differ as they please.
    if not smaller or not smaller <= larger or len(smaller) < ALIKE * len(larger):
        return False
    if first.negated != second.negated:
        return not opposite and first.numbers == second.numbers
    figures = bool(first.numbers and second.numbers) and not (first.numbers & second.numbers)
    return opposite or figures


_DIRECTIONS: Final = frozenset().union(*OPPOSITES)


@dataclass(frozen=True)
class _Parts:
    """A sentence taken apart: is it negated, which years and other numbers does it name, and what else does it say."""

    negated: bool
    years: frozenset[str]
    numbers: frozenset[str]
    rest: frozenset[str]


@lru_cache(maxsize=2048)
def _parts(text: str) -> _Parts:
    said = words(text)
    numbers = {word.replace(",", "").rstrip(".") for word in said if _NUMBER.match(word)}
    years = {number for number in numbers if _YEAR.match(number)}
    rest = content_words(text) | (set(said) & _DIRECTIONS)
    return _Parts(
        negated=any(_is_negation(word) for word in said),
        years=frozenset(years),
        numbers=frozenset(numbers - years),
        rest=frozenset(word for word in rest if not _NUMBER.match(word) and not _is_negation(word)),
    )


def _is_negation(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")
