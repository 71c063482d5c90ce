"""Tables as lines of text, each cell with the heading of its column: `Revenue | 2023: 394 | 2022: 383`."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from cragraph.language.cells import SEPARATOR, Span, day_of, written
from cragraph.language.lexicon import YEAR
from cragraph.language.markers import RAISED

_NUMBER = re.compile(rf"^[\s$€£¥(+\-–—~<>≈]*[\d.,'’ ]*\d[\d.,'’ ]*[)%\s‰xX]*(?:\s?{RAISED})*$")
_DASH = frozenset({"-", "–", "—", "n/a", "N/A", "*", "nm", "NM"})
SIGNS = frozenset({"$", "€", "£", "¥", "US$", "C$", "A$", "(", "$("})
TAILS = frozenset({")", "%", ")%", "%)"})
_AMOUNT = frozenset("0123456789(.-–—")
_DATE = re.compile(rf"^[A-Z][a-z]{{2,8}}\.?\s+\d{{1,2}},?\s+({YEAR})$")
_YEAR = re.compile(rf"^(?:FY\s?|[£$€]\s)?{YEAR}[*†‡¹²³⁰-⁹⁽⁾]*$|^Q[1-4]\b")
_NAMED = re.compile(
    rf"\b{YEAR}\b|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\.?\s+\d{{1,2}},?$|^q[1-4]\b", re.I
)
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_MONEY = re.compile(r"\d[.,]\d|[$%]")
_TO_FILL_IN = re.compile(r"[_\s]{2,}|[.…\s]{4,}")
_COUNTED = re.compile(r"^\(?\d{1,2}[a-z]?[.)]+\s|\s?\d{1,2}$")  # numbers of labels: 3. Street, Address 2
_VALUE = re.compile(r"[+(]?\d(?!\d*(?:st|nd|rd|th)\b)|\S+@\S|[$€£¥]\s?\d")
_SUM = re.compile(
    r"(?:grand |overall |sub-?)?(?:total|sum)\b|(?:zwischen|gesamt)?summe\b|gesamt\b"
    r"|(?:net (?:income|profit|loss|result)|result|balance|surplus|deficit|profit|saldo|ergebnis)\s*:?$", re.I
)  # fmt: skip
SECTIONED: Final = (
    "A text alone in its row, such as “{section}”, was read as the name of the rows below and not counted as a row."
)
TWO_READINGS: Final = "The cells of these rows may be labels and values in turn, or headings with values below them."


@dataclass(frozen=True)
class TextTable:
    """Cells by row; the first `headers` rows are headings; `names` are the headings of an earlier part of the table."""

    rows: Sequence[Sequence[str]]
    headers: int = 0
    caption: str = ""
    names: Sequence[str] = ()
    pairs: bool = False  # whether the cells of a row are labels and values in turn
    sections: Sequence[str] = ()  # for each row the text alone in a row above it; a row of such a text has its own
    doubts: Sequence[str] = ()
    of_figures: Sequence[str] = ()  # doubts about figures computed over its rows


def is_number(cell: str) -> bool:
    """Whether a cell holds an amount, a percentage, or a dash for no amount."""
    cell = cell.strip()
    return cell in _DASH or bool(_NUMBER.match(cell))


def is_year(cell: str) -> bool:
    """Whether a cell is a year: a heading although it is a number."""
    return bool(_YEAR.match(cell.strip()))


def is_value(text: str) -> bool:
    """Whether a text is a figure, a date, or begins as one: no heading and no label."""
    return not is_year(text) and (is_number(text) or bool(_VALUE.match(text.strip())))


def is_period(text: str) -> bool:
    """Whether a cell names a year, a quarter or a date."""
    return is_year(text) or bool(_NAMED.search(text) and not _MONEY.search(text))


def is_heading(row: Sequence[str]) -> bool:
    """Whether a row can name columns: it has words and no amounts (years do not count)."""
    cells = [cell.strip() for cell in row if cell.strip()]
    return bool(cells) and not any(is_number(cell) and not is_year(cell) for cell in cells)


def table_of(grid: Sequence[Sequence[str]], marked: int = 0, caption: str = "") -> TextTable:
    """A table of the non-empty rows. The first `marked` rows are headings; else the first row if it can be one, and the
    second too if it divides the first row's names. A single text above the headings is a caption."""
    grid = [["" if _TO_FILL_IN.fullmatch(cell) else cell for cell in row] for row in grid]
    rows = [row for row in grid if any(row)]
    marked = sum(any(row) for row in grid[:marked])
    if not marked and is_form(rows):
        return TextTable(rows, caption=caption, pairs=True, sections=_sections_of_form(rows))
    if len(rows) > 2 > marked and {*rows[0]} - {""} == {rows[0][0]} and len({*rows[1]}) > 2 and is_heading(rows[1]):
        caption, rows, marked = f"{caption} {rows[0][0]}".strip(), rows[1:], 0
    marked = marked or int(len(rows) > 1 and is_heading(rows[0]))
    if marked == 1 and (upper := _upper_headings(rows)):
        marked, rows[0] = 2, upper
    body = [*labels_first(rows[marked:])]
    unsure = marked == 1 == len(body) and len(rows[0]) == 4 and _may_be_pairs(rows)
    sections = [*[""] * marked, *sections_of(body)] if marked else ()
    return TextTable(
        [*rows[:marked], *body], marked, caption, sections=sections, doubts=(TWO_READINGS,) if unsure else ()
    )


