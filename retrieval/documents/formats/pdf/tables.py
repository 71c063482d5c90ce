"""Tables among the lines of a page, found by figures that stand below one another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

from cragraph.retrieval.documents.formats.pdf.words import Line, Segment
from cragraph.retrieval.documents.tables import SIGNS, TAILS, Table, column_names, is_number, is_period, is_year

Columns = Sequence[tuple[float, float]]
"""Left and right edges, from left to right; the first holds the labels."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Text between two edges, in points from the left."""

    text: str
    x0: float
    x1: float


def cells_of(line: Line) -> list[Cell]:
    """The segments of a line, with currency signs, brackets and percent signs joined to their amounts.

    A currency sign widens its amount to where the sign stands, which is where its column begins.
    """
    cells: list[Cell] = []
    for part in _parts(line):
        last = cells[-1] if cells else None
        joins = last and (part.text in TAILS if last.text not in SIGNS else is_number(part.text))
        if last and joins:
            cells[-1] = Cell(last.text + part.text, last.x0, part.x1)
        else:
            cells.append(part)
    return cells


def _parts(line: Line) -> list[Cell]:
    """Segments, with an amount at the end of a segment of amounts in a cell of its own (`$ 689 $ 775`)."""
    parts: list[Cell] = []
    for segment in line.segments:
        words = segment.words
        if len(words) > 1 and all(is_number(word.text) or word.text in SIGNS | TAILS for word in words):
            parts.extend(Cell(word.text, word.x0, word.x1) for word in words)
        elif len(words) > 1 and words[-1].text in SIGNS:
            # A label that runs up to the currency sign of the first amount.
            parts.append(Cell(" ".join(word.text for word in words[:-1]), words[0].x0, words[-2].x1))
            parts.append(Cell(words[-1].text, words[-1].x0, words[-1].x1))
        elif segment.text:
            parts.append(Cell(segment.text, segment.x0, segment.x1))
    return parts


def columns_of(rows: Sequence[Sequence[Cell]]) -> Columns:
    """The columns of rows, from left to right: the stretches that cells cover, cut where few rows cross.

    The first column ends where the first amounts begin, so that one long label does not swallow a column.
    """
    amounts = [cell for row in rows for cell in row[1:] if is_number(cell.text)]
    rest = [cell for row in rows for cell in row[1:] if not is_number(cell.text)]
    columns = _merged(amounts)
    for cell in rest:
        if not any(cell.x0 < right and cell.x1 > left for left, right in columns):
            columns = sorted([*columns, (cell.x0, cell.x1)])
    if not columns:
        return []
    first = columns[0][0]
    labels = [row[0] for row in rows if row and row[0].x0 < first]
    if not labels:
        return columns
    return [(min(cell.x0 for cell in labels), min(max(cell.x1 for cell in labels), first)), *columns]


def same_columns(columns: Columns, others: Columns) -> bool:
    """Whether two tables have the same columns, labels aside: as many, each over its counterpart."""
    return len(columns) == len(others) > 1 and all(
        left < other[1] and right > other[0] for (left, right), other in zip(columns[1:], others[1:], strict=True)
    )


def _merged(cells: Sequence[Cell]) -> list[tuple[float, float]]:
    """Stretches covered by cells, those that overlap as one."""
    merged: list[tuple[float, float]] = []
    for cell in sorted(cells, key=lambda cell: cell.x0):
        if merged and cell.x0 < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], cell.x1))
        else:
            merged.append((cell.x0, cell.x1))
    return merged


def place(row: Sequence[Cell], columns: Columns, *, spread: bool = False) -> list[str]:
    """A row with every cell in the column it overlaps most, or lies nearest to.

    With `spread`, a cell over several columns (a heading of a group) stands in each of them.
    """
    placed = [""] * len(columns)
    for cell in row:
        over = [number for number, (left, right) in enumerate(columns) if cell.x0 < right and cell.x1 > left]
        if spread and len(over) > 1 and 0 in over and cell.x0 <= columns[0][0] + 1:
            over = [0]
        if not (spread and len(over) > 1):
            over = [min(range(len(columns)), key=partial(_distance, cell, columns))]
        for number in over:
            placed[number] = f"{placed[number]} {cell.text}".strip()
    return placed


def _distance(cell: Cell, columns: Columns, number: int) -> tuple[float, float]:
    left, right = columns[number]
    overlap = min(cell.x1, right) - max(cell.x0, left)
    return (-max(overlap, 0.0), abs((cell.x0 + cell.x1) / 2 - (left + right) / 2))


def head_of(rows: Sequence[Sequence[Cell]], columns: Columns) -> list[list[str]]:
    """Heading cells by column, from the top row to the lowest."""
    return [_shared(row, columns) or place(row, columns, spread=True) for row in rows]


