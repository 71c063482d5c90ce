"""CSV and TSV: every row a line with its column names, read as a stream."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from cragraph.errors import DocumentError
from cragraph.retrieval.documents.clean import encoding_of
from cragraph.retrieval.documents.document import Draft
from cragraph.retrieval.documents.records import record_drafts, value_of
from cragraph.retrieval.documents.tables import is_number, is_year

CELL_LIMIT: Final = 16 << 20
"""Characters in one cell at most; more means a quote that is never closed."""

_DELIMITERS = ",;\t|"


def read(path: Path) -> Iterator[Draft]:
    """Rows in groups, or each row a draft where a column holds text (see `records`); cells are read as values."""
    # The limit of the csv module is one for the whole process, so it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), CELL_LIMIT))
    with path.open(encoding=encoding_of(path), errors="replace", newline="") as file:
        sample = file.read(1 << 16)
        file.seek(0)
        reader = csv.reader((line.replace("\0", "") for line in file), delimiter=delimiter_of(path, sample))
        try:
            yield from record_drafts(_records(reader), value_of)
        except csv.Error as error:
            raise DocumentError(
                f"{path} breaks off at line {reader.line_num} ({error}); look for a quote that is not closed there."
            ) from error


def delimiter_of(path: Path, sample: str) -> str:
    """What parts the cells: a tab for .tsv, else the sign that cuts the first lines into equal rows."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    try:
        return csv.Sniffer().sniff(sample[:8192], delimiters=_DELIMITERS).delimiter
    except csv.Error:
        first = sample.split("\n", 1)[0]
        return max(_DELIMITERS, key=first.count)


def _records(rows: Iterator[list[str]]) -> Iterator[Mapping[str, Any]]:
    filled = (row for row in rows if any(cell.strip() for cell in row))
    first = next(filled, None)
    if first is None:
        return
    second = next(filled, None)
    rest = filled if second is None else chain([second], filled)
    if second is None or not _is_header(first):
        rest = chain([first], rest)
        names: Sequence[str] = [f"column {number}" for number in range(1, len(first) + 1)]
    else:
        names = [name.strip() for name in first]
    for row in rest:
        yield {_name(names, column): cell for column, cell in enumerate(row)}


def _is_header(row: Sequence[str]) -> bool:
    """Whether a first row names the columns: all different, none an amount (years are names)."""
    cells = [cell.strip() for cell in row if cell.strip()]
    distinct = len(set(cells)) == len(cells)
    return distinct and not any(is_number(cell) and not is_year(cell) for cell in cells)


def _name(names: Sequence[str], column: int) -> str:
    return names[column] if column < len(names) else f"column {column + 1}"
