"""Headings of a table on a page: which lines name its columns, and which columns each of them is over."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Final

from cragraph.documents.formats.pdf.words import Line, PageCell, PageWord, Segment
from cragraph.documents.table_text import is_period, is_year

Columns = Sequence[tuple[float, float]]  # left and right edges, from left to right; the first holds the labels

LEAST_NAMES: Final = 3  # least names of columns that are complete
PADDING: Final = 6.0  # points by which the first column may begin to the right of a block above the table
SAME_LEFT: Final = 3.0  # points by which the left edges of cells in one column differ at most
MOST_HEADERS: Final = 6  # heading lines above the first row of figures at most
MOST_LABELS: Final = 3  # lines with the label of a section between the headings and the first row of figures at most
LONGEST_LABEL, LONGEST_BOLD = 60, 90  # characters of such a label at most
MOST_WORDS: Final = 12  # words of headings that stand close together at most
LARGER: Final = 1.12  # least size of a title, relative to the names of columns
OFF: Final = 12.0  # points by which a heading may miss the middle of the columns that it is over
SENTENCE_END: Final = re.compile(r"[.!?][\"”’)]*$")
CLOSE: Final = "The headings “{}” of a table stand so close together that they may name other columns."
OVER: Final = "The heading “{}” may stand over {} alone, or over {} too."


def place(row: Sequence[PageCell], columns: Columns, *, spread: bool = False) -> list[str]:
    """Cells in the columns that they overlap most or are nearest to; with `spread`, in every column they overlap."""
    placed = [""] * len(columns)
    for cell in row:
        over = [number for number, (left, right) in enumerate(columns) if cell.x0 < right and cell.x1 > left]
        if not spread or len(over) < 2 or (over[0] == 0 and cell.x0 <= columns[0][0] + 1):
            over = [nearest(cell, columns)]
        for number in over:
            placed[number] = f"{placed[number]} {cell.text}".strip()
    return placed


def nearest(cell: PageCell, columns: Columns) -> int:
    """The column that a cell overlaps most or is nearest to."""
    apart = [
        (-max(min(cell.x1, right) - max(cell.x0, left), 0.0), abs((cell.x0 + cell.x1) / 2 - (left + right) / 2))
        for left, right in columns
    ]
    return apart.index(min(apart))


def headings(lines: Sequence[Line], columns: Columns) -> tuple[list[list[str]], list[str]]:
    """The rows of heading lines, from top to bottom, and the doubts about them."""
    if not lines:
        return [], []
    lines = [*_joined(lines)]
    lowest = [cell for cell in lines[-1].cells for cell in _divided(cell, lines[-1].words, columns)]
    names = _over_periods(lowest, columns) or place(lowest, columns, spread=True)
    wide = edges(lowest, columns)
    rows = [_heading(line.cells, columns, wide, names) for line in lines[:-1]] + [names]
    doubts = [*_may_be_alone(lines[-2].cells, rows[-2], names, wide)] if len(lines) > 1 else []
    full = [" ".join(dict.fromkeys(filter(None, cells))) for cells in zip(*rows, strict=True)]
    close = (a for a, b in pairwise(full[1:]) if a == b and a in names and " " in a and a[0] != "(")
    doubts += [CLOSE.format(name) for name in close if not is_period(name)]
    return rows, doubts


def _joined(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines; those half a line apart are one, with the words below one another in one cell."""
    segments = list(lines[0].segments)
    for above, line in pairwise(lines):
        if not _is_halfway(above, line):
            yield Line(segments)
            segments = []
        for segment in line.segments:
            over = [n for n, other in enumerate(segments) if other.x0 < segment.x1 and segment.x0 < other.x1]
            if over:
                segments[over[0]] = Segment([*segments[over[0]].words, *segment.words])
            else:
                segments.append(segment)
        segments.sort(key=lambda segment: segment.x0)
    yield Line(segments)


def edges(names: Sequence[PageCell], columns: Columns) -> Columns:
    """The columns as wide as their figures and their names."""
    wide = list(columns)
    for cell in names:
        over = [number for number, (left, right) in enumerate(columns) if cell.x0 < right and cell.x1 > left]
        if len(over) < 2:
            number = over[0] if over else nearest(cell, columns)
            wide[number] = min(wide[number][0], cell.x0), max(wide[number][1], cell.x1)
    return wide


