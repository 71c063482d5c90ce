"""The heading lines of a table, laid over its columns."""

import re
from collections.abc import Sequence

from cragraph.retrieval.documents.pdf.grid import Cell, Columns, place
from cragraph.retrieval.documents.tables import is_year

_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?\s+\d{1,2},?$|^q[1-4]\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"\d[.,]\d|[$%]")


def is_period(text: str) -> bool:
    """Whether a cell names a year, a quarter or a date."""
    return is_year(text) or bool(_DATE.search(text) and not _AMOUNT.search(text))


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
    return [" ".join(labels), *(_nearest(over, (left + right) / 2).text for left, right in columns[1:])]


def _nearest(cells: Sequence[Cell], middle: float) -> Cell:
    return min(cells, key=lambda cell: abs((cell.x0 + cell.x1) / 2 - middle))
