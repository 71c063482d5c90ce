"""Tables among the lines of a page, found by figures that stand below one another."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cragraph.retrieval.documents.pdf.grid import Cell, cells_of, columns_of, place
from cragraph.retrieval.documents.pdf.lines import Line
from cragraph.retrieval.documents.tables import Table, is_number, is_year

LONGEST_BREAK = 3
"""Lines without figures (labels of sections, wrapped labels) between two rows of one table at most."""

MOST_HEADERS = 4
"""Heading lines above the first row of figures at most."""

MOST_LABELS = 3
"""Lines with the label of a section between the headings and the first row of figures at most."""

_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?\s+\d{1,2},?$|^q[1-4]\b",
    re.IGNORECASE,
)
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
    for first, last in _bodies(lines, rows, left, right):
        start, end = _heading_lines(lines, rows, max(done, first - MOST_HEADERS - MOST_LABELS), first)
        table = _table(lines, rows, (start, end, last), [row for row in rows[first:last] if len(row) > 1])
        if table is not None:
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
            elif _is_prose(lines[probe], left, right) or (_is_heading_row(rows[probe])):
                break
            probe += 1
        if sum(_has_figures(row) for row in rows[index:end]) >= 2:
            yield index, end
        index = end


def _has_figures(row: Sequence[Cell]) -> bool:
    """Whether a line is a row of amounts: two cells or more, one after the first an amount and no period."""
    return len(row) > 1 and any(is_number(cell.text) and not is_period(cell.text) for cell in row[1:])


def is_period(text: str) -> bool:
    """Whether a cell names a year, a quarter or a date."""
    return is_year(text) or bool(_DATE.search(text) and not re.search(r"\d[.,]\d|[$%]", text))


def _is_heading_row(row: Sequence[Cell]) -> bool:
    """Whether a line inside a table begins the next one: several cells, all of them periods or words."""
    return len(row) > 2 or (len(row) == 2 and is_period(row[1].text))


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


def _table(
    lines: Sequence[Line], rows: Sequence[Sequence[Cell]], span: tuple[int, int, int], figures: Sequence[Sequence[Cell]]
) -> Table | None:
    """The lines `start..end` as headings and `end..last` as rows; None where they fall into one column."""
    start, end, last = span
    columns = columns_of(figures)
    if len(columns) < 2:
        return None
    body = _Body(columns)
    for line, row in zip(lines[end:last], rows[end:last], strict=True):
        body.add(line, row)
    head = [place(row, columns, spread=True) for row in rows[start:end]]
    return Table([*head, *body.rows()], headers=len(head))


class _Body:
    """Rows of a table as they come: labels that wrap are put together, a year that heads a section goes before each
    of its labels."""

    def __init__(self, columns: Sequence[tuple[float, float]]) -> None:
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
        if self._label and cells[0][:1].islower():
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
