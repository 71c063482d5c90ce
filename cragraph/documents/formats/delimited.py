"""CSV and TSV, read as a stream: every row becomes a line with its column names."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from cragraph.documents.clean import Limits, encoding_of
from cragraph.documents.document import Draft
from cragraph.documents.records import value_of
from cragraph.documents.sheets import SheetRow, sheet_drafts
from cragraph.errors import DocumentError

CELL_LIMIT: Final = 16 << 20  # characters of a cell at most; a longer one has a quote that is never closed
_DELIMITERS: Final = "\t;|,"
_SAMPLE: Final = 1 << 16
_SEPARATOR: Final = re.compile(r"\ufeff?\"?sep=(.)\"?\r?\n", re.I)
_SURELY_COMMA: Final = re.compile(r"\d+,(?:\d{1,2}|\d{4,})|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}")
_SURELY_POINT: Final = re.compile(r"\d+\.(?:\d{1,2}|\d{4,})|0\.\d+|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,}")
_EITHER: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")
_FIGURE: Final = re.compile(r"(\D{0,4}?)(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d+))?(\D{0,12})")


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """Rows in groups, or each row a draft where a column holds text (see `records`); cells are read as values.

    In a file with decimal commas (1.250,50) figures are rewritten with a point (1250.50).
    """
    # The csv module has one limit for the whole process, so it is only raised.
    csv.field_size_limit(max(csv.field_size_limit(), CELL_LIMIT))
    with path.open(encoding=encoding_of(path), errors="replace", newline="") as file:
        sample = file.read(_SAMPLE)
        stated = _SEPARATOR.match(sample)
        delimiter = stated[1] if stated else delimiter_of(path, sample)
        file.seek(0)
        lines = islice(file, 1, None) if stated else file
        first = list(csv.reader(sample[stated.end() if stated else 0 :].split("\n"), delimiter=delimiter))
        comma, doubtful = _decimals(first, delimiter)
        rows = (
            SheetRow(number, {column: _written(cell, comma) for column, cell in enumerate(row) if cell.strip()})
            for number, row in enumerate(_rows(lines, delimiter, limits), start=1)
        )
        told = (row._replace(doubtful=tuple(doubtful & row.cells.keys())) for row in rows) if doubtful else rows
        yield from sheet_drafts(told, limits, value_of, by_place=False)


def delimiter_of(path: Path, sample: str) -> str:
    """The delimiter: a tab for .tsv, else the sign that cuts most of the first lines into equally many cells."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    lines = sample.split("\n")[:100]

    def alike(delimiter: str) -> int:
        try:
            widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter))
        except csv.Error:
            return 0
        return max((count for width, count in widths.items() if width > 1), default=0)

    return max(_DELIMITERS, key=alike) if any(map(alike, _DELIMITERS)) else ","


def _decimals(rows: Sequence[Sequence[str]], delimiter: str) -> tuple[bool, set[int]]:
    """Whether the file has decimal commas, and the columns for which this is not certain."""
    figures = [(c, m[0]) for row in rows for c, cell in enumerate(row) if (m := re.search(r"\d[\d.,]*(?=\D*$)", cell))]
    comma = any(_SURELY_COMMA.fullmatch(figure) for _, figure in figures)
    point = any(_SURELY_POINT.fullmatch(figure) for _, figure in figures)
    either = {column for column, figure in figures if _EITHER.fullmatch(figure)}
    if comma or point or delimiter == "," or not either:
        return comma and not point, set()
    # Beside whole numbers below a thousand, 1.250 is a thousand and more: a column with decimals has them in all rows.
    whole = {column for column, figure in figures if column in either and figure.isdecimal()}
    return bool(whole), set() if whole else either


def _written(cell: str, comma: bool) -> str:
    """A cell; in a file with decimal commas, its figure is rewritten with a point."""
    cell = cell.strip()
    if not comma or not (match := _FIGURE.fullmatch(cell)):
        return cell
    before, whole, decimals, after = match.groups()
    return f"{before}{whole.replace('.', '')}{f'.{decimals}' if decimals else ''}{after}"


def _rows(lines: Iterable[str], delimiter: str, limits: Limits) -> Iterator[list[str]]:
    """Rows of cells; an unclosed quote is an error at the line where it opens."""
    taken: list[str] = []
    ended = False

    def kept() -> Iterator[str]:
        nonlocal ended
        for line in lines:
            taken.append(line.replace("\0", ""))
            yield taken[-1]
        ended = True

    reader = csv.reader(kept(), delimiter=delimiter)
    opens = 1
    try:
        for row in reader:
            if ended:
                raise csv.Error("the file ends inside a quoted cell")
            if len(taken) > 1:
                # An unclosed quote has swallowed rows: a row over several lines that a strict reader would refuse.
                list(csv.reader(taken, delimiter=delimiter, strict=True))
            limits.check("fields", len(row), "columns")
            yield row
            taken.clear()
            opens = reader.line_num + 1
    except csv.Error as error:
        raise DocumentError(
            f"breaks off at line {opens} ({error}); look for a quote that is not closed there."
        ) from error
