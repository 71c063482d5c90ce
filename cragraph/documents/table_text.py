"""Tables as lines of text, each cell with the heading of its column: `Revenue | 2023: 394 | 2022: 383`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cragraph.language.cells import SEPARATOR, Span, written
from cragraph.language.lexicon import YEAR
from cragraph.language.markers import RAISED

_NUMBER = re.compile(rf"^[\s$€£¥(+\-–—~<>≈]*[\d.,'’ ]*\d[\d.,'’ ]*[)%\s‰xX]*(?:\s?{RAISED})*$")
_DASH = frozenset({"-", "–", "—", "n/a", "N/A", "*", "nm", "NM"})
SIGNS = frozenset({"$", "€", "£", "¥", "US$", "C$", "A$", "(", "$("})
TAILS = frozenset({")", "%", ")%", "%)"})
_AMOUNT = frozenset("0123456789(.-–—")
_DATE = re.compile(rf"^[A-Z][a-z]{{2,8}}\.?\s+\d{{1,2}},?\s+({YEAR})$")
_YEAR = re.compile(rf"^(FY\s?)?{YEAR}[*†‡¹²³⁰-⁹⁽⁾]*$|^Q[1-4]\b")
_NAMED = re.compile(
    rf"\b{YEAR}\b|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?\s+\d{{1,2}},?$|^q[1-4]\b", re.I
)
_MONEY = re.compile(r"\d[.,]\d|[$%]")


@dataclass(frozen=True)
class TextTable:
    """Cells by row; the first `headers` rows are headings; `names` are the headings of an earlier part of the table."""

    rows: Sequence[Sequence[str]]
    headers: int = 0
    caption: str = ""
    names: Sequence[str] = ()


def is_number(cell: str) -> bool:
    """Whether a cell holds an amount, a percentage, or a dash for no amount."""
    cell = cell.strip()
    return cell in _DASH or bool(_NUMBER.match(cell))


def is_year(cell: str) -> bool:
    """Whether a cell is a year: a heading although it is a number."""
    return bool(_YEAR.match(cell.strip()))


def is_period(text: str) -> bool:
    """Whether a cell names a year, a quarter or a date."""
    return is_year(text) or bool(_NAMED.search(text) and not _MONEY.search(text))


def is_heading(row: Sequence[str]) -> bool:
    """Whether a row can name columns: it has words and no amounts (years do not count)."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return bool(cells) and not any(is_number(cell) and not is_year(cell) for cell in cells)


def table_of(grid: Sequence[Sequence[str]], marked: int = 0, caption: str = "") -> TextTable:
    """A table of the non-empty rows. The first `marked` rows are headings; else the first row if it can be one, and the
    second too if it divides the first row's names."""
    rows = [row for row in grid if any(row)]
    marked = sum(any(row) for row in grid[:marked]) or int(len(rows) > 1 and is_heading(rows[0]) and not _is_form(rows))
    return TextTable(rows, headers=2 if marked == 1 and _parts_first(rows) else marked, caption=caption)


def _is_form(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows are labels and values: of two columns, the second has figures in one row and words in another."""
    values = [row[1] for row in rows[1:] if len(row) == 2 and row[1]]
    figures = [any(map(str.isdigit, value)) for value in values]
    several = (len(value.split()) > 1 or "@" in value for value in values if not any(map(str.isdigit, value)))
    return {len(row) for row in rows} == {2} and any(figures) and any(several)


def _parts_first(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second row divides the names of the first: it has no figures, the third row has some, and cells of
    the first row span several columns or leave some without a name."""
    if len(rows) < 3 or not is_heading(rows[1]) or not any(map(is_number, rows[2])):
        return False
    top = [" ".join(cell.split()) for cell in rows[0]]
    named = [cell for cell in top[1:] if cell]
    spanned = any(a == b for a, b in pairwise(named))
    beside = any(not a and b for a, b in zip(top, rows[1], strict=False)) and any(
        a and not b for a, b in zip(top, rows[1], strict=False)
    )
    return len(named) > 0 and (spanned or beside)


def full_names(table: TextTable) -> list[str]:
    """One heading per column: its heading cells from top to bottom without repetitions."""
    parts: list[dict[str, None]] = [{} for _ in range(max(map(len, table.rows), default=0))]
    for row in table.rows[: table.headers]:
        for cell, part in zip(row, parts, strict=False):
            part[" ".join(cell.split())] = None
    return [" ".join(filter(None, part)) for part in parts]


def column_names(table: TextTable) -> list[str]:
    """The labels of cells: the lowest headings (years of dates) if they distinguish the columns, else the full
    headings."""
    if table.names:
        return list(table.names)
    full = full_names(table)
    lowest = [""] * len(full)
    for row in table.rows[: table.headers]:
        for column, cell in enumerate(row):
            lowest[column] = " ".join(cell.split()) or lowest[column]
    named = [name for name in lowest[1:] if name]
    if len(set(named)) < len(named):
        return full
    dates = [_DATE.match(name) for name in lowest[1:]]
    years = [date[1] for date in dates if date]
    return [lowest[0], *years] if years and len(set(years)) == len(dates) else lowest


def header_line(table: TextTable) -> str:
    """Caption and column headings on one line, as the header of the table's chunks."""
    names = SEPARATOR.join(name for name in table.names or full_names(table) if name)
    return SEPARATOR.join(part for part in (table.caption, names) if part)


def row_lines(table: TextTable, *, labelled: bool | None = None) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Lines of the table, each with the offsets of its cells; the heading line has none.

    With `labelled` the first column names the row and goes without its heading. None decides by the cells: the first
    column is a label if the other columns hold amounts, or if it has no heading.
    """
    names = column_names(table)
    body = table.rows[table.headers :]
    head = header_line(table)
    if head and not table.names:
        yield head, ()
    if labelled is None:
        others = [cell for row in body for cell in row[1:] if cell.strip()]
        labelled = not names or not names[0] or sum(map(is_number, others)) * 2 > len(others) > 0
    for row in body:
        yield row_line(row, names, bare_first=labelled)


def row_line(row: Sequence[str], names: Sequence[str], *, bare_first: bool) -> tuple[str, tuple[Span, ...]]:
    """One row, `label | name: cell | name: cell`; signs in separate cells are joined to their amounts."""
    given = [" ".join(cell.split()) for cell in row]
    for column, cell in enumerate(given):
        if cell in SIGNS and column + 1 < len(given) and given[column + 1][:1] in _AMOUNT:
            given[column + 1] = f"{cell}{given[column + 1]}"
            given[column] = ""
        elif cell in TAILS and column and given[column - 1]:
            given[column - 1] += cell
            given[column] = ""
    named = [names[column] if column < len(names) else "" for column in range(len(given))]
    cells = enumerate(zip(named, given, strict=True))
    return written((name, cell, name == cell or (n == 0 and bare_first)) for n, (name, cell) in cells if cell)
