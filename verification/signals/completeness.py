"""Completeness: is the answer substantial, finished and on every part of the question?"""

import re
from collections.abc import Sequence
from typing import Final

from cragraph.text.words import asked_words, terms, words
from cragraph.types import IDK
from cragraph.verification.claims import without_markers
from cragraph.verification.signals.material import Material

SUBSTANTIAL: Final = 8
"""Words from which an answer counts as substantial: a short full sentence."""

_END: Final = re.compile(r"""[.!?…。！？:;|)\]}"'”’»`*]\s*(?:\[[\d,\s–-]+\]\s*)*$|\d\s*$""")
_LIST_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s", re.MULTILINE)
_PARTS: Final = re.compile(
    r"[?;]\s*|,\s+(?:and|but|or)\s+|\s+and\s+(?=(?:what|who|whom|whose|when|where|why|how|which|is|are|was|were|do|does|did)\b)",
    re.IGNORECASE,
)


def completeness(material: Material) -> float:
    """0.4 substance + 0.2 finish + 0.4 coverage of the question's words; without a question 0.7 and 0.3.

    Substance is the number of words up to eight, finish whether the text ends like a sentence or a list, coverage
    the share of the question's content words in the answer. It favours full sentences that take up the question;
    a right answer of one word scores low. An empty answer, or one that only says that it does not know, is 0.0.
    """
    text = material.answer.strip()
    if not text or text == IDK:
        return 0.0
    substance = min(len(words(without_markers(text))) / SUBSTANTIAL, 1.0)
    finish = 1.0 if _END.search(text) or _LIST_ITEM.search(text) else 0.0
    asked = asked_words(material.question)
    if not asked:
        return 0.7 * substance + 0.3 * finish
    return 0.4 * substance + 0.2 * finish + 0.4 * _covered(asked, text)


def unaddressed_parts(question: str, answer: str) -> list[str]:
    """The parts of a compound question of whose content words fewer than a third occur in the answer, in order.

    A question in one part is never unaddressed by this measure alone: one-word answers are answers.
    """
    parts = [part.strip(" ,") for part in _PARTS.split(question) if part and part.strip(" ,")]
    if len(parts) < 2:
        return []
    return [part for part in parts if (asked := asked_words(part)) and _covered(asked, answer) < 1 / 3]


def _covered(asked: Sequence[str], answer: str) -> float:
    said = set(terms(answer))
    return sum(term in said for term in asked) / len(asked)
