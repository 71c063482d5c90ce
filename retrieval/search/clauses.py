"""The questions inside a question: several sentences, several clauses, several things asked of one."""

import re
from typing import Final

from cragraph.retrieval.search.words import content_words, words

_ASKS: Final = r"(?:what|which|who|whom|whose|when|where|why|how)\b"
_VERB_ASKS: Final = (
    r"(?:is|are|was|were|did|does|do|can|could|has|have|will)\s+(?:the|it|its|he|she|they|there|this|that)\b"
)
_CLAUSE: Final = re.compile(rf"\s*[,;]?\s+(?:and|or|but)\s+(?:also\s+)?(?={_ASKS}|{_VERB_ASKS})", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[?!])\s+|(?<=[a-z)]\.)\s+(?=[A-Z])")
_PRONOUN: Final = re.compile(
    r"\b(?:it|its|they|them|their|he|him|his|she|her|this|that|these|those|the same)\b", re.IGNORECASE
)
_NAME: Final = r"[A-Z][\w.&'’-]*(?:\s+(?:[A-Z][\w.&'’-]*|of(?=\s+[A-Z])))*"
_NAMES: Final = re.compile(rf"(?<!^)(?<![.?!]\s)(?:{_NAME}(?:,\s+{_NAME})*),?\s+(?:and|or)\s+{_NAME}")
_PAIR: Final = re.compile(
    r"\b(?P<lead>what|which|the|its|their|his|her|our|for|of|[a-z]+['’]s)\s+"
    r"(?P<left>(?:[a-z-]+\s+){0,2}[a-z-]+)\s+and\s+(?P<right>(?:the\s+)?(?:[a-z-]+\s+){0,2}[a-z-]+)"
    r"(?=\s+(?:of|for|in|at|by|from|during|on)\s|\s*\?|\s*$)"
)
FIXED: Final = frozenset(
    (
        "research and development", "general and administrative", "selling and marketing", "sales and marketing",
        "plant and equipment", "profit and loss", "terms and conditions", "supply and demand", "goods and services",
        "health and safety", "mergers and acquisitions", "cash and cash", "trial and error", "food and drug",
    )
)  # fmt: skip
"""Pairs that name one thing."""


def clauses(question: str) -> list[str]:
    """The questions that a text asks one after the other, each able to stand alone; one item where there is one.

    A later clause that points back ("when was it built?") gets the subject of the first one added at its end.
    """
    sentences = [part for part in _SENTENCE.split(question.strip()) if len(words(part)) > 1]
    parts = [clause.strip(" ,;") for sentence in sentences for clause in _CLAUSE.split(sentence)]
    parts = [part for part in parts if len(words(part)) > 1]
    if len(parts) < 2:
        return [question]
    subject = _subject(parts[0])
    return [parts[0], *(f"{part.rstrip('?')} {subject}" if _PRONOUN.search(part) else part for part in parts[1:])]


def names_apart(question: str) -> list[str]:
    """One question a name where several proper names stand in a row: ``profit of Apple and Intel`` asks of each."""
    found = _NAMES.search(question)
    if not found:
        return []
    listed = re.split(r",?\s+(?:and|or)\s+|,\s+", found.group())
    return [question[: found.start()] + name + question[found.end() :] for name in listed if name]


def things_apart(question: str) -> list[str]:
    """One question a thing where two are asked of the same: ``the price and weight of the X`` asks for each."""
    found = _PAIR.search(question)
    if not found:
        return []
    left, right = found["left"], found["right"].removeprefix("the ")
    pair = f"{left.split()[-1]} and {right.split()[0]}"
    if pair in FIXED or not all(len(content_words(side)) and side not in _EMPTY for side in (left, right)):
        return []
    start, end = found.start("left"), found.end("right")
    return [question[:start] + side + question[end:] for side in (left, right)]


_EMPTY: Final = frozenset(("more", "less", "others", "other", "so on"))


def _subject(clause: str) -> str:
    """What a clause is about: its proper names, else its last content words."""
    tail = clause.split(maxsplit=1)[-1]
    named = re.findall(_NAME, tail)
    return " ".join(named) if named else " ".join(content_words(tail)[-4:])
