"""CSV and TSV: every row a line with its column names, read as a stream."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from cragraph.documents.clean import Limits, encoding_of
from cragraph.documents.document import Draft
from cragraph.documents.records import record_drafts, value_of
from cragraph.documents.table_text import is_heading
from cragraph.errors import DocumentError

CELL_LIMIT: Final = 16 << 20  # characters in one cell at most; more means a quote that is never closed
_DELIMITERS = ",;\t|"


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """Rows in groups, or each row a draft where a column holds text (see `records`); cells are read as values."""
    # The limit of the csv module is one for the whole process, so it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), CELL_LIMIT))
    with path.open(encoding=encoding_of(path), errors="replace", newline="") as file:
        sample = file.read(1 << 16)
        file.seek(0)
        rows = _rows(file, delimiter_of(path, sample), limits)
        yield from record_drafts(_records(rows), limits, value_of)


def delimiter_of(path: Path, sample: str) -> str:
    """What parts the cells: a tab for .tsv, else the sign that cuts the first lines into equal rows."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    try:
        return csv.Sniffer().sniff(sample[:8192], delimiters=_DELIMITERS).delimiter
    except csv.Error:
        first = sample.split("\n", 1)[0]
        return max(_DELIMITERS, key=first.count)


def _rows(lines: Iterable[str], delimiter: str, limits: Limits) -> Iterator[list[str]]:
    """Rows of cells; a quote that is never closed, or only by a later one, is an error at the line where it opens."""
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
                # A row over several lines that another reader would refuse has swallowed rows.
                list(csv.reader(taken, delimiter=delimiter, strict=True))
            limits.check("fields", len(row), "columns")
            yield row
            taken.clear()
            opens = reader.line_num + 1
    except csv.Error as error:
        raise DocumentError(
            f"breaks off at line {opens} ({error}); look for a quote that is not closed there."
        ) from error


def _records(rows: Iterator[list[str]]) -> Iterator[Mapping[str, Any]]:
    filled = (row for row in rows if any(cell.strip() for cell in row))
    start = list(islice(filled, 2))
    cells = [cell.strip() for cell in start[0] if cell.strip()] if start else []
    names = start.pop(0) if len(start) > 1 and is_heading(cells) and len(set(cells)) == len(cells) else []
    for row in chain(start, filled):
        yield {_name(names, column): cell for column, cell in enumerate(row)}


def _name(names: Sequence[str], column: int) -> str:
    name = names[column].strip() if column < len(names) else ""
    return name if name or (names and not column) else f"column {column + 1}"
