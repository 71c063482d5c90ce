"""Workbooks: every row of a sheet with the names of its columns, under the sheet's name; read as a stream."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

from lxml import etree

from cragraph.documents.cell_format import BUILT_IN, shown
from cragraph.documents.clean import Limits
from cragraph.documents.document import Draft, Heading
from cragraph.documents.package import Package, package
from cragraph.documents.records import Record, Scalar, grouped
from cragraph.documents.sheets import Merged, SheetRow, merged_rows, sheet_drafts
from cragraph.documents.signs import raised
from cragraph.errors import DocumentError

_MERGE: Final = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]{0,200}?ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_ID: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_PIECE: Final = 1 << 20


class _CellStyle(NamedTuple):
    """The style of a cell: its number format, and whether it is struck through."""

    code: str = ""
    struck: bool = False


_PLAIN: Final = _CellStyle()


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """Rows in groups, or each row a draft where a column holds text; hidden sheets are left out.

    A formula counts as the value that it had when a program that calculates last saved the file.
    """
    with package(path, limits) as parts:
        book = _Book(parts, limits)
        found = False
        for draft in book.drafts():
            found = True
            yield draft
        if not found and book.uncalculated:
            raise DocumentError(
                "holds only formulas that no program has calculated; open it in a spreadsheet program, save it, and "
                "ingest it again."
            )


class _Book:
    def __init__(self, parts: Package, limits: Limits) -> None:
        self._parts, self._limits = parts, limits
        self._main = parts.main()
        self._texts = [t for name in parts.related(self._main, "/sharedStrings") for t in self._shared(name)]
        styles = [style for name in parts.related(self._main, "/styles") for style in _styles(parts.xml(name))]
        self._styles = {str(number): style for number, style in enumerate(styles)}
        self._from_1904 = False
        self.uncalculated = False

    def drafts(self) -> Iterator[Draft]:
        stated, book = self._parts.properties(), self._parts.xml(self._main)
        dates = book.find("{*}workbookPr")
        self._from_1904 = dates is not None and dates.get("date1904") in ("1", "true")
        relations = self._parts.relations(self._main)
        for sheet in book.iterfind("{*}sheets/{*}sheet"):
            kind, name = relations[sheet.get(_ID, "")]
            if sheet.get("state", "visible") == "visible" and kind.endswith("/worksheet"):
                rows = merged_rows(self._rows(name), self._merges(name))
                for draft in chain(sheet_drafts(rows, self._limits), self._notes(name)):
                    headings = (Heading(0, 1, sheet.get("name", "")), *draft.headings)
                    yield replace(draft, headings=headings, metadata={**stated, **draft.metadata})

    def _rows(self, name: str) -> Iterator[SheetRow]:
        """The filled rows of a sheet, as a stream."""
        number = 0
        with self._parts.open(name) as stream:
            for _, row in etree.iterparse(stream, tag="{*}row", huge_tree=True, resolve_entities=False):
                stated = row.get("r", "")
                number = int(stated) if stated.isdecimal() and len(stated) < 8 else number + 1
                yield self._row(row, number)
                row.clear()
                while row.getprevious() is not None:
                    del row.getparent()[0]

    def _row(self, row: Any, number: int) -> SheetRow:
        cells: dict[int, Scalar] = {}
        missing, faulty = list[int](), list[int]()
        column, space = -1, row.tag[: -len("row")]
        stands, calculated = f"{space}v", f"{space}f"
        for cell in row.iterchildren(f"{space}c"):
            place, kind = cell.get("r"), cell.get("t", "n")
            column = column_of(place) if place else column + 1
            value = cell.findtext(stands) or ""
            if kind == "e":
                faulty.append(column)
            elif value or kind == "inlineStr":
                if (read := self._value(cell, kind, value)) is not None:
                    cells[column] = read
            elif kind != "str" and cell.find(calculated) is not None:
                missing.append(column)
        self.uncalculated |= bool(missing)
        return SheetRow(number, cells, missing=tuple(missing), faulty=tuple(faulty))

    def _value(self, cell: Any, kind: str, value: str) -> Scalar | None:
        style = self._styles.get(cell.get("s", "0"), _PLAIN)
        if style.struck:
            return None
        if kind == "n":
            try:
                return shown(float(value), style.code, from_1904=self._from_1904)
            except (ValueError, OverflowError):
                return value
        if kind == "s":
            return (self._texts[int(value)] if value.isdecimal() and int(value) < len(self._texts) else "") or None
        if kind == "inlineStr":
            return _text(cell.find("{*}is")) or None
        if kind == "b":
            return value.strip() in ("1", "true")
        if kind == "d":
            return value.replace("T", " ").removesuffix(" 00:00:00").strip() or None
        return value.strip() or None

    def _merges(self, name: str) -> Iterator[Merged]:
        """The merged cells, which stand behind the rows in the file: found without parsing the rows into a tree."""
        kept = b""
        with self._parts.open(name) as stream:
            while piece := stream.read(_PIECE):
                kept += piece
                end = 0
                for match in _MERGE.finditer(kept):
                    first, top, last, bottom = (part.decode() for part in match.groups())
                    yield Merged(int(top), column_of(first), int(bottom), column_of(last))
                    end = match.end()
                kept = kept[max(end, len(kept) - 300) :]

    def _notes(self, name: str) -> Iterator[Draft]:
        """The notes on cells, each with the name of its cell."""
        notes = [
            f"Note on {note.get('ref', '')}: {_text(note.find('{*}text'))}"
            for part in self._parts.related(name, "/comments")
            for note in self._parts.xml(part).iterfind(".//{*}comment")
        ]
        yield from grouped((Record(0, "", {"": note}) for note in notes), self._limits)

    def _shared(self, name: str) -> Iterator[str]:
        """The texts that cells share, in order; they are held whole, unlike the sheets."""
        self._limits.check("memory_mb", self._parts.getinfo(name).file_size * 4 >> 20, f"MB to unpack in {name}")
        with self._parts.open(name) as stream:
            for _, item in etree.iterparse(stream, tag="{*}si", huge_tree=True, resolve_entities=False):
                yield _text(item)
                item.clear()
                while item.getprevious() is not None:
                    del item.getparent()[0]


@lru_cache
def _column(letters: str) -> int:
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return column - 1


def column_of(name: str) -> int:
    """The column of a cell by its name: 0 for A7, 27 for AB."""
    return _column(name.rstrip("0123456789")[:3].upper())


def _text(item: Any) -> str:
    """The text of a cell's runs, without struck-through words and with raised signs as such."""
    if item is None:
        return ""
    text = item.findtext("{*}t") or ""
    for run in item.iterfind("{*}r"):
        about, own = run.find("{*}rPr"), run.findtext("{*}t") or ""
        if about is not None and _is_on(about.find("{*}strike")):
            continue
        high = about is not None and (raises := about.find("{*}vertAlign")) is not None and raises.get("val")
        text += raised(own, text) if high == "superscript" else own
    return text.strip()


def _is_on(switch: Any) -> bool:
    return switch is not None and switch.get("val", "1") not in ("0", "false")


def _styles(sheet: Any) -> Iterator[_CellStyle]:
    """The styles of cells by number; colours are not read."""
    codes: Mapping[str, str] = {f.get("numFmtId", ""): f.get("formatCode", "") for f in sheet.iter("{*}numFmt")}
    fonts: Sequence[bool] = [_is_on(font.find("{*}strike")) for font in sheet.iterfind("{*}fonts/{*}font")]
    for style in sheet.iterfind("{*}cellXfs/{*}xf"):
        number, font = style.get("numFmtId", "0"), style.get("fontId", "0")
        code = codes.get(number) or BUILT_IN.get(int(number) if number.isdecimal() else 0, "")
        yield _CellStyle(code, font.isdecimal() and int(font) < len(fonts) and fonts[int(font)])
