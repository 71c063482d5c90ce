"""Tables among the lines of a page, found by figures that stand below one another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cragraph.retrieval.documents.pdf.grid import Cell, Columns, cells_of, columns_of, place, same_columns
from cragraph.retrieval.documents.pdf.heads import head_of, is_period
from cragraph.retrieval.documents.pdf.lines import Line
from cragraph.retrieval.documents.tables import Table, column_names, is_number, is_year

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


def tables_in(lines: Sequence[Line]) -> Iterator[Span]:
    """The tables among lines in order; lines of prose between them are left out."""
    rows = [cells_of(line) for line in lines]
    right = max((line.x1 for line in lines), default=0.0)
    left = min((line.x0 for line in lines), default=0.0)
    done = 0
    above: tuple[Columns, list[str]] = ([], [])
    for first, last in _bodies(lines, rows, left, right):
        start, end = _heading_lines(lines, rows, max(done, first - MOST_HEADERS - MOST_LABELS), first)
        columns = columns_of([row for row in rows[first:last] if len(row) > 1])
        if len(columns) < 2:
            continue
        head = head_of(rows[start:end], columns)
        table = Table([*head, *_body(lines[end:last], rows[end:last], columns)], headers=len(head))
        if head:
            above = columns, column_names(table)
        elif same_columns(columns, above[0]):
            table = replace(table, names=above[1])
        yield Span(start, last, table)
        done = last


def _bodies(
    lines: Sequence[Line], rows: Sequence[Sequence[Cell]], left: float, right: float
) -> Iterator[tuple[int, int]]:
    """Runs from the first to the last line with figures in columns."""
    index = 0
    while index < len(lines):
        if not _has_figures(rows[index]):
            index += 1
            continue
        end = index + 1
        probe = end
        while probe < len(lines) and probe - end < LONGEST_BREAK:
            if _has_figures(rows[probe]):
                end = probe + 1
            elif _is_heading_row(rows[probe]) or (
                _is_prose(lines[probe], left, right) and not _wraps(lines, rows, probe)
            ):
                break
            probe += 1
        if sum(_has_figures(row) for row in rows[index:end]) >= 2:
            yield index, end
        index = end


def _has_figures(row: Sequence[Cell]) -> bool:
    """Whether a line is a row of amounts: two cells or more, one after the first an amount and no period."""
    return len(row) > 1 and any(is_number(cell.text) and not is_period(cell.text) for cell in row[1:])


def _is_heading_row(row: Sequence[Cell]) -> bool:
    """Whether a line inside a table begins the next one: several cells, all of them periods or words."""
    return len(row) > 2 or (len(row) == 2 and is_period(row[1].text))


def _wraps(lines: Sequence[Line], rows: Sequence[Sequence[Cell]], index: int) -> bool:
    """Whether a line is the beginning of a label that ends in the next one, beside the figures."""
    following = index + 1
    return following < len(rows) and _has_figures(rows[following]) and not _SENTENCE_END.search(lines[index].text)


def _is_prose(line: Line, left: float, right: float) -> bool:
    full = line.x1 - line.x0 > 0.75 * (right - left)
    return len(line.segments) == 1 and (full or len(line.text) > 90)


def _heading_lines(lines: Sequence[Line], rows: Sequence[Sequence[Cell]], lowest: int, first: int) -> tuple[int, int]:
    """The heading lines `[start, end)` above a body: several cells, or words over its amounts.

    Labels of sections (`Assets`) may stand between them and the first figures; with no heading above them, they are
    not taken for part of the table.
    """
    amounts = (
        min(cell.x0 for row in rows[first : first + 3] if len(row) > 1 for cell in row[1:]) - 3 * lines[first].height
    )
    end = first
    while end > max(lowest, first - MOST_LABELS) and _is_label(lines, rows, end - 1):
        end -= 1
    for below in (first, end):
        start = below
        while start > max(lowest, below - MOST_HEADERS) and _is_heading(lines, rows, start - 1, amounts):
            start -= 1
        if start < below:
            return start, below
    return first, first


def _is_label(lines: Sequence[Line], rows: Sequence[Sequence[Cell]], index: int) -> bool:
    line = lines[index]
    near = lines[index + 1].top - line.bottom < 1.5 * line.height
    return near and len(rows[index]) == 1 and len(line.text) < 60 and not _SENTENCE_END.search(line.text)


def _is_heading(lines: Sequence[Line], rows: Sequence[Sequence[Cell]], index: int, amounts: float) -> bool:
    row, line = rows[index], lines[index]
    if _has_figures(row) or _SENTENCE_END.search(line.text):
        return False
    if lines[index + 1].top - line.bottom > 1.5 * line.height:
        return False
    return len(row) > 1 or row[0].x0 > amounts


def _body(lines: Sequence[Line], rows: Sequence[Sequence[Cell]], columns: Columns) -> list[list[str]]:
    body = _Body(columns)
    for line, row in zip(lines, rows, strict=True):
        body.add(line, row)
    return body.rows()


class _Body:
    """Rows of a table as they come: labels that wrap are put together, a year that heads a section goes before each
    of its labels."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._rows: list[list[str]] = []
        self._period = ""
        self._label = ""

    def add(self, line: Line, row: Sequence[Cell]) -> None:
        """Take the next line."""
        if len(row) == 1 and not is_number(row[0].text):
            self._flush()
            self._label = line.text
            return
        if len(row) == 1 and is_year(row[0].text):
            self._flush()
            self._period = row[0].text
            return
        cells = place(row, self._columns)
        if self._label and (cells[0][:1].islower() or cells[0][:1] in "$€£0123456789" or self._label[-1] in ",-"):
            cells[0] = f"{self._label} {cells[0]}"
            self._label = ""
        self._flush()
        if self._period and cells[0]:
            cells[0] = f"{self._period} {cells[0]}"
        self._rows.append(cells)

    def rows(self) -> list[list[str]]:
        """All rows."""
        self._flush()
        return self._rows

    def _flush(self) -> None:
        if self._label:
            self._rows.append([self._label])
        self._label = ""
