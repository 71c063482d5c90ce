"""Unsupported words: does the judge point at those that annotators marked?"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.evals.classification import precision_recall
from cragraph.types import Verdict
from cragraph.verification.result import AGAINST

_WORD: Final = re.compile(r"\w+(?:[.,'’-]\w+)*")

Span = tuple[int, int]


@dataclass(frozen=True)
class Count:
    """Words that were marked rightly, marked in all, and to be marked; counts add up over answers."""

    hits: int = 0
    found: int = 0
    wanted: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.hits + other.hits, self.found + other.found, self.wanted + other.wanted)

    @property
    def f1(self) -> float | None:
        """Word-level F1; None where nothing was to be marked."""
        return precision_recall(self.hits, self.found, self.wanted)["f1"]


def count(answer: str, marked: Sequence[Span], truth: Sequence[Span]) -> Count:
    """Marked words against the truth; a word belongs to a span that it overlaps."""
    words = [match.span() for match in _WORD.finditer(answer)]
    found = {word for word in words if _within(word, marked)}
    wanted = {word for word in words if _within(word, truth)}
    return Count(len(found & wanted), len(found), len(wanted))


def marked_by(verdicts: Sequence[Verdict]) -> list[Span]:
    """What a judge marks: the spans that it names, else the whole of a claim that it does not support."""
    spans: list[Span] = []
    for verdict in verdicts:
        if verdict.get("unsupported_spans"):
            spans += [(start, end) for start, end in verdict["unsupported_spans"]]
        elif verdict["verdict"] in AGAINST:
            spans.append((verdict["start"], verdict["end"]))
    return spans


def new_words(answer: str, passages: Sequence[str]) -> list[Span]:
    """The simplest way to mark: the words of the answer that occur in no passage."""
    held = {match.group().lower() for text in passages for match in _WORD.finditer(text)}
    return [match.span() for match in _WORD.finditer(answer) if match.group().lower() not in held]


def _within(word: Span, spans: Sequence[Span]) -> bool:
    return any(start < word[1] and word[0] < end for start, end in spans)
