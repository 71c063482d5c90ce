"""Tables among the lines of a page, found by figures that stand below one another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from cragraph.documents.formats.pdf.words import Line, PageCell, Segment
from cragraph.documents.table_text import (
    TextTable,
    column_names,
    is_form,
    is_number,
    is_period,
    is_year,
    labels_first,
    table_of,
)

Columns = Sequence[tuple[float, float]]  # left and right edges, from left to right; the first holds the labels

LEAST_ROWS: Final = 3  # least lines of several segments in a table of words
APART: Final = 0.8  # share of a line's height by which rows stand apart, and the lines of one cell do not
SAME_LEFT: Final = 3.0  # points by which the left edges of cells in one column differ at most
LONGEST_BREAK: Final = 3  # lines without figures, such as labels of sections, between two rows of a table at most
MOST_HEADERS: Final = 6  # heading lines above the first row of figures at most
LONGEST_LABEL, LONGEST_BOLD = 60, 90  # characters of such a label at most
MOST_LABELS: Final = 3  # lines with the label of a section between the headings and the first row of figures at most
_SENTENCE_END = re.compile(r"[.!?][\"”’)]*$")


class Span(NamedTuple):
    """Lines `[start, end)` that are a table."""

    start: int
    end: int
    table: TextTable


def columns_of(rows: Sequence[Sequence[PageCell]]) -> Columns:
    """The columns, from left to right; the first one ends where the first amounts begin."""
    behind = sorted((cell for row in rows for cell in row[1:]), key=lambda cell: cell.x0)
    columns: list[tuple[float, float]] = []
    for cell in (cell for cell in behind if is_number(cell.text)):
        if columns and cell.x0 < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], cell.x1))
        else:
            columns.append((cell.x0, cell.x1))
    for cell in (cell for row in rows for cell in row[1:] if not is_number(cell.text)):
        if not any(cell.x0 < right and cell.x1 > left for left, right in columns):
            columns = sorted([*columns, (cell.x0, cell.x1)])
    labels = [row[0] for row in rows if row and columns and row[0].x0 < columns[0][0]]
    if labels:
        edge = min(max(cell.x1 for cell in labels), columns[0][0])
        columns.insert(0, (min(cell.x0 for cell in labels), edge))
    return columns


def place(row: Sequence[PageCell], columns: Columns, *, spread: bool = False) -> list[str]:
    """Cells in the columns that they overlap most or are nearest to; with `spread`, in every column they overlap."""
    placed = [""] * len(columns)
    for cell in row:
        over = [number for number, (left, right) in enumerate(columns) if cell.x0 < right and cell.x1 > left]
        if not spread or len(over) < 2 or (over[0] == 0 and cell.x0 <= columns[0][0] + 1):
            apart = [
                (-max(min(cell.x1, right) - max(cell.x0, left), 0.0), abs((cell.x0 + cell.x1) / 2 - (left + right) / 2))
                for left, right in columns
            ]
            over = [apart.index(min(apart))]
        for number in over:
            placed[number] = f"{placed[number]} {cell.text}".strip()
    return placed


def _heading(row: Sequence[PageCell], columns: Columns) -> list[str]:
    """Heading cells by column; if periods head several columns each, every column gets the nearest."""
    over = [cell for cell in row if cell.x1 > columns[1][0]]
    if not 2 <= len(over) <= len(columns) // 2 or not all(is_period(cell.text) for cell in over):
        return place(row, columns, spread=True)
    return [
        " ".join(cell.text for cell in row if cell not in over),
        *(min(over, key=lambda cell: abs(cell.x0 + cell.x1 - left - right)).text for left, right in columns[1:]),
    ]


def tables_in(lines: Sequence[Line]) -> Iterator[Span]:
    """The tables among lines in order; lines of prose between them are left out."""
    done = 0
    above: tuple[Columns, Sequence[str]] = ([], [])
    for first, last in _bodies(lines):
        start, end = _heading_lines(lines, max(done, first - MOST_HEADERS - MOST_LABELS), first)
        columns = columns_of([line.cells for line in lines[first:last] if len(line.cells) > 1])
        if len(columns) < 2:
            continue
        start = _without_blocks(lines, start, end, columns)
        head = [_heading(line.cells, columns) for line in lines[start:end]]
        table = TextTable([*head, *labels_first(_body(lines[end:last], columns))], headers=len(head))
        pairs = zip(columns[1:], above[0][1:], strict=False)
        if head:
            above = columns, column_names(table)
        elif len(columns) == len(above[0]) and all(a[0] < b[1] and a[1] > b[0] for a, b in pairs):
            table = replace(table, names=above[1])  # it goes on with the columns of the table above
        yield Span(start, last, table)
        done = last


def _bodies(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    width = max((line.x1 for line in lines), default=0.0) - min((line.x0 for line in lines), default=0.0)
    index = 0
    while index < len(lines):
        if not lines[index].figures:
            index += 1
            continue
        probe = end = index + 1
        while probe < len(lines) and probe - end < LONGEST_BREAK:
            line, cells = lines[probe], lines[probe].cells
            if line.figures:
                end = probe + 1
            elif len(cells) > 2 or (len(cells) == 2 and is_period(cells[1].text)):
                break  # a heading of the next table
            # A label may end in the next line, beside the figures; any other full line is prose.
            label = not _SENTENCE_END.search(line.text) and probe + 1 < len(lines) and lines[probe + 1].figures
            full = line.x1 - line.x0 > 0.75 * width or len(line.text) > 90
            if not line.figures and full and len(line.segments) == 1 and not label:
                break
            probe += 1
        if sum(line.figures for line in lines[index:end]) >= 2:
            yield index, end
        index = end


def _heading_lines(lines: Sequence[Line], lowest: int, first: int) -> tuple[int, int]:
    """The heading lines `[start, end)` above a table's body: several cells, or words over its amounts.

    Labels of sections (`Assets`) may stand between headings and first figures; without headings they are not included.
    """
    lefts = [cell.x0 for line in lines[first : first + 3] for cell in line.cells[1:]]
    edge = min(line.cells[0].x0 for line in lines[first : first + 3])
    amounts = max(min(lefts) - 3 * lines[first].height, edge + SAME_LEFT)

    def leads(index: int) -> bool:
        line = lines[index]
        return lines[index + 1].top - line.bottom < 1.5 * line.height and not _SENTENCE_END.search(line.text)

    def label(index: int) -> bool:
        line = lines[index]
        longest = LONGEST_BOLD if line.bold else LONGEST_LABEL
        single = len(line.cells) == 1 and line.cells[0].x0 <= amounts
        return leads(index) and single and len(line.text) < longest

    def heading(index: int) -> bool:
        line = lines[index]
        return not line.figures and leads(index) and (len(line.cells) > 1 or line.cells[0].x0 > amounts)

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


def _without_blocks(lines: Sequence[Line], start: int, end: int, columns: Columns) -> int:
    """The first heading line; lines of an address above complete headings are none."""
    for number in range(end - 1, start, -1):
        names, above = lines[number].cells, lines[start:number]
        complete = names[0].x0 < columns[1][0] and len(names) >= min(len(columns), LEAST_ROWS)
        if complete and (_is_block(above, names, columns[0][0]) or all(_is_beside(line, names) for line in above)):
            return number
    return start


def _is_block(lines: Sequence[Line], names: Sequence[PageCell], left: float) -> bool:
    """Whether lines above the names of columns are blocks side by side, the first from the left edge of the table."""
    if any(len(line.cells) < 2 or abs(line.cells[0].x0 - left) > SAME_LEFT for line in lines):
        return False
    lefts = [line.cells[1].x0 for line in lines]
    level = max(lefts) - min(lefts) <= SAME_LEFT and all(abs(name.x0 - lefts[0]) > SAME_LEFT for name in names)
    return (level and len(lines) > 1) or lines[0].cells[0].text.endswith(":")


def _is_beside(line: Line, names: Sequence[PageCell]) -> bool:
    """Whether a line of one cell goes on to the right of the last column, as the address in a letterhead does."""
    cell, reach = line.cells[0], 2 * line.height
    return len(line.cells) == 1 and cell.x1 > names[-1].x1 + reach and cell.x0 + cell.x1 > names[-1].x0 + names[-1].x1


def _body(lines: Sequence[Line], columns: Columns) -> list[list[str]]:
    """The rows below the headings, with wrapped labels joined and a section's year put before each label."""
    body: list[list[str]] = []
    label = period = unused = ""
    named = lines[0]
    for line in lines:
        alone = line.cells[0].text if len(line.cells) == 1 else ""
        cells = [] if alone and (not is_number(alone) or is_year(alone)) else place(line.cells, columns)
        goes_on = cells and (cells[0][:1].islower() or cells[0][:1] in "$€£0123456789" or label[-1:] in {*",-"})
        if label and goes_on and _wraps(named, line, columns):
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
            label, named = line.text, line
    return [*body, *([text] for text in (unused, label) if text)]