def _divided(cell: PageCell, words: Sequence[PageWord], columns: Columns) -> list[PageCell]:
    """The headings in a cell that is over several columns, if its words stand over them in one way only."""
    over = [column for column in columns if cell.x0 < column[1] and cell.x1 > column[0]]
    own = [word for word in words if cell.x0 <= word.x0 and word.x1 <= cell.x1]
    if not 1 < len(over) <= len(own) <= MOST_WORDS or (over[0] == columns[0] and cell.text[0].islower()):
        return [cell]
    ways = []
    for cuts in combinations(range(1, len(own)), len(over) - 1):
        parts = [own[start:end] for start, end in pairwise((0, *cuts, len(own)))]
        if all(_aligned((p[0].x0, p[-1].x1), column) for p, column in zip(parts, over, strict=True)):
            ways.append(parts)
    return [PageCell(" ".join(w.text for w in p), p[0].x0, p[-1].x1) for p in ways[0]] if len(ways) == 1 else [cell]


def _aligned(one: tuple[float, float], two: tuple[float, float]) -> bool:
    """Whether the left edges, the right edges or the middles are the same."""
    left, right = one[0] - two[0], one[1] - two[1]
    return min(abs(left), abs(right), abs(left + right) / 2) <= SAME_LEFT


def _off(cell: PageCell, columns: Columns) -> float:
    """How far the middle of a cell is from the middle of columns side by side."""
    return abs(cell.x0 + cell.x1 - columns[0][0] - columns[-1][1]) / 2


def _heading(row: Sequence[PageCell], columns: Columns, wide: Columns, names: Sequence[str]) -> list[str]:
    """Heading cells by column; one over several columns, or over years, is in each of them."""
    over = [cell for cell in row if cell.x1 > columns[1][0]]
    label = " ".join(cell.text for cell in row if cell not in over)
    size, rest = divmod(len(columns) - 1, len(over) or 1)
    if len(over) > 1 < size and not rest and is_year(names[1]) and [*names[1 : size + 1]] * len(over) == names[1:]:
        groups = [wide[n : n + size] for n in range(1, len(columns), size)]
        if all(_above([cell], group) for cell, group in zip(over, groups, strict=True)):
            return [label, *(cell.text for cell in over for _ in range(size))]  # the same years below each
    if periods := _over_periods(row, columns):
        return periods
    placed = place(row, columns, spread=True)
    for start, end in _years(names):
        above = _above(over, wide[start:end])
        if len(above) == 1 and above[0].text[0] != "(":
            placed[start:end] = [above[0].text] * (end - start)
    return placed


def _above(cells: Sequence[PageCell], columns: Columns) -> list[PageCell]:
    """The cells over columns side by side."""
    return [cell for cell in cells if cell.x0 < columns[-1][1] and cell.x1 > columns[0][0]]


def _over_periods(row: Sequence[PageCell], columns: Columns) -> list[str]:
    """Periods that head several columns each: every column gets the nearest; empty if there are none."""
    over = [cell for cell in row if cell.x1 > columns[1][0]]
    if not 2 <= len(over) <= len(columns) // 2 or not all(is_period(cell.text) for cell in over):
        return []
    label = " ".join(cell.text for cell in row if cell not in over)
    return [label, *(min(over, key=lambda c: abs(c.x0 + c.x1 - left - right)).text for left, right in columns[1:])]


def _may_be_alone(row: Sequence[PageCell], placed: Sequence[str], names: Sequence[str], wide: Columns) -> Iterator[str]:
    """The doubts about headings that stand right over one of several years: it may be the only one that they name."""
    for start, end in (years for years in _years(names) if names.count(names[years[0]]) == 1):
        for cell in _above(row, wide[start:end])[:1]:
            off = [_off(cell, [one]) for one in wide[start:end]]
            under = start + off.index(min(off))
            left, right = wide[under]
            fits = cell.x1 - cell.x0 <= 2 * (right - left) and cell.text[-1] != ","
            if fits and min(off) <= _off(cell, wide[start:end]) > OFF and {*placed[start:end]} == {cell.text}:
                beside = " and ".join(name for n, name in enumerate(names[start:end], start) if n != under)
                yield OVER.format(cell.text, names[under], beside)


def _is_between(cell: PageCell, wide: Columns, names: Sequence[str]) -> bool:
    """Whether a cell stands in the middle of two or more named columns."""
    middle = (cell.x0 + cell.x1) / 2
    if any(left <= middle <= right for left, right in wide):
        return False
    spans = ((a, b) for a, b in combinations(range(len(wide) + 1), 2) if b - a > 1)
    return any(abs(middle - (wide[a][0] + wide[b - 1][1]) / 2) < OFF and all(names[a:b]) for a, b in spans)


