"""Rows of a table: cells that stand close together, and lines below or above an item that are part of its row."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from cragraph.documents.formats.pdf.words import Line, PageWord, Segment
from cragraph.documents.table_text import is_number, is_period

LONGEST: Final = 4  # further lines of a row at most
CLOSER: Final = 0.25  # share of a line's height by which lines of one row stand closer than rows
APART: Final = 0.8  # share of a line's height by which lines of one row stand apart at most
SMALLER: Final = 0.92  # least share of a row's height that a line in the same size has
WIDER: Final = 0.3  # share of a line's height by which cells stand apart at least, and words of a cell hardly do
LEAST: Final = 4  # lines that have a word at the same place at least
SAME_LEFT: Final = 3.0  # points by which the left edges of the lines of a cell differ at most
LONGEST_TEXT: Final = 120  # characters of lines in the same size as their row
# A footnote begins with a mark, and the heading of a group ends in a colon.
_NO_PART = re.compile(r"[^\w\s\"“‘'(+&–—-]|[¹²³⁰-⁹ᵃ-ᶻ]|\(?\w{1,2}[.)]\s|.*:$")


def divided(lines: Sequence[Line]) -> list[Line]:
    """Lines of several cells, divided further where words stand below one another at a gap wider than that of words:
    right-aligned figures before left-aligned words stand too close for a gap alone to tell."""
    rows = [(n, line) for n, line in enumerate(lines) if len(line.segments) > 1]
    places: dict[int, set[int]] = defaultdict(set)
    for n, line in rows:
        for x in _beginnings(line):
            for near in (-1, 0, 1):
                places[round(x) + near].add(n)
    gutters = {
        x
        for x, own in places.items()
        if len(own) >= LEAST and not _is_crossed(x, [line for n, line in rows if min(own) <= n <= max(own)])
    }
    return [_cut(line, gutters) if len(line.segments) > 1 else line for line in lines]


def _beginnings(line: Line) -> Iterator[float]:
    """The left edges of the words of a line that begin a segment or stand apart in it."""
    for segment in line.segments:
        yield segment.x0
        yield from (word.x0 for before, word in pairwise(segment.words) if _is_apart(before, word))


def _is_apart(before: PageWord, word: PageWord) -> bool:
    return word.x0 - before.x1 > WIDER * word.height


def _is_crossed(x: int, rows: Sequence[Line]) -> bool:
    """Whether more than a few rows have a word across a place."""
    crossing = sum(any(w.x0 < x - SAME_LEFT and w.x1 > x + SAME_LEFT for w in line.words) for line in rows)
    return crossing * LEAST > len(rows)


def _cut(line: Line, gutters: Collection[int]) -> Line:
    parts: list[Segment] = []
    for segment in line.segments:
        words = [[segment.words[0]]]
        for before, word in pairwise(segment.words):
            if _is_apart(before, word) and round(word.x0) in gutters:
                words.append([])
            words[-1].append(word)
        parts += map(Segment, words)
        parts[-1].leads = segment.leads
    return Line(parts)


class _Part(NamedTuple):
    """Lines `[start, end)` that are part of the row `row`, and how far they stand from it."""

    start: int
    end: int
    row: int
    gap: float


def with_wraps(lines: Sequence[Line]) -> list[Line]:
    """Lines with the further lines of a row joined to it; where it is undecidable whose they are, all stay apart."""
    parts = [part for row, line in enumerate(lines) if line.figures for part in _parts(lines, row)]
    # A part at the end of the table, with no row to compare, stands as the others do.
    parts += [part for part in _outer(lines) if any(_alike(lines, part, other) for other in parts)]
    taken = {number: part.row for part in parts for number in range(part.start, part.end)}
    return [
        _merged(line, [n for n, row in taken.items() if row == number], number, lines) if line.figures else line
        for number, line in enumerate(lines)
        if number not in taken
    ]


def _parts(lines: Sequence[Line], row: int) -> Iterator[_Part]:
    """The lines below and above a row that stand clearly closer to it than to what follows."""
    for step in (1, -1):
        end, gap = _reach(lines, row, step)
        beyond = _gap(lines, end, step)
        if end != row and beyond < float("inf") and beyond > gap + CLOSER * lines[row].height:
            yield _Part(min(row + 1, end), max(row, end + 1), row, _gap(lines, row, step))


def _outer(lines: Sequence[Line]) -> Iterator[_Part]:
    """Lines below the last row and above the first."""
    rows = [row for row, line in enumerate(lines) if line.figures]
    for row, step in ((rows[-1], 1), (rows[0], -1)) if rows else ():
        end, _ = _reach(lines, row, step)
        if end != row:
            yield _Part(min(row + 1, end), max(row, end + 1), row, _gap(lines, row, step))


def _reach(lines: Sequence[Line], row: int, step: int) -> tuple[int, float]:
    """The last of the lines on one side of a row that may be parts of it, and their widest gap."""
    end, gap, signs = row, float("-inf"), 0
    while abs(end - row) < LONGEST and 0 <= end + step < len(lines) and _fits(lines[end + step], lines[row], step):
        width, line = _gap(lines, end, step), lines[end + step]
        signs += len(line.text) * (line.height >= SMALLER * lines[row].height)
        if signs > LONGEST_TEXT:
            return row, gap
        if width > APART * lines[row].height or (end != row and width > gap + CLOSER * lines[row].height):
            break
        end, gap = end + step, max(gap, width)
    return end, gap


def _gap(lines: Sequence[Line], number: int, step: int) -> float:
    """The gap below a line, or above it; infinite at the edges."""
    upper, lower = (number, number + 1) if step > 0 else (number - 1, number)
    return lines[lower].top - lines[upper].bottom if upper >= 0 and lower < len(lines) else float("inf")


def _fits(line: Line, row: Line, step: int) -> bool:
    """Whether each segment of a line stands below a cell of words; above a row, whether it is in a smaller size."""
    if line.figures or line.bold > row.bold or _NO_PART.match(line.text) or is_period(line.text):
        return False
    if step < 0 and not (line.height < SMALLER * row.height and len(line.segments) == 1):
        return False
    owners = [_owner(segment, row) for segment in line.segments]
    return None not in owners and len({*owners}) == len(owners)


def _owner(segment: Segment, row: Line) -> int | None:
    """The segment of words in a row that has the same left edge, if it is the only one within reach."""
    for number, above in enumerate(row.segments):
        behind = row.segments[number + 1].x0 if number + 1 < len(row.segments) else float("inf")
        if abs(above.x0 - segment.x0) <= SAME_LEFT and segment.x1 < behind:
            return None if is_number(above.text) or is_number(segment.text) else number
    return None


def _alike(lines: Sequence[Line], part: _Part, other: _Part) -> bool:
    """Whether an outer part stands to its row as another does."""
    line, known = lines[part.start], lines[other.start]
    return (
        (part.row < part.start) == (other.row < other.start)
        and abs(part.gap - other.gap) < 1
        and abs(line.height - known.height) < 0.05 * known.height
    )


def _merged(row: Line, numbers: Sequence[int], own: int, lines: Sequence[Line]) -> Line:
    """A row with other lines joined to its segments; a description is a cell of its own behind the others."""
    if not numbers:
        return row
    words = [list(segment.words) for segment in row.segments]
    described: list[PageWord] = []
    for number in sorted(numbers):
        line = lines[number]
        if described or _describes(line, row, lines):
            described += line.words
            continue
        for segment in line.segments:
            if (owner := _owner(segment, row)) is not None:
                words[owner] += segment.words
    merged = [Segment(one) for one in words]
    for segment, before in zip(merged, row.segments, strict=True):
        segment.leads = before.leads
    if described:
        right = max(line.x1 for line in lines) + 2 * row.height - described[0].x0
        merged.append(Segment([word._replace(x0=word.x0 + right, x1=word.x1 + right) for word in described]))
    return Line(merged)


def _describes(line: Line, row: Line, lines: Sequence[Line]) -> bool:
    """Whether a line is no wrapped cell: it is smaller, or its first word would have fitted into the line above."""
    smaller, single = line.height < SMALLER * row.height, len(line.segments) == 1
    if smaller or not single:
        return smaller and single
    owner = row.segments[_owner(line.segments[0], row) or 0]
    below = (s for other in lines if other.figures for s in other.segments if abs(s.x0 - owner.x0) <= SAME_LEFT)
    right = max(segment.x1 for segment in below)
    return line.words[0].x1 - line.words[0].x0 + 0.3 * row.height < right - owner.x1
