"""Workbooks: every row of a sheet with the names of its columns, under the sheet's name; read as a stream."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from cragraph.documents.clean import Limits
from cragraph.documents.document import Draft, Heading
from cragraph.documents.package import package
from cragraph.documents.records import Scalar, grouped, record_draft, row_of, text_field
from cragraph.documents.table_text import is_heading

Cells = list[Scalar | None]

_LINES_ABOVE = 5  # lines that may stand above a table; more are a list


class Record(NamedTuple):
    """A row by the names of its columns; `number` is that of the sheet, `caption` what stands above its table."""

    number: int
    caption: str
    values: dict[str, Scalar]


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """Rows in groups, or each row a draft where a column holds text; hidden sheets are left out.

    A formula counts as the value that it had when a program that calculates last saved the file.
    """
    from openpyxl import load_workbook  # takes a while, and few files need it

    with package(path, limits) as parts:
        for name in parts.related(parts.main(), "/sharedStrings", "/styles"):
            parts.bytes(name)  # openpyxl holds these whole, unlike the sheets
        stated = parts.properties()
        with closing(load_workbook(path, read_only=True, data_only=True)) as book:
            for sheet in book.worksheets:
                if sheet.sheet_state == "visible":
                    sheet.reset_dimensions()  # a file may say that its sheets are a million columns wide
                    rows = ((number, [_value(cell) for cell in row]) for number, row in enumerate(sheet.iter_rows(), 1))
                    for draft in _drafts(records(rows), limits):
                        headings = (Heading(0, 1, sheet.title), *draft.headings)
                        yield replace(draft, headings=headings, metadata={**stated, **draft.metadata})


def _drafts(given: Iterable[Record], limits: Limits) -> Iterator[Draft]:
    for caption, group in groupby(given, lambda record: record.caption):
        first = next(group)
        if body := text_field(first.values):
            drafts: Iterator[Draft] = (record_draft(record.values, body, limits) for record in chain([first], group))
        else:
            rows = ((record.number, row_of(record.values, limits)) for record in chain([first], group))
            drafts = grouped((row._replace(fields={**row.fields, "row": number}) for number, row in rows), limits)
        above = (Heading(0, 2, caption),) if caption else ()
        for draft in drafts:
            yield replace(draft, headings=(*above, *draft.headings))


def records(rows: Iterable[tuple[int, Cells]]) -> Iterator[Record]:
    """The filled rows of a sheet.

    A row that can only be headings, first of the sheet or after a blank row and with figures below, names the columns
    from there on. Lines of one cell right above it are the caption; anywhere else they are rows of their own.
    """
    names: Sequence[Any] = ()
    caption, above, fresh = "", list[tuple[int, Scalar]](), True
    for (number, row), (_, below) in pairwise(chain(rows, [(0, [])])):
        filled = [cell for cell in row if cell is not None]
        if fresh and len(filled) == 1 and len(above) < _LINES_ABOVE:
            above.append((number, filled[0]))
            if any(cell is not None for cell in below):
                continue
            row = []
        elif fresh and _names_columns(filled, below, known=bool(names)):
            names, caption = row, " · ".join(str(text) for _, text in above)
            above, fresh = [], False
            continue
        yield from (Record(at, caption, {"": text}) for at, text in above)
        values = {_name(names, column): cell for column, cell in enumerate(row) if cell is not None}
        if values:
            yield Record(number, caption, values)
        above, fresh = [], not values


def _names_columns(filled: Sequence[Scalar], below: Cells, *, known: bool) -> bool:
    words = [str(cell) for cell in filled]
    figures = any(isinstance(cell, int | float) for cell in below)
    under = figures or (not known and any(cell is not None for cell in below))
    return under and len(set(words)) == len(words) > 1 and is_heading(words)


def _name(names: Sequence[Any], column: int) -> str:
    name = names[column] if column < len(names) else None
    return str(name) if name is not None else "" if not column else f"column {column + 1}"


def _value(cell: Any) -> Scalar | None:
    """A cell as it is shown where that says more (a day, a share), figures without the noise of binary fractions."""
    value = cell.value
    if value is None or cell.data_type == "e":
        return None
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ", "seconds")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value if isinstance(value, bool) else str(value).strip() or None
    if "%" in cell.number_format:
        return f"{value * 100:.10g}%"
    return int(value) if abs(value) < 1e15 and value == int(value) else float(f"{value:.15g}")
