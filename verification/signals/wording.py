"""How an answer is worded: is it substantial, finished and on every part of the question, and is it sure?"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from cragraph.text.markers import without_markers
from cragraph.text.words import asked_words, terms, words
from cragraph.types import IDK

SUBSTANTIAL: Final = 8
"""Words from which an answer counts as substantial: a short full sentence."""

_END: Final = re.compile(r"""[.!?…。！？:;|)\]}"'”’»`*]\s*(?:\[[\d,\s–-]+\]\s*)*$|\d\s*$""")
_LIST_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s", re.MULTILINE)


def completeness(question: str, answer: str) -> float:
    """0.4 substance + 0.2 finish + 0.4 coverage of the question's words; without a question 0.7 and 0.3.

    Substance is the number of words up to eight, finish whether the text ends like a sentence or a list, coverage
    the share of the question's content words in the answer. It favours full sentences that take up the question;
    a right answer of one word scores low. An empty answer, or one that only says that it does not know, is 0.0.
    """
    text = answer.strip()
    if not text or text == IDK:
        return 0.0
    substance = min(len(words(without_markers(text))) / SUBSTANTIAL, 1.0)
    finish = 1.0 if _END.search(text) or _LIST_ITEM.search(text) else 0.0
    asked = asked_words(question)
    if not asked:
        return 0.7 * substance + 0.3 * finish
    said = set(terms(text))
    return 0.4 * substance + 0.2 * finish + 0.4 * sum(term in said for term in asked) / len(asked)


UNCERTAINTY_PHRASES: Final = (
    "might",
    "possibly",
    "perhaps",
    "unclear",
    "may",
    "could",
    "probably",
    "likely",
    "i think",
    "i believe",
    "not sure",
    "don't know",
    "cannot determine",
)
"""What tells of an uncertain answer (answer-validation formula)."""

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


def uncertainty(answer: str, phrases: Sequence[str] = UNCERTAINTY_PHRASES) -> float:
    """Distinct uncertainty phrases, three of them making 1.0; each costs the similarity policy 0.1."""
    return min(len(uncertainty_indicators(answer, phrases)) / FULL, 1.0)


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