def _shared(row: Sequence[Cell], columns: Columns) -> list[str] | None:
    """Periods that head several columns each: every column belongs to the one whose middle is nearest.

    Each stands in the middle of its columns and need not reach over all of them, so that overlap would leave some out.
    """
    first = columns[1][0]
    over = [cell for cell in row if cell.x1 > first]
    if len(over) < 2 or len(over) > len(columns) // 2 or not all(is_period(cell.text) for cell in over):
        return None
    labels = [cell.text for cell in row if cell.x1 <= first]
    return [
        " ".join(labels),
        *(min(over, key=lambda cell: abs(cell.x0 + cell.x1 - left - right)).text for left, right in columns[1:]),
    ]


LEAST_ROWS = 3
"""Lines of several segments that a table of words has at least."""

SAME_LEFT = 3.0
"""Points by which the left edges of cells in one column differ at most."""

LONGEST_BREAK = 3
"""Lines without figures (labels of sections, wrapped labels) between two rows of one table at most."""

MOST_HEADERS = 6
"""Heading lines above the first row of figures at most."""

MOST_LABELS = 3
"""Lines with the label of a section between the headings and the first row of figures at most."""

_SENTENCE_END = re.compile(r"[.!?][\"”’)]*$")


@dataclass(frozen=True)
class Span:
    """Lines `[start, end)` that are a table."""

    start: int
    end: int
    table: Table


@dataclass(frozen=True)
class TableLine:
    """A line with its cells."""

    line: Line
    cells: list[Cell]

    @cached_property
    def figures(self) -> bool:
        """Whether it is a row of amounts: two cells or more, one after the first an amount and no period."""
        return any(is_number(cell.text) and not is_period(cell.text) for cell in self.cells[1:])

    @cached_property
    def ends(self) -> bool:
        """Whether it ends as a sentence does."""
        return bool(_SENTENCE_END.search(self.line.text))


def tables_in(lines: Sequence[Line]) -> Iterator[Span]:
    """The tables among lines in order; lines of prose between them are left out."""
    rows = [TableLine(line, cells_of(line)) for line in lines]
    done = 0
    above: tuple[Columns, list[str]] = ([], [])
    for first, last in _bodies(rows):
        start, end = _heading_lines(rows, max(done, first - MOST_HEADERS - MOST_LABELS), first)
        columns = columns_of([row.cells for row in rows[first:last] if len(row.cells) > 1])
        if len(columns) < 2:
            continue
        head = head_of([row.cells for row in rows[start:end]], columns)
        table = Table([*head, *_body(rows[end:last], columns)], headers=len(head))
        if head:
            above = columns, column_names(table)
        elif same_columns(columns, above[0]):
            table = replace(table, names=above[1])
        yield Span(start, last, table)
        done = last


def _bodies(rows: Sequence[TableLine]) -> Iterator[tuple[int, int]]:
    """Runs from the first to the last line with figures in columns."""
    width = max((row.line.x1 for row in rows), default=0.0) - min((row.line.x0 for row in rows), default=0.0)
    index = 0
    while index < len(rows):
        if not rows[index].figures:
            index += 1
            continue
        end = index + 1
        probe = end
        while probe < len(rows) and probe - end < LONGEST_BREAK:
            row, line, cells = rows[probe], rows[probe].line, rows[probe].cells
            if row.figures:
                end = probe + 1
            elif len(cells) > 2 or (len(cells) == 2 and is_period(cells[1].text)):
                break  # a heading of the next table
            # A label may end in the next line, beside the figures; whatever else fills a line is prose.
            label = not row.ends and probe + 1 < len(rows) and rows[probe + 1].figures
            full = line.x1 - line.x0 > 0.75 * width or len(line.text) > 90
            if not row.figures and full and len(line.segments) == 1 and not label:
                break
            probe += 1
        if sum(row.figures for row in rows[index:end]) >= 2:
            yield index, end
        index = end


def _heading_lines(rows: Sequence[TableLine], lowest: int, first: int) -> tuple[int, int]:
    """The heading lines `[start, end)` above a body: several cells, or words over its amounts.

    Labels of sections (`Assets`) may stand between them and the first figures; with no heading above them, they are
    not taken for part of the table.
    """
    lefts = [cell.x0 for row in rows[first : first + 3] if len(row.cells) > 1 for cell in row.cells[1:]]
    amounts = min(lefts) - 3 * rows[first].line.height

    def near(index: int) -> bool:
        return rows[index + 1].line.top - rows[index].line.bottom < 1.5 * rows[index].line.height

    def label(index: int) -> bool:
        row = rows[index]
        return near(index) and len(row.cells) == 1 and len(row.line.text) < 60 and not row.ends

    def heading(index: int) -> bool:
        row = rows[index]
        over = len(row.cells) > 1 or row.cells[0].x0 > amounts
        return not row.figures and not row.ends and near(index) and over

    end = first
    while end > max(lowest, first - MOST_LABELS) and label(end - 1):
        end -= 1
    for below in (first, end):
        start = below
        while start > max(lowest, below - MOST_HEADERS) and heading(start - 1):
            start -= 1
        if start < below:
            return start, below
    return first, first


