"""Presentations: a page per slide with its title, points, tables, charts, diagrams and notes."""

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cragraph.documents.cell_format import shown
from cragraph.documents.clean import Limits
from cragraph.documents.document import Draft, Writer
from cragraph.documents.formats.omml import equation
from cragraph.documents.package import Package, count_of, grid_of, package
from cragraph.documents.signs import STRUCK, lowered, raised, settled
from cragraph.documents.table_text import TextTable, tables_of

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TITLES = ("title", "ctrTitle")
_MARGINS = ("dt", "ftr", "hdr", "sldNum", "sldImg")


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """The whole file as one draft; hidden slides count as pages and are not read."""
    with package(path, limits) as parts:
        main = parts.main()
        relations = parts.relations(main)
        slides = [relations[slide.get(f"{_R}id")][1] for slide in parts.xml(main).iter(f"{_P}sldId")]
        limits.check("pages", len(slides), "slides")
        writer = Writer(limits)
        for number, name in enumerate(slides, start=1):
            writer.page()
            slide = parts.xml(name)
            if slide.get("show") not in ("0", "false"):
                _Slide(parts, name, limits, writer).write(slide, number)
        stated = parts.properties()
        if stated.get("title") == "PowerPoint Presentation":
            del stated["title"]
        yield writer.draft(stated).titled()


class _Slide:
    def __init__(self, parts: Package, name: str, limits: Limits, writer: Writer) -> None:
        self._parts, self._limits, self._writer = parts, limits, writer
        self._relations = parts.relations(name)

    def write(self, slide: Any, number: int) -> None:
        """Write the slide: its title first, then its shapes in their order, then its notes."""
        shapes = [shape for shape in slide.iter(f"{_P}sp", f"{_P}graphicFrame") if _is_seen(shape)]
        titles = [shape for shape in shapes if _role(shape) in _TITLES]
        title = " ".join(" ".join(_lines(shape)) for shape in titles).strip()
        self._writer.heading(title or f"Slide {number}", 1)
        for shape in shapes:
            if shape.tag == f"{_P}graphicFrame":
                self._graphic(shape)
            elif _role(shape) not in (*_TITLES, *_MARGINS):
                # Lines of a placeholder are list items; lines of a text box, or a single line, are paragraphs.
                lines = [line for line in _lines(shape) if line.strip()]
                points = shape.find(f".//{_P}ph") is not None and len(lines) > 1
                for line in lines:
                    (self._writer.item if points else self._writer.paragraph)(line)
        for kind, name in self._relations.values():
            if kind.endswith("/notesSlide"):
                notes = self._parts.xml(name).iter(f"{_P}sp")
                text = "\n".join(line for shape in notes if _role(shape) == "body" for line in _lines(shape))
                self._writer.paragraph(f"Notes: {text}" if text.strip() else "")
            elif kind.endswith("/comments"):
                for comment in self._parts.xml(name):
                    said = comment.findtext(f"{_P}text") or " ".join(_lines(comment))
                    self._writer.paragraph(f"Comment: {said}" if said.strip() else "")

    def _graphic(self, frame: Any) -> None:
        if (table := frame.find(f".//{_A}tbl")) is not None:
            rows = (
                [
                    (
                        " ".join(" ".join(_lines(cell)).split()),
                        count_of(cell, "gridSpan"),
                        cell.get("vMerge") in ("1", "true"),
                    )
                    for cell in row.iterchildren(f"{_A}tc")
                    if cell.get("hMerge") not in ("1", "true")
                ]
                for row in table.iterchildren(f"{_A}tr")
            )
            for part in tables_of(grid_of(rows, self._limits)):
                self._writer.table(part)
        elif (chart := frame.find(f".//{_C}chart")) is not None:
            self._writer.table(self._chart(self._parts.xml(self._relations[chart.get(f"{_R}id")][1])))
        elif (diagram := frame.find(f".//{_D}relIds")) is not None:
            for point in self._parts.xml(self._relations[diagram.get(f"{_R}dm")][1]).iter(f"{_D}t"):
                self._writer.item(" ".join(_lines(point)))

    def _chart(self, chart: Any) -> TextTable:
        """The figures of a chart: a row per category, a column per series."""
        dates = chart.find(f"{_C}date1904")
        from_1904 = dates is not None and dates.get("val", "1") in ("1", "true")

        def read(series: Any, *tags: str) -> dict[int, str]:
            part = next((found for tag in tags if (found := series.find(f"{_C}{tag}")) is not None), None)
            return _points(part, from_1904)

        columns = [
            (read(series, "tx"), read(series, "cat", "xVal"), read(series, "val", "yVal"))
            for series in chart.iter(f"{_C}ser")
        ]
        self._limits.check("fields", len(columns), "series")
        names = ["", *(next(iter(name.values()), "") for name, _, _ in columns)]
        categories = {at: text for _, texts, _ in columns for at, text in texts.items()}
        rows = [[text, *(values.get(at, "") for _, _, values in columns)] for at, text in sorted(categories.items())]
        title = chart.find(f".//{_C}chart/{_C}title")
        caption = "" if title is None else " ".join(_lines(title))
        return TextTable([names, *rows] if rows else [], headers=1, caption=caption)


