"""Writers of small office files: workbooks, Word files and presentations whose every part is known."""

import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from openpyxl import Workbook

Write = Callable[[Path], Path]
Change = Callable[[Any], object]

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_STRICT = {
    f"http://schemas.openxmlformats.org/{kind}/2006/": f"http://purl.oclc.org/ooxml/{kind}/"
    for kind in ("wordprocessingml", "spreadsheetml", "presentationml", "drawingml", "officeDocument")
}


def data_file(name: str, data: bytes) -> Write:
    """A file of these bytes."""

    def write(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return write


def workbook(
    name: str, rows: Iterable[Sequence[object]], change: Change | None = None, *,
    title: str = "Sheet", replaced: Mapping[bytes, bytes] | None = None, strict: bool = False,
) -> Write:  # fmt: skip
    """A workbook of one sheet of these rows; `change` works on the sheet, `replaced` on its parts as bytes."""

    def write(folder: Path) -> Path:
        book = Workbook()
        sheet = book.active
        sheet.title = title
        for row in rows:
            sheet.append(list(row))
        if change:
            change(sheet)
        raw = BytesIO()
        book.save(raw)
        with zipfile.ZipFile(raw) as old, zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as new:
            for part in old.infolist():
                data = old.read(part)
                for before, after in (replaced or {}).items():
                    data = data.replace(before, after)
                new.writestr(part.filename, _strict(data) if strict else data)
        return folder / name

    return write


def merged(*ranges: str) -> Change:
    """Merges cells of a sheet."""
    return lambda sheet: [sheet.merge_cells(one) for one in ranges]


def formats(**codes: str) -> Change:
    """Sets the formats of cells by name."""
    return lambda sheet: [setattr(sheet[cell], "number_format", code) for cell, code in codes.items()]


def _strict(data: bytes) -> bytes:
    for before, after in _STRICT.items():
        data = data.replace(before.encode(), after.encode())
    return data
