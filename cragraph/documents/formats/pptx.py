"""Presentations: a page per slide with its title, points, tables, charts, diagrams and notes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cragraph.documents.clean import Limits
from cragraph.documents.document import Draft, Writer
from cragraph.documents.package import Package, grid_of, package
from cragraph.documents.table_text import Table, table_of

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
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
                # A placeholder's lines are points; those of a text box, or one alone, are paragraphs.
                lines = [line for line in _lines(shape) if line.strip()]
                points = shape.find(f".//{_P}ph") is not None and len(lines) > 1
                for line in lines:
                    (self._writer.item if points else self._writer.paragraph)(line)
        for kind, name in self._relations.values():
            if kind.endswith("/notesSlide"):
                notes = self._parts.xml(name).iter(f"{_P}sp")
                text = "\n".join(line for shape in notes if _role(shape) == "body" for line in _lines(shape))
                self._writer.paragraph(f"Notes: {text}" if text.strip() else "")

    def _graphic(self, frame: Any) -> None:
        if (table := frame.find(f".//{_A}tbl")) is not None:
            rows = (
                [
                    (" ".join(" ".join(_lines(cell)).split()), 1, cell.get("vMerge") in ("1", "true"))
                    for cell in row.iterchildren(f"{_A}tc")
                ]
                for row in table.iterchildren(f"{_A}tr")
            )
            self._writer.table(table_of(grid_of(rows, self._limits)))
        elif (chart := frame.find(f".//{_C}chart")) is not None:
            self._writer.table(self._chart(self._parts.xml(self._relations[chart.get(f"{_R}id")][1])))
        elif (diagram := frame.find(f".//{_D}relIds")) is not None:
            for point in self._parts.xml(self._relations[diagram.get(f"{_R}dm")][1]).iter(f"{_D}t"):
                self._writer.item(" ".join(_lines(point)))

    def _chart(self, chart: Any) -> Table:
        """The figures that a chart is drawn from: a row per category, a column per series."""
        columns = [
            [_points(series.find(f"{_C}{tag}")) for tag in ("tx", "cat", "val")] for series in chart.iter(f"{_C}ser")
        ]
        self._limits.check("fields", len(columns), "series")
        names = ["", *(next(iter(name.values()), "") for name, _, _ in columns)]
        categories = {at: text for _, texts, _ in columns for at, text in texts.items()}
        rows = [[text, *(values.get(at, "") for _, _, values in columns)] for at, text in sorted(categories.items())]
        title = chart.find(f".//{_C}chart/{_C}title")
        caption = "" if title is None else " ".join(_lines(title))
        return Table([names, *rows] if rows else [], headers=1, caption=caption)


def _role(shape: Any) -> str:
    """What a placeholder is for; empty for any other shape and for one of no special kind."""
    placeholder = shape.find(f".//{_P}ph")
    return "" if placeholder is None else placeholder.get("type", "")


def _is_seen(shape: Any) -> bool:
    """Whether a shape is shown, and is not the repetition of another for older programs."""
    hidden = any(named.get("hidden") in ("1", "true") for named in shape.iter(f"{_P}cNvPr"))
    return not hidden and next(shape.iterancestors(_FALLBACK), None) is None


def _lines(element: Any) -> list[str]:
    """The text of each paragraph below an element; line breaks within one stay."""
    return [
        "".join(
            "\n" if part.tag == f"{_A}br" else part.text or "" for part in paragraph.iter(f"{_A}t", f"{_A}br")
        ).strip()
        for paragraph in element.iter(f"{_A}p")
    ]


def _points(part: Any) -> dict[int, str]:
    points = () if part is None else part.iter(f"{_C}pt")
    return {int(point.get("idx", "0")): point.findtext(f"{_C}v") or "" for point in points}