def _role(shape: Any) -> str:
    """The role of a placeholder; empty for other shapes and for placeholders without a role."""
    placeholder = shape.find(f".//{_P}ph")
    return "" if placeholder is None else placeholder.get("type", "")


def _is_seen(shape: Any) -> bool:
    """Whether a shape is visible and is no fallback for older programs."""
    hidden = any(named.get("hidden") in ("1", "true") for named in shape.iter(f"{_P}cNvPr"))
    return not hidden and next(shape.iterancestors(_FALLBACK), None) is None


def _lines(element: Any) -> list[str]:
    """The text of each paragraph below an element, without struck-out words; line breaks within a paragraph stay."""
    return [_line(paragraph) for paragraph in element.iter(f"{_A}p") if _is_first(paragraph)]


def _line(paragraph: Any) -> str:
    text = ""
    for part in paragraph.iter(f"{_A}r", f"{_A}fld", f"{_A}br", _MATH):
        if not _is_first(part) or next(part.iterancestors(_MATH), None) is not None:
            continue
        if part.tag == f"{_A}br":
            text += "\n"
        elif part.tag == _MATH:
            text += equation(part, text)
        else:
            about, own = part.find(f"{_A}rPr"), part.findtext(f"{_A}t") or ""
            given = {} if about is None else about.attrib
            lift = given.get("baseline", "0").rstrip("%")
            if own.strip() and given.get("strike", "noStrike") != "noStrike":
                text += STRUCK
            elif own.strip() and lift.strip("-0."):
                text += lowered(own, text) if lift.startswith("-") else raised(own, text)
            else:
                text += own
    return settled(text).strip()


def _is_first(part: Any) -> bool:
    """Whether a part is no fallback for older programs."""
    return next(part.iterancestors(_FALLBACK), None) is None


def _points(part: Any, from_1904: bool) -> dict[int, str]:
    """The points of a part of a chart by their place: names, figures as they are shown, groups before their members."""
    if part is None:
        return {}
    code = part.findtext(f".//{_C}formatCode") or ""

    def told(level: Any) -> dict[int, str]:
        found = {}
        for point in level.iter(f"{_C}pt"):
            at, value = point.get("idx", "0"), point.findtext(f"{_C}v") or ""
            if at.isdecimal():
                found[int(at)] = _figure(value, point.get("formatCode") or code, from_1904) if numeric else value
        return found

    numeric = part.find(f".//{_C}numCache") is not None or part.find(f".//{_C}numLit") is not None
    inner, *groups = [told(level) for level in part.iter(f"{_C}lvl")] or [told(part)]
    for group in groups:
        starts = sorted(group)
        inner = {
            at: f"{group[starts[n - 1]]} {text}" if (n := bisect_right(starts, at)) else text
            for at, text in inner.items()
        }
    return inner


def _figure(value: str, code: str, from_1904: bool) -> str:
    try:
        return str(shown(float(value), code, from_1904=from_1904))
    except (ValueError, OverflowError):
        return value