def _is_alone(row: Sequence[str]) -> bool:
    """Whether a row of several columns has one text, in its first cell or across all."""
    return len(row) > 2 and bool(row[0]) and {*row} <= {row[0], ""}


def tables_of(grid: Sequence[Sequence[str]], marked: int = 0, caption: str = "") -> Iterator[TextTable]:
    """The table of a grid; or its parts, if texts alone in their rows divide it and a part is a form: then each part is
    a form or a table by itself."""
    rows = [row for row in grid if any(row)]
    parts: list[list[Sequence[str]]] = []
    for row in rows:
        if not parts or _is_alone(row):
            parts.append([])
        parts[-1].append(row)
    bodies = [part[1:] if _is_alone(part[0]) else part for part in parts]
    forms = [is_form(body) for body in bodies]
    if (
        marked
        or len(parts) < 2
        or is_form(rows)
        or not any(n and len(b) > 1 for n, b in zip(forms, bodies, strict=True))
    ):
        yield table_of(grid, marked, caption)
        return
    for part, body, is_one in zip(parts, bodies, forms, strict=True):
        if is_one or (body and body[0][0] and len({*body[0]}) == 2):  # a label and one value across the other columns
            yield TextTable(part, pairs=True, sections=[""] * len(part))
        else:
            yield table_of(part)


def table_of_tabs(lines: Sequence[str]) -> TextTable | None:
    """The table of lines with tabs between cells; None if lines have different numbers of cells or there are no
    headings."""
    for tabs in ("\t", "\t+"):
        grid = [[cell.strip() for cell in re.split(tabs, line.strip(" "))] for line in lines]
        if len({len(row) for row in grid}) == 1 and len(grid) > 1:
            columns = [column for column in zip(*grid, strict=True) if any(column)]
            table = table_of([*zip(*columns, strict=True)])
            return table if len(columns) > 1 and (table.headers or table.pairs) else None
    return None


