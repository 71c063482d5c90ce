"""OpenDocument: texts (.odt), sheets (.ods) and presentations (.odp), as LibreOffice saves them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from lxml import etree

from cragraph.documents.cell_format import Amount, plain, with_cents
from cragraph.documents.clean import Limits
from cragraph.documents.document import Draft, Heading, Writer
from cragraph.documents.formats.docx import CHANGED, counted, in_margins
from cragraph.documents.package import Package, count_of, grid_of, package, stated
from cragraph.documents.records import Scalar
from cragraph.documents.sheets import Merged, SheetRow, merged_rows, sheet_drafts
from cragraph.documents.signs import STRUCK, formula, lowered, raised, settled
from cragraph.documents.table_text import tables_of
from cragraph.errors import DocumentError

_NAMES: Final = {
    short: f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}"
    for short, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "presentation": "presentation", "fo": "xsl-fo-compatible", "manifest": "manifest",
    }.items()
}  # fmt: skip
_T, _TABLE, _DRAW, _STYLE, _OFFICE = (_NAMES[name] for name in ("text", "table", "draw", "style", "office"))
_LINK: Final = "{http://www.w3.org/1999/xlink}href"
_FIGURE: Final = re.compile(
    r"\s*([^\d\s,.+(-]{0,12})\s*[-+(]?[\d.,'’\u00a0\u202f ]*\d[\d.,]*\)?\s*([^\d]{0,20}?)\s*", re.S
)
_DURATION: Final = re.compile(r"(-?)PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,]\d+)?S)?")
_LEVELS: Final = 10  # levels of headings or lists that are counted
_MOST_REPEATED: Final = 1000  # repetitions of a row at most; more are the blank rest of a sheet


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """A text or a presentation as one draft, with a page per slide; of a sheet its rows in groups."""
    with package(path, limits) as parts:
        names = parts.namelist()
        if "META-INF/manifest.xml" in names and b"encryption-data" in parts.bytes("META-INF/manifest.xml"):
            raise DocumentError("is protected by a password; save it without one.")
        about = stated(parts.xml("meta.xml")) if "meta.xml" in names else {}
        if path.suffix.lower() in (".ods", ".ots"):
            yield from _sheets(parts, limits, about)
        else:
            yield _Text(parts, limits).draft(about)


class _Text:
    def __init__(self, parts: Package, limits: Limits) -> None:
        self._parts, self._limits, self._writer = parts, limits, Writer(limits)
        # Letter properties of a style: above or below the line, struck out.
        self._letters: dict[str, tuple[str, bool]] = {}
        self._lists: dict[str, dict[int, Any]] = {}
        self._counts: dict[str, list[int]] = {}
        self._notes: list[str] = []
        self._changes: set[str] = set()  # the tracked changes that are open

    def draft(self, about: Mapping[str, Any]) -> Draft:
        styles = self._parts.xml("styles.xml") if "styles.xml" in self._parts.namelist() else None
        content = self._parts.xml("content.xml")
        for tree in filter(lambda one: one is not None, (styles, content)):
            self._know(tree)
        body = content.find(f"{_OFFICE}body")
        main = next(iter(() if body is None else body), None)
        for name in ("header", "footer"):
            if name == "footer":
                self._body(main)
            for edge in () if styles is None else styles.iter(f"{_STYLE}{name}"):
                if text := in_margins(" ".join(self._line(p) for p in edge.iter(f"{_T}p"))):
                    self._writer.paragraph(f"Page {name}: {text}")
        for note in self._notes:
            self._writer.item(note, "")
        return self._writer.draft(about).titled()

    def _body(self, main: Any) -> None:
        pages = [] if main is None else main.findall(f"{_DRAW}page")
        self._limits.check("pages", len(pages), "slides")
        if not pages:
            self._blocks(() if main is None else main)
        for number, page in enumerate(pages, start=1):
            self._writer.page()
            kind = _NAMES["presentation"] + "class"
            titles = [frame for frame in page.iter(f"{_DRAW}frame") if frame.get(kind) == "title"]
            title = " ".join(self._line(p) for frame in titles for p in frame.iter(f"{_T}p"))
            self._writer.heading(title or f"Slide {number}", 1)
            self._blocks(one for one in page if one not in titles)

    def _know(self, tree: Any) -> None:
        """Remember the letter and list properties of styles."""
        for style in tree.iter(f"{_STYLE}style"):
            about = style.find(f"{_STYLE}text-properties")
            if about is not None:
                lift = about.get(f"{_STYLE}text-position", "").split(" ")[0]
                high = "" if lift in ("", "0%") else "sub" if lift.startswith(("sub", "-")) else "super"
                line = about.get(f"{_STYLE}text-line-through-style") or about.get(f"{_STYLE}text-line-through-type")
                self._letters[style.get(f"{_STYLE}name", "")] = (high, line not in (None, "none"))
        for listed in (*tree.iter(f"{_T}list-style"), *tree.iter(f"{_T}outline-style")):
            levels = {int(level.get(f"{_T}level", "1")): level for level in listed}
            self._lists[listed.get(f"{_STYLE}name", "Outline")] = levels

    def _blocks(self, parts: Any) -> None:
        for part in parts:
            if part.tag == f"{_T}h":
                level = part.get(f"{_T}outline-level", "1")
                number = self._number("Outline", int(level) if level.isdecimal() else 1)
                self._written(part, partial(self._heading, number, int(level) if level.isdecimal() else 1))
            elif part.tag == f"{_T}p":
                self._written(part, self._writer.paragraph)
            elif part.tag == f"{_T}list":
                self._list(part, part.get(f"{_T}style-name", ""), 1)
            elif part.tag == f"{_TABLE}table":
                self._table(part)
            elif part.tag == f"{_NAMES['presentation']}notes":
                lines = [line for p in part.iter(f"{_T}p") if (line := self._line(p))]
                self._writer.paragraph(f"Notes: {' '.join(lines)}" if lines else "")
            elif part.tag not in (f"{_T}tracked-changes", f"{_T}table-of-content", f"{_OFFICE}forms"):
                self._blocks(part)

    def _heading(self, number: str, level: int, text: str) -> None:
        self._writer.heading(f"{number} {text}".strip() if text else "", level)

    def _written(self, part: Any, write: Any) -> None:
        """Write a paragraph, then its boxes and comments."""
        text = self._line(part)
        write(text)
        if self._is_changed(part) and text:
            self._writer.doubt(CHANGED)
        for note in part.iter(f"{_OFFICE}annotation"):
            who = note.findtext("{http://purl.org/dc/elements/1.1/}creator") or "a reader"
            self._writer.paragraph(f"Comment by {who}: {' '.join(self._line(p) for p in note.iter(f'{_T}p'))}")
        for box in part.iter(f"{_DRAW}text-box"):
            self._blocks(box)

    def _is_changed(self, part: Any) -> bool:
        """Whether a tracked change touches a part; a change may begin in one part and end in a later one."""
        before = bool(self._changes)
        for mark in part.iter(f"{_T}change", f"{_T}change-start", f"{_T}change-end"):
            before, change = True, mark.get(f"{_T}change-id")
            if mark.tag == f"{_T}change-start":
                self._changes.add(change)
            self._changes -= {change} if mark.tag == f"{_T}change-end" else set()
        return before

    def _list(self, listed: Any, style: str, level: int) -> None:
        going_on = listed.get(f"{_T}continue-numbering") == "true" or listed.get(f"{_T}continue-list")
        if level == 1 and not going_on:
            self._counts.pop(style, None)
        for item in listed.iterchildren(f"{_T}list-item", f"{_T}list-header"):
            number = None if item.tag == f"{_T}list-header" else self._number(style, level) or "-"
            for part in item:
                if part.tag == f"{_T}list":
                    self._list(part, part.get(f"{_T}style-name") or style, level + 1)
                elif part.tag in (f"{_T}p", f"{_T}h"):
                    self._written(part, partial(self._writer.item, marker=number or ""))
                    number = None

    def _number(self, style: str, level: int) -> str:
        """The next number of a list or of the headings; empty if they are not numbered."""
        levels = self._lists.get(style, {})
        about = levels.get(level)
        kind = "" if about is None else about.get(f"{_STYLE}num-format", "")
        counts, level = self._counts.setdefault(style, []), min(level, _LEVELS)
        del counts[level:]
        start = "1" if about is None else about.get(f"{_T}start-value", "1")
        while len(counts) < level:
            counts.append((int(start) if start.isdecimal() else 1) - 1 if len(counts) == level - 1 else 1)
        counts[level - 1] += 1
        if about is None or not kind:
            return ""
        shown = about.get(f"{_T}display-levels", "1")
        first = max(1, level - (int(shown) if shown.isdecimal() else 1) + 1)
        kinds = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
        told = [
            counted(counts[n - 1], kinds.get(levels[n].get(f"{_STYLE}num-format", ""), "decimal"))
            for n in range(first, level + 1)
            if n in levels
        ]
        return f"{about.get(f'{_STYLE}num-prefix', '')}{'.'.join(told)}{about.get(f'{_STYLE}num-suffix', '')}".strip()

    def _table(self, table: Any) -> None:
        heads = [row for head in table.iter(f"{_TABLE}table-header-rows") for row in head]
        rows = [row for row in table.iter(f"{_TABLE}table-row") if next(row.iterancestors(f"{_TABLE}table")) is table]
        doubts = (CHANGED,) if self._is_changed(table) else ()
        for part in tables_of(grid_of(map(self._cells, rows), self._limits), len(heads)):
            self._writer.table(part, doubts=doubts)

    def _cells(self, row: Any) -> Iterator[tuple[str, int, bool]]:
        across = 0
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            times = min(count_of(cell, f"{_TABLE}number-columns-repeated"), self._limits.fields + 1)
            if cell.tag == f"{_TABLE}covered-table-cell":
                for _ in range(times):
                    if not across:
                        yield "", 1, True
                    across = max(0, across - 1)
                continue
            across = count_of(cell, f"{_TABLE}number-columns-spanned") - 1
            for _ in range(times):
                yield " ".join(self._line(p) for p in cell.iter(f"{_T}p")), across + 1, False

    def _line(self, element: Any) -> str:
        return settled(self._inside(element, "")).strip()

    def _inside(self, element: Any, before: str) -> str:
        text = element.text or ""
        for child in element:
            text += self._piece(child, (before + text)[-12:]) + (child.tail or "")
        return text

    def _piece(self, part: Any, before: str) -> str:
        if part.tag == f"{_T}s":
            return " " * min(count_of(part, f"{_T}c"), 100)
        if part.tag in (f"{_T}tab", f"{_T}line-break"):
            return "\t" if part.tag.endswith("tab") else "\n"
        if part.tag == f"{_T}note":
            self._notes += [self._line(p) for p in part.iterfind(f"{_T}note-body/{_T}p")]
            return ""
        if part.tag == f"{_DRAW}frame":
            return self._formula(part)
        if part.tag in (f"{_OFFICE}annotation", f"{_T}ruby-text") or not isinstance(part.tag, str):
            return ""
        text = self._inside(part, before)
        high, struck = self._letters.get(part.get(f"{_T}style-name", ""), ("", False))
        if part.tag != f"{_T}span" or not text.strip():
            return text
        if struck:
            return STRUCK
        return raised(text, before) if high == "super" else lowered(text, before) if high else text

    def _formula(self, frame: Any) -> str:
        """An inline formula; empty for a picture."""
        for held in frame.iter(f"{_DRAW}object"):
            name = f"{held.get(_LINK, '').removeprefix('./')}/content.xml"
            if name in self._parts.namelist():
                tree = self._parts.xml(name)
                if str(tree.tag).endswith("}math"):
                    for part in tree.iter():  # read by their names alone
                        part.tag = str(part.tag).rpartition("}")[2]
                    return str(formula(tree))
        return ""


# -- sheets -----------------------------------------------------------------------------------------------------------


def _sheets(parts: Package, limits: Limits, about: Mapping[str, Any]) -> Iterator[Draft]:
    hidden: set[str] = set()
    found = uncalculated = False
    with parts.open("content.xml") as stream:
        kinds = (f"{_STYLE}style", f"{_TABLE}table")
        for _, table in etree.iterparse(stream, tag=kinds, huge_tree=True, resolve_entities=False):
            if table.tag == f"{_STYLE}style":
                display = table.find(f"{_STYLE}table-properties")
                if display is not None and display.get(f"{_TABLE}display") == "false":
                    hidden.add(table.get(f"{_STYLE}name", ""))
                continue
            if table.get(f"{_TABLE}style-name") not in hidden:
                rows, merges = _rows(table, limits)
                uncalculated |= any(row.missing for row in rows)
                for draft in sheet_drafts(merged_rows(rows, merges), limits):
                    found = True
                    heading = Heading(0, 1, table.get(f"{_TABLE}name", ""))
                    yield replace(draft, headings=(heading, *draft.headings), metadata={**about, **draft.metadata})
            table.clear()
    if uncalculated and not found:
        raise DocumentError(
            "holds only formulas that no program has calculated; open it, save it, and ingest it again."
        )


def _rows(table: Any, limits: Limits) -> tuple[list[SheetRow], list[Merged]]:
    """The filled rows of a sheet, and its merged cells."""
    rows, merges, number = list[SheetRow](), list[Merged](), 0
    for row in table.iter(f"{_TABLE}table-row"):
        cells, missing, faulty, column = dict[int, Scalar](), list[int](), list[int](), 0
        for cell in row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
            times, value = count_of(cell, f"{_TABLE}number-columns-repeated"), _value(cell)
            down, across = (
                count_of(cell, f"{_TABLE}number-rows-spanned"),
                count_of(cell, f"{_TABLE}number-columns-spanned"),
            )
            if max(down, across) > 1:
                merges.append(Merged(number + 1, column, number + down, column + across - 1))
            calculated = cell.get(f"{_TABLE}formula") is not None
            if calculated and isinstance(value, str) and re.match(r"#|Err:\d", value):
                faulty.append(column)
            elif value is None:
                missing += [column] if calculated else []
            else:
                limits.check("fields", min(times, limits.fields + 1), "columns")
                cells |= dict.fromkeys(range(column, column + times), value)
            column += times
        times, filled = count_of(row, f"{_TABLE}number-rows-repeated"), bool(cells or missing)
        for _ in range(min(times, _MOST_REPEATED) if filled else 0):
            number += 1
            rows.append(SheetRow(number, cells, missing=tuple(missing), faulty=tuple(faulty)))
        number += 0 if filled else times
    return rows, merges


def _value(cell: Any) -> Scalar | None:
    """The displayed value of a cell: a figure with its currency or unit, a share, a day, a time."""
    kind = cell.get(f"{_OFFICE}value-type", "")
    text = "\n".join("".join(p.itertext()) for p in cell.iterchildren(f"{_T}p")).strip()
    try:
        figure = plain(float(cell.get(f"{_OFFICE}value", "nan")))
    except (ValueError, OverflowError):
        figure = float("nan")
    if kind == "percentage":
        return f"{figure * 100:.10g}%"
    if kind == "date":
        return str(cell.get(f"{_OFFICE}date-value", "")).replace("T", " ").removesuffix(" 00:00:00") or None
    if kind == "time" and (match := _DURATION.fullmatch(cell.get(f"{_OFFICE}time-value", ""))):
        sign, hours, minutes, seconds = match[1], *(int(part or 0) for part in match.groups()[1:])
        return f"{sign}{hours}:{minutes:02d}" + (f":{seconds:02d}" if seconds else "")
    if kind == "boolean":
        return bool(cell.get(f"{_OFFICE}boolean-value") == "true")
    if kind in ("float", "currency") and figure == figure:
        if text.isdecimal() and text.startswith("0") and len(text) > 1:
            return text
        shown = _FIGURE.fullmatch(text)
        before, after = (shown[1], shown[2]) if shown else ("", cell.get(f"{_OFFICE}currency", ""))
        cents = re.search(r"\d[.,](\d{1,2})\D*$", text)
        if not (before or after or cents):
            return figure
        told = with_cents(figure, len(cents[1]) if cents else 0)
        return Amount(figure, f"{'-' * (figure < 0)}{before}{told}{' ' * after[:1].isalpha()}{after}")
    return text or None
