"""Numbers written as words: "twenty-three", "two hundred and five", "third"."""

import re
from typing import Final

from cragraph.text.lexicon import listed

_ONES: Final = {
    word: value
    for value, word in enumerate(
        listed(
            """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
    """
        )
    )
}
_TENS: Final = {
    word: value * 10
    for value, word in enumerate(
        listed(
            """
    twenty thirty forty fifty sixty seventy eighty ninety
    """
        ),
        start=2,
    )
}
_BIG: Final = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "trillion": 10**12}

ORDINALS: Final = {
    "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
    "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16,
    "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip
"""Ordinals as words; "first" and "second" are left out, because they mostly order an argument or measure time."""

_SMALL: Final = "|".join([*_TENS, *sorted(_ONES, key=len, reverse=True)])
NUMBER_WORDS: Final = re.compile(
    rf"\b(?:(?:a|an)\s+(?=hundred|thousand|million|billion|trillion|dozen)|)"
    rf"(?:{_SMALL}|hundred|thousand|million|billion|trillion|dozen)"
    rf"(?:(?:[\s-]+|\s+and\s+)(?:{_SMALL}|hundred|thousand|million|billion|trillion))*\b",
    re.IGNORECASE,
)
"""A number written in words."""


def value_of(words: str) -> float | None:
    """The number that words say; None for a lone "one", which is mostly a pronoun, and for a scale without a number."""
    parts = [part for part in re.split(r"[\s-]+", words.lower()) if part != "and"]
    article = parts[0] in ("a", "an")
    parts = parts[1:] if article else parts
    if parts == ["one"] or (len(parts) == 1 and parts[0] in _BIG and not article):
        return None
    if parts[0] == "dozen":
        return 12.0 if article else None
    total, current = 0, 0
    for part in parts:
        if part in _ONES:
            current += _ONES[part]
        elif part in _TENS:
            current += _TENS[part]
        elif part == "hundred":
            current = max(current, 1) * 100
        elif part in _BIG:
            total += max(current, 1) * _BIG[part]
            current = 0
        elif part == "dozen":
            current = max(current, 1) * 12
    return float(total + current)
