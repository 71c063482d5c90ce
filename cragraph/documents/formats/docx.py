"""Word documents: headings by style, paragraphs, lists, tables and notes, in order."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cragraph.documents.clean import Limits
from cragraph.documents.document import Draft, Writer
from cragraph.documents.package import Package, grid_of, package
from cragraph.documents.table_text import table_of

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"^heading (\d)$", re.I)
_SIGNS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
# Deleted and moved text is gone for the reader; a fallback repeats the drawing before it.
_GONE = {f"{_W}del", f"{_W}moveFrom", "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """The whole file as one draft."""
    with package(path, limits) as parts:
        yield _Body(parts, limits).draft()


class _Body:
    def __init__(self, package: Package, limits: Limits) -> None:
        self._package, self._limits, self._writer = package, limits, Writer(limits)
        self._styles: dict[str, str] = {}

    def draft(self) -> Draft:
        package = self._package
        main = package.main()
        body = package.xml(main).find(f"{_W}body")
        for part in package.related(main, "/styles"):
            for name in package.xml(part).iterfind(f".//{_W}style/{_W}name"):
                self._styles[name.getparent().get(f"{_W}styleId", "")] = name.get(f"{_W}val", "")
        self._blocks(() if body is None else body)
        for part in package.related(main, "/footnotes", "/endnotes"):
            for note in package.xml(part):
                self._writer.item(visible_text(note), "")
        return self._writer.draft(package.properties()).titled()

    def _blocks(self, parts: Any) -> None:
        for part in parts:
            if part.tag == f"{_W}p":
                self._paragraph(part)
            elif part.tag == f"{_W}tbl":
                self._table(part)
            elif part.tag in (f"{_W}sdt", f"{_W}ins"):
                self._blocks(part.find(f"{_W}sdtContent") if part.tag == f"{_W}sdt" else part)

    def _paragraph(self, paragraph: Any) -> None:
        text = visible_text(paragraph)
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        name = "" if style is None else self._styles.get(style.get(f"{_W}val", ""), "")
        heading = _HEADING.match(name)
        if heading or name.lower() == "title":
            self._writer.heading(text, int(heading[1]) if heading else 1)
        elif name.lower().startswith("list") or paragraph.find(f"{_W}pPr/{_W}numPr") is not None:
            self._writer.item(text)
        elif "code" in name.lower() or name == "HTML Preformatted":
            self._writer.code(text)
        else:
            self._writer.paragraph(text)

    def _table(self, table: Any) -> None:
        rows = grid_of(map(self._cells, table.iterchildren(f"{_W}tr")), self._limits)
        if any(len(row) > 1 for row in rows if any(row)):
            self._writer.table(table_of(rows))
        else:
            for row in rows:
                self._writer.paragraph("".join(row))

    def _cells(self, row: Any) -> Iterator[tuple[str, int, bool]]:
        if before := self._number(row, f"{_W}trPr/{_W}gridBefore"):
            yield "", before, False
        for cell in row.iter(f"{_W}tc"):
            if cell.getparent() is row or next(cell.iterancestors(f"{_W}tr")) is row:
                merged = cell.find(f"{_W}tcPr/{_W}vMerge")
                goes_on = merged is not None and merged.get(f"{_W}val", "continue") == "continue"
                span = max(1, self._number(cell, f"{_W}tcPr/{_W}gridSpan"))
                yield " ".join(visible_text(cell).split()), span, goes_on

    def _number(self, element: Any, path: str) -> int:
        child = element.find(path)
        value = "0" if child is None else child.get(f"{_W}val", "0")
        return min(int(value), self._limits.fields + 1) if value.isdecimal() and len(value) < 10 else 0


def visible_text(element: Any) -> str:
    """The text below an element as a reader sees it: insertions and links in, deletions and hidden runs out."""
    return "".join(_runs(element)).strip()


def _runs(element: Any) -> Iterator[str]:
    for child in element:
        vanish = child.find(f"{_W}rPr/{_W}vanish") if child.tag == f"{_W}r" else None
        if child.tag in _GONE or (vanish is not None and vanish.get(f"{_W}val") not in ("0", "false")):
            continue
        if child.tag == f"{_W}t":
            yield child.text or ""
        elif child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        else:
            yield from _runs(child)
            if child.tag == f"{_W}p":
                yield "\n"