def _wraps(label: Line, row: Line, columns: Columns) -> bool:
    """Whether a line above a row may be the beginning of its label: it fits into the column of labels, and it is not
    set in bold above plain words."""
    bold = label.bold and not row.segments[0].words[0].bold
    return not bold and (len(columns) < 2 or label.x1 <= columns[1][0])


def with_labels(lines: Sequence[Line]) -> list[Line]:
    """Lines with the amounts beside a label of two lines joined to the label."""
    merged: list[Line] = []
    rest = iter([*lines, None])
    line = next(rest)
    while line is not None:
        below = next(rest)
        if all(is_number(cell.text) for cell in line.cells) or _is_between(merged[-1:], line, below):
            label = [merged.pop()] if merged and _is_label_of(merged[-1], line) else []
            if below is not None and _is_label_of(below, line):
                label.append(below)
                below = next(rest)
            words = [word for part in label for word in part.words]
            line = Line([Segment(words), *line.segments]) if words else line
        merged.append(line)
        line = below
    return merged


def _is_between(above: Sequence[Line], row: Line, below: Line | None) -> bool:
    """Whether a row without a label stands halfway beside the two lines of one."""
    lines = [*above, *([below] if below else [])]
    return row.figures and len(lines) > 1 and all(_is_label_of(line, row) for line in lines)


