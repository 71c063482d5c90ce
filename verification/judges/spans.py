"""The parts of a claim that lack support, as ranges of the answer."""

import re
from collections.abc import Iterable, Iterator

from cragraph.text.facts import Fact
from cragraph.types import Claim
from cragraph.verification.claims import without_markers
from cragraph.verification.judges.features import Reading

Span = tuple[int, int]


def joined(spans: Iterable[Span]) -> list[Span]:
    """The ranges in order; those that overlap, or have nothing but one character between them, as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start - found[-1][1] <= 1:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def can_point(claim: Claim) -> bool:
    """Whether places in the claim's text are places in the answer: a rephrased claim has none there."""
    return len(claim["text"]) == claim["end"] - claim["start"]


def objected_spans(claim: Claim, reading: Reading, lacking: Iterable[Fact]) -> list[Span]:
    """Answer ranges of the figures, names and opposite words that speak against a claim; none where it is rephrased."""
    if not can_point(claim) or not claim["text"].startswith(without_markers(claim["text"])):
        return []
    offset = claim["start"]
    return joined((start + offset, end + offset) for start, end in _places(claim["text"], reading, lacking))


def _places(text: str, reading: Reading, lacking: Iterable[Fact]) -> Iterator[Span]:
    for fact in (*lacking, *reading.strangers):
        yield fact.start, fact.end
    if reading.opposite:
        word = re.search(rf"\b{re.escape(reading.opposite[0])}\b", text, re.IGNORECASE)
        if word:
            yield word.span()
