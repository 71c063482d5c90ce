"""Uncertainty: does the answer say that it is unsure?"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from cragraph.verification.signals.material import UNCERTAINTY_PHRASES, Material

FULL: Final = 3
"""How many phrases make an answer wholly uncertain."""

_MONTH_BEFORE: Final = re.compile(
    r"(?i:\b(?:in|of|since|until|by|from|to|last|next|this|early|late|mid|on|\d{1,2})[ -])$"
)
_MONTH_AFTER: Final = re.compile(r"^,? ?\d")


def uncertainty_indicators(answer: str, phrases: Sequence[str] = UNCERTAINTY_PHRASES) -> list[str]:
    """The phrases that occur in the answer as whole words, in the order of the list, whatever their case."""
    text = answer.replace("’", "'")
    return [phrase for phrase in dict.fromkeys(phrases) if phrase.strip() and _occurs(phrase, text)]


def uncertainty(material: Material) -> float:
    """Distinct uncertainty phrases, three of them making 1.0; each costs the similarity policy 0.1."""
    return min(len(uncertainty_indicators(material.answer, material.options.uncertainty_phrases)) / FULL, 1.0)


def _occurs(phrase: str, text: str) -> bool:
    matches = _pattern(phrase).finditer(text)
    # "May 2023" and "in May" name a month.
    return any(match.group() != "May" or not _is_month(text, match.start(), match.end()) for match in matches)


def _is_month(text: str, start: int, end: int) -> bool:
    return bool(_MONTH_BEFORE.search(text[:start]) or _MONTH_AFTER.match(text[end:]))


@lru_cache(maxsize=256)
def _pattern(phrase: str) -> re.Pattern[str]:
    pieces = (re.escape(piece) for piece in phrase.replace("’", "'").split())
    return re.compile(r"(?<!\w)" + r"\s+".join(pieces) + r"(?!\w)", re.IGNORECASE)