def _is_label_of(label: Line, amounts: Line) -> bool:
    overlap = min(amounts.bottom, label.bottom) - max(amounts.top, label.top)
    clear = overlap <= 0.2 * min(amounts.height, label.height)
    return not clear and len(label.segments) == 1 and label.x1 < amounts.x0


def word_tables(lines: Sequence[Line]) -> Iterator[Span]:
    """Tables of words: lines whose segments begin below those of the first line, which is the head if only it is
    bold."""
    start = 0
    while start < len(lines):
        lefts = [segment.x0 for segment in lines[start].segments]
        end = start + 1
        while len(lefts) > 1 and end < len(lines) and _goes_on(lines[end - 1], lines[end], lefts):
            end += 1
        if len(lefts) > 1 and sum(len(line.segments) > 1 for line in lines[start:end]) >= LEAST_ROWS:
            bold = [line.bold for line in lines[start:end]]
            rows = _grouped(lines[start:end], lefts)
            headers = int(bold[0] and not any(bold[1:]) and len(rows) > 1)
            yield Span(
                start, end, table_of(rows) if not headers and is_form(rows) else TextTable(rows, headers=headers)
            )
            start = end
        else:
            start += 1


def _goes_on(last: Line, line: Line, lefts: Sequence[float]) -> bool:
    """Whether a line is in the same columns as the line above: each segment begins in one and ends before the next."""
    columns = [_column(segment, lefts) for segment in line.segments]
    ends = [*lefts[1:], float("inf")]
    return (
        line.top - last.bottom <= 2.5 * line.height
        and len(set(columns)) == len(columns)
        and all(n >= 0 and segment.x1 < ends[n] for n, segment in zip(columns, line.segments, strict=True))
    )


def _column(segment: Segment, lefts: Sequence[float]) -> int:
    """The column with the segment's left edge, -1 for none."""
    return next((number for number, left in enumerate(lefts) if abs(segment.x0 - left) <= SAME_LEFT), -1)


def _grouped(lines: Sequence[Line], lefts: Sequence[float]) -> list[list[str]]:
    """Rows of cells; a row begins after a wider gap, or else at a line with a filled first column."""
    gaps = [line.top - last.bottom for last, line in pairwise(lines)]
    loose = [gap > 0.35 * lines[0].height + min(gaps) for gap in gaps]
    apart = min(gaps) > APART * lines[0].height
    rows: list[list[str]] = []
    for index, line in enumerate(lines):
        first = abs(line.segments[0].x0 - lefts[0]) <= SAME_LEFT
        begins = loose[index - 1] if any(loose) and not all(loose) and not apart else first
        if not index or (begins and (first or loose[index - 1])):
            rows.append([""] * len(lefts))
        for segment in line.segments:
            column = _column(segment, lefts)
            rows[-1][column] = f"{rows[-1][column]} {segment.text}".strip()
    return rows
