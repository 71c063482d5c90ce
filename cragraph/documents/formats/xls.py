"""Old workbooks (.xls, .xlsb): every row of a sheet with the names of its columns, as calamine reads it."""

import datetime as dt
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from cragraph.documents.cell_format import plain
from cragraph.documents.clean import Limits
from cragraph.documents.document import Draft, Heading
from cragraph.documents.records import Scalar
from cragraph.documents.sheets import Merged, SheetRow, merged_rows, sheet_drafts
from cragraph.errors import DocumentError


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """Rows in groups, or each row a draft where a column holds text; hidden sheets are left out."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

    try:
        with closing(CalamineWorkbook.from_path(path)) as book:
            for about in book.sheets_metadata:
                if about.visible == SheetVisibleEnum.Visible and about.typ == SheetTypeEnum.WorkSheet:
                    yield from _drafts(book.get_sheet_by_name(about.name), limits)
    except PasswordError as error:
        raise DocumentError("is protected by a password; save it without one.") from error
    except CalamineError as error:
        raise DocumentError(f"is no workbook, or is cut short ({error}); save it as .xlsx.") from error


def _drafts(sheet: Any, limits: Limits) -> Iterator[Draft]:
    first = sheet.start or (0, 0)
    merges = [
        Merged(top + 1, left, bottom + 1, right) for (top, left), (bottom, right) in sheet.merged_cell_ranges or ()
    ]
    cells = (
        SheetRow(number, {c: v for c, value in enumerate(row, first[1]) if (v := _value(value)) is not None})
        for number, row in enumerate(sheet.to_python(skip_empty_area=True), first[0] + 1)
    )
    for draft in sheet_drafts(merged_rows(cells, merges), limits):
        yield replace(draft, headings=(Heading(0, 1, sheet.name), *draft.headings))


def _value(value: Any) -> Scalar | None:
    if isinstance(value, dt.timedelta):
        minutes, second = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02d}" + (f":{second:02d}" if second else "")
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "minutes").removesuffix(" 00:00")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat() if isinstance(value, dt.date) else value.isoformat("minutes")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value if isinstance(value, bool) else str(value).strip() or None
    return plain(value)
