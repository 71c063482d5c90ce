"""Lines of a page, and the segments they fall into at wide gaps: table cells, or the columns of the page."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from cragraph.retrieval.documents.pdf.words import Word

SAME_LINE = 0.4
"""Words are on one line where their middles are nearer than this share of the higher one."""

CELL_GAP = 0.9
"""A gap wider than this share of the line's height parts two cells; justified words stand closer."""

_LEADER = re.compile(r"^[.·•_…]{3,}$")
_TRAILING_LEADER = re.compile(r"(?:\s?[.·_…]){4,}$")


@dataclass(frozen=True)
class Segment:
    """Words of a line that stand together."""

    words: tuple[Word, ...]

    @cached_property
    def text(self) -> str:
        """The words with one space between them, dot leaders left out."""
        return _TRAILING_LEADER.sub("", " ".join(word.text for word in self.words)).strip()

    @cached_property
    def x0(self) -> float:
        """Left edge."""
        return self.words[0].x0

    @cached_property
    def x1(self) -> float:
        """Right edge."""
        return max(word.x1 for word in self.words)


@dataclass(frozen=True)
class Line:
    """Segments on one height, from left to right."""

    segments: tuple[Segment, ...]

    @cached_property
    def words(self) -> tuple[Word, ...]:
        """All words from left to right."""
        return tuple(word for segment in self.segments for word in segment.words)

    @cached_property
    def text(self) -> str:
        """The text of the line."""
        return " ".join(segment.text for segment in self.segments if segment.text)

    @cached_property
    def x0(self) -> float:
        """Left edge."""
        return self.segments[0].x0

    @cached_property
    def x1(self) -> float:
        """Right edge."""
        return max(segment.x1 for segment in self.segments)

    @cached_property
    def top(self) -> float:
        """Upper edge of the highest word."""
        return min(word.top for word in self.words)

    @cached_property
    def bottom(self) -> float:
        """Lower edge of the lowest word."""
        return max(word.bottom for word in self.words)

    @cached_property
    def height(self) -> float:
        """Height of the font that most signs of the line are in."""
        return weighted_median((word.height, len(word.text)) for word in self.words)

    @cached_property
    def bold(self) -> bool:
        """Whether nearly all signs are bold."""
        signs = sum(len(word.text) for word in self.words)
        return sum(len(word.text) for word in self.words if word.bold) > 0.8 * signs


def lines_of(words: Sequence[Word]) -> list[Line]:
    """Words gathered in lines from top to bottom; raised and lowered signs stay on their line."""
    rows: list[list[Word]] = []
    for word in sorted(words, key=lambda word: (word.middle, word.x0)):
        row = rows[-1] if rows else None
        if row and abs(word.middle - row[0].middle) <= SAME_LINE * max(word.height, row[0].height):
            row.append(word)
        else:
            rows.append([word])
    return [line for line in (line_of(row) for row in rows) if line.segments]


def line_of(words: Iterable[Word]) -> Line:
    """A line of words, cut into segments."""
    ordered = sorted(words, key=lambda word: word.x0)
    height = weighted_median((word.height, len(word.text)) for word in ordered)
    segments: list[list[Word]] = []
    apart = True
    right = 0.0
    for word in ordered:
        if _LEADER.match(word.text):
            apart = True
            continue
        if apart or word.x0 - right > CELL_GAP * height:
            segments.append([])
        segments[-1].append(word)
        right, apart = max(word.x1, right) if len(segments[-1]) > 1 else word.x1, False
    return Line(tuple(Segment(tuple(segment)) for segment in segments))


def weighted_median(values: Iterable[tuple[float, int]]) -> float:
    """The value that half of the weight lies at or below; 0 of nothing."""
    ordered = sorted(values)
    half = sum(weight for _, weight in ordered) / 2
    seen = 0
    for value, weight in ordered:
        seen += weight
        if seen >= half:
            return value
    return 0.0