def _body(rows: Sequence[TableLine], columns: Columns) -> list[list[str]]:
    """The rows below the headings: labels that wrap are put together, a year that heads a section goes before each of
    its labels, or in the place of its first row's where that has none."""
    body: list[list[str]] = []
    label = period = unused = ""
    for row in rows:
        alone = row.cells[0].text if len(row.cells) == 1 else ""
        cells = [] if alone and (not is_number(alone) or is_year(alone)) else place(row.cells, columns)
        if label and cells and (cells[0][:1].islower() or cells[0][:1] in "$€£0123456789" or label[-1] in ",-"):
            cells[0] = f"{label} {cells[0]}"
        elif label:
            body.append([label])
        label = ""
        if cells:
            body.append([f"{period} {cells[0]}" if cells[0] and period else cells[0] or unused, *cells[1:]])
            unused = ""
        elif is_number(alone):
            body += [[unused]] if unused else []
            period = unused = alone
        else:
            label = row.line.text
    return [*body, *([text] for text in (unused, label) if text)]


def with_labels(lines: Sequence[Line]) -> list[Line]:
    """Lines in which amounts that stand halfway up a label of two lines are put together with it.

    Lines of text stand clear of one another; a label beside its amounts overlaps them in height and ends before them.
    """
    merged: list[Line] = []
    taken = -1
    for index, line in enumerate(lines):
        if index == taken:
            continue
        if any(not is_number(cell.text) for cell in cells_of(line)):
            merged.append(line)
            continue
        label = [merged.pop()] if merged and _is_label_of(merged[-1], line) else []
        if index + 1 < len(lines) and _is_label_of(lines[index + 1], line):
            taken = index + 1
            label.append(lines[taken])
        words = tuple(word for part in label for word in part.words)
        merged.append(Line([Segment(words), *line.segments]) if words else line)
    return merged


def _is_label_of(label: Line, amounts: Line) -> bool:
    overlap = min(amounts.bottom, label.bottom) - max(amounts.top, label.top)
    clear = overlap <= 0.2 * min(amounts.height, label.height)
    return not clear and len(label.segments) == 1 and label.x1 < amounts.x0


def word_tables(lines: Sequence[Line]) -> Iterator[Span]:
    """Tables of words: lines whose segments begin below those of a line above, its cells over several lines each.

    A first row in bold above others that are not heads the columns.
    """
    start = 0
    while start < len(lines):
        end = start
        lefts = [segment.x0 for segment in lines[start].segments]
        if len(lefts) > 1:
            end = start + 1
            while end < len(lines) and _goes_on(lines[end - 1], lines[end], lefts):
                end += 1
        if sum(len(line.segments) > 1 for line in lines[start:end]) < LEAST_ROWS:
            start += 1
            continue
        bold = [line.bold for line in lines[start:end]]
        rows = _grouped(lines[start:end], lefts)
        yield Span(start, end, Table(rows, headers=int(bold[0] and not any(bold[1:]) and len(rows) > 1)))
        start = end


def _goes_on(last: Line, line: Line, lefts: Sequence[float]) -> bool:
    """Whether a line lies below another in the same columns: every segment begins in one and ends before the next."""
    if line.top - last.bottom > 2.5 * line.height:
        return False
    columns = [_column(segment.x0, lefts) for segment in line.segments]
    ends = [*lefts[1:], float("inf")]
    return len(set(columns)) == len(columns) and all(
        column >= 0 and segment.x1 < ends[column] for column, segment in zip(columns, line.segments, strict=True)
    )


def _column(x0: float, lefts: Sequence[float]) -> int:
    """The column that begins where a segment does, -1 for none."""
    return next((number for number, left in enumerate(lefts) if abs(x0 - left) <= SAME_LEFT), -1)


def _grouped(lines: Sequence[Line], lefts: Sequence[float]) -> list[list[str]]:
    """Rows of cells: a line begins a row where it stands further off than lines do within one, or, where all stand
    alike, where its first column is filled."""
    gaps = [line.top - last.bottom for last, line in pairwise(lines)]
    loose = [gap > 0.35 * lines[0].height + min(gaps) for gap in gaps]
    rows: list[list[str]] = []
    for index, line in enumerate(lines):
        first = abs(line.segments[0].x0 - lefts[0]) <= SAME_LEFT
        begins = loose[index - 1] if any(loose) and not all(loose) else first
        if not index or (begins and (first or loose[index - 1])):
            rows.append([""] * len(lefts))
        for segment in line.segments:
            column = _column(segment.x0, lefts)
            rows[-1][column] = f"{rows[-1][column]} {segment.text}".strip()
    return rows