def is_form(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows are labels and values in turn: most labels end in a colon, no value is filled in, or the values are
    none of a column of one kind under a heading."""
    width = max(map(len, rows), default=0)
    if width not in (2, 4, 6):
        return False
    firsts = (row for n, row in enumerate(rows) if not n or _is_alone(rows[n - 1]))
    if any(not row[0] and sum(map(bool, row)) > 2 for row in firsts):
        return False  # headings beside an empty corner
    lines = [_paired(row) for row in rows if width == 2 or sum(map(bool, row)) > 1]
    parts = accumulate(width > 2 and bool(row[0]) and not any(row[1:]) for row in rows)
    pairs = [(part, label) for part, row in zip(parts, rows, strict=True) for label, _ in _paired(row) if label]
    labels = [label for _, label in pairs]
    if len({*pairs}) < len(pairs) or any(map(is_number, labels)):
        return False
    if any(value.endswith(":") for _, value in lines[0]):
        return False  # two addresses side by side
    if 2 * sum(label.endswith(":") for label in labels) > len(labels):
        return True
    columns = [[line[n][1] for line in lines if n < len(line)] for n in range(width // 2)]
    mixed = all(len({_DIGIT.search(value) is None for value in column[1:] if value}) > 1 for column in columns)
    if width == 2:
        values = [value for value in columns[0][1:] if value and not _DIGIT.search(value)]
        return mixed and any(len(value.split()) > 1 or "@" in value for value in values)
    if len(lines) < 2 or any(_DIGIT.search(_COUNTED.sub("", label)) for label in labels):
        return False
    return mixed or not any(map(any, columns)) or _are_values(columns)


def _paired(row: Sequence[str]) -> list[tuple[str, str]]:
    """The labels and values of a row, a merged cell once."""
    cells = [cell for n, cell in enumerate(row) if not (n and cell and cell == row[n - 1])]
    return [*zip(cells[::2], [*cells[1::2], ""], strict=False)]


def _are_values(columns: Sequence[Sequence[str]]) -> bool:
    """Whether the first cells of columns are values like the cells below them, and no headings of amounts."""
    amounts = [any(column[1:]) and all(map(_is_amount, filter(None, column[1:]))) for column in columns]
    firsts = [column[0] if column else "" for column in columns]
    if all(amounts) or any(is_all and not _VALUE.match(first) for is_all, first in zip(amounts, firsts, strict=True)):
        return False
    if any(is_all and _is_amount(first) for is_all, first in zip(amounts, firsts, strict=True)):
        return False  # records without headings
    return any(map(is_value, firsts))


def _is_amount(cell: str) -> bool:
    return bool(_DIGIT.search(cell)) and not _LETTER.search(cell) and not day_of(cell)


def _may_be_pairs(rows: Sequence[Sequence[str]]) -> bool:
    """Whether cells are all words, each another: nothing in them tells headings from values."""
    cells = [cell for row in rows for cell in row]
    return all(cells) and len({*cells}) == len(cells) and not any(map(_DIGIT.search, cells))


def pairs_of(row: Sequence[str]) -> list[tuple[str, str]]:
    """The labels and values of a row of a form."""
    return [(label.rstrip(" :"), value) for label, value in _paired(row) if label or value]


def _sections_of_form(rows: Sequence[Sequence[str]]) -> list[str]:
    """For each row of a form the text alone in a row above it, if a label stands in several rows; else empty."""
    labels = [label for row in rows for label, value in _paired(row) if label and value]
    section, found = "", list[str]()
    for row in rows:
        section = section if any(row[1:]) else row[0]
        found.append(section if len({*labels}) < len(labels) else "")
    return found


def sections_of(rows: Sequence[Sequence[str]], narrowest: int = 3) -> list[str]:
    """For each row the section it belongs to; empty for none. The rows are all below the headings
    and have cells for `narrowest` columns at least.

    A section is a first cell alone in its row. The first row is one, and at least another; rows follow each.
    """
    alone = [len(row) >= narrowest and bool(row[0]) and not any(row[1:]) and not is_number(row[0]) for row in rows]
    if not alone or not alone[0] or sum(alone) < 2 or alone[-1] or any(a and b for a, b in pairwise(alone)):
        return [""] * len(rows)
    found, sums, section, closed = list[str](), set[str](), "", False
    for n, row in enumerate(rows):
        if alone[n]:
            section, closed = row[0], False
        own = section
        if is_sum(row[0]):
            own, closed = in_section(row[0], section, sums, closed=closed, last=alone[n + 1 : n + 2] == [True]), True
        found.append("" if closed and not is_sum(row[0]) else own)
    return found


def is_sum(label: str) -> bool:
    """Whether a row's label names a sum."""
    return bool(_SUM.match(label.strip()))


def in_section(label: str, section: str, sums: set[str], *, closed: bool, last: bool) -> str:
    """The section of a sum, empty for the sum of all sections.

    The first sum of a section is its own if the next section follows it, or if an earlier section had one with the same
    label; these are gathered in `sums`.
    """
    if closed or not (last or label.casefold() in sums):
        return ""
    sums.add(label.casefold())
    return section


def labels_first(rows: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The rows; if the label of a sum stands in a column of figures left of the sum, it is moved to the first
    column."""
    whole = next((row for row in rows if row[0]), [])
    for row in rows:
        first = next(n for n, cell in enumerate(row) if cell)
        beside = first and first < len(whole) and is_number(whole[first]) and not is_number(row[first])
        yield [row[first], *[""] * first, *row[first + 1 :]] if beside else row


def _upper_headings(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first row's headings over the second's, if it divides them: it has no figures, the third row has some, and
    cells of the first span columns or leave some without a name. Else empty."""
    if len(rows) < 3 or not is_heading(rows[1]) or not any(map(is_number, rows[2])):
        return []
    top = [" ".join(cell.split()) for cell in rows[0]]
    pairs = [*zip(top, rows[1], strict=False)]
    bare = any(not a and b for a, b in pairs) and (top[0] == rows[1][0] or any(a and not b for a, b in pairs))
    named = [cell for cell in top[1:] if cell]
    if not named or not (bare or any(a == b for a, b in pairwise(named))):
        return []
    for column in range(2, min(len(top), len(rows[1]))):
        top[column] = top[column] or (top[column - 1] if rows[1][column] else "")
    return top


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
    if table.pairs:
        for row, section in zip(table.rows, table.sections, strict=True):
            pairs = [*pairs_of(row), *([("Section", section)] if section and any(row[1:]) else [])]
            yield written((label, value or label, not value) for label, value in pairs)
        return
    names = column_names(table)
    body = table.rows[table.headers :]
    head = header_line(table)
    if head and not table.names:
        yield head, ()
    if labelled is None:
        others = [cell for row in body for cell in row[1:] if cell.strip()]
        labelled = not names or not names[0] or sum(map(is_number, others)) * 2 > len(others) > 0
    sections = table.sections[table.headers :] or [""] * len(body)
    for row, section in zip(body, sections, strict=True):
        if section == row[0] and not any(row[1:]):
            yield " ".join(section.split()), ()
            continue
        own = [*row, *[""] * (len(names) - len(row)), section] if section else row
        yield row_line(own, [*names, section_name(names)], bare_first=labelled)


def section_name(names: Collection[str]) -> str:
    """The name of the column of sections in a table with these columns."""
    return next(name for name in ("Section", "Section of the table", "") if name not in names)


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