def _years(names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The columns `[start, end)` side by side, two or more, that name years, each another."""
    start = 1
    for n in range(1, len(names) + 1):
        if n == len(names) or not is_year(names[n]) or names[n] in names[start:n]:
            if n - start > 1:
                yield start, n
            start = n if n < len(names) and is_year(names[n]) else n + 1


def heading_lines(lines: Sequence[Line], lowest: int, first: int, columns: Columns) -> tuple[int, int]:
    """The heading lines `[start, end)` above a table's body: several cells, or words over its amounts.

    Labels of sections (`Assets`) may stand between headings and first figures; without headings they are not included.
    """
    lefts = [cell.x0 for line in lines[first : first + 3] for cell in line.cells[1:]]
    edge = min(line.cells[0].x0 for line in lines[first : first + 3])
    amounts = max(min(lefts) - 3 * lines[first].height, edge + SAME_LEFT)

    def leads(index: int) -> bool:
        line, below = lines[index], lines[index + 1]
        ends = SENTENCE_END.search(line.text) and not _is_halfway(line, below)
        return below.top - line.bottom < 1.5 * line.height and not ends

    def label(index: int) -> bool:
        line = lines[index]
        longest = LONGEST_BOLD if line.bold else LONGEST_LABEL
        single = len(line.cells) == 1 and not (index and _is_halfway(lines[index - 1], line))
        return leads(index) and single and len(line.text) < longest

    def heading(index: int) -> bool:
        line = lines[index]
        if line.figures or not leads(index):
            return False
        return (
            len(line.cells) > 1 or line.cells[0].x0 > amounts or len(_divided(line.cells[0], line.words, columns)) > 1
        )

    end = first
    while end > max(lowest, first - MOST_LABELS) and label(end - 1):
        end -= 1
    for below in (first, end):
        start = below
        while start > max(lowest, below - MOST_HEADERS) and heading(start - 1):
            start -= 1
        if start < below:
            return _first_heading(lines, start, below, columns), below
    return first, first


def _first_heading(lines: Sequence[Line], start: int, end: int, columns: Columns) -> int:
    """The first heading line; a title, and lines of an address above complete headings, are none."""
    two = end - start == 2
    while start < end - 1 and _is_title(lines[start], lines[end - 1], columns, two=two):
        start += 1
    for number in range(end - 1, start, -1):
        names = lines[number].cells
        top = number - _is_halfway(lines[number - 1], lines[number])  # the upper line of a name of two lines
        above = lines[start:top]
        complete = names[0].x0 < columns[1][0] and len(names) >= min(len(columns), LEAST_NAMES)
        if complete and above and _is_block(above, names, columns[0][0]):
            return top
        if complete and top == number and all(_is_beside(line, names) for line in above):
            return number
    return start


def _is_title(line: Line, names: Line, columns: Columns, *, two: bool) -> bool:
    """Whether a line above the names of columns is over none of them: it is larger, or, the upper of `two`, it is in
    line with none."""
    if len(line.cells) > 1:
        return False
    [cell], wide = line.cells, edges(names.cells, columns)[1:]
    over = [column for column in wide if cell.x0 < column[1] and cell.x1 > column[0]]
    named = place(names.cells, columns, spread=True)[1:]
    if len(over) > 1 or any(is_year(name) for column, name in zip(wide, named, strict=True) if column in over):
        return False
    below = [*wide, *((name.x0, name.x1) for name in names.cells)]
    apart = two and not any(_aligned((cell.x0, cell.x1), one) for one in below)
    return line.height > LARGER * names.height or (apart and not _is_between(cell, wide, named))


def _is_halfway(line: Line, below: Line) -> bool:
    """Whether a line is the upper half of a heading of two lines, beside those of one line."""
    return below.top + below.bottom - line.top - line.bottom < 1.4 * line.height


def _is_block(lines: Sequence[Line], names: Sequence[PageCell], left: float) -> bool:
    """Whether lines above the names of columns are blocks side by side, the first from the left edge of the table."""
    if any(len(line.cells) < 2 or abs(line.cells[0].x0 - left) > PADDING for line in lines):
        return False
    lefts = [line.cells[1].x0 for line in lines]
    level = max(lefts) - min(lefts) <= SAME_LEFT and all(abs(name.x0 - lefts[0]) > SAME_LEFT for name in names)
    return (level and len(lines) > 1) or lines[0].cells[0].text.endswith(":")


def _is_beside(line: Line, names: Sequence[PageCell]) -> bool:
    """Whether a line of one cell goes on to the right of the last column, as the address in a letterhead does."""
    cell, reach = line.cells[0], 2 * line.height
    return len(line.cells) == 1 and cell.x1 > names[-1].x1 + reach and cell.x0 + cell.x1 > names[-1].x0 + names[-1].x1
