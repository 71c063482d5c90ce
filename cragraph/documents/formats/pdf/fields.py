"""Annotations of a PDF page: values of form fields, typed-on text, comments, lines through words."""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from cragraph.documents.formats.pdf.words import PageWord

MOST: Final = 5000  # fields and notes of a page at most
THIN, SHORTEST = 2.0, 4.0  # points of a line that may strike words out: its height at most, its length at least
LONGEST: Final = 1 << 16  # bytes of a field or note at most
UNSEEN: Final = pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
TICKED: Final = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
FILLED: Final = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)

Box = tuple[float, float, float, float]  # left, bottom, right, top, in points from the bottom left of the page


class Over(NamedTuple):
    """The annotations of a page, in the coordinates of the file."""

    words: list[PageWord]
    comments: list[str]
    struck: list[Box]


def over(page: Any, usual: float) -> Over:
    """The annotations of a page whose lines are `usual` points high."""
    found = Over([], [], [*_lines(page)])
    form = page.formenv
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), MOST)):
        note = pdfium.FPDFPage_GetAnnot(page, index)
        if not note:
            continue
        try:
            if not pdfium.FPDFAnnot_GetFlags(note) & UNSEEN:
                _read(note, form, usual, found)
        finally:
            pdfium.FPDFPage_CloseAnnot(note)
    return found


def _lines(page: Any) -> Iterator[Box]:
    """The lines from left to right that are drawn on a page."""
    edges = [ctypes.c_float() for _ in range(4)]
    for index in range(min(pdfium.FPDFPage_CountObjects(page), MOST)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        if pdfium.FPDFPageObj_GetBounds(drawn, *edges):
            left, bottom, right, top = (edge.value for edge in edges)
            if top - bottom <= THIN and right - left >= SHORTEST:
                yield left, bottom, right, top


def _read(note: Any, form: Any, usual: float, found: Over) -> None:
    kind = pdfium.FPDFAnnot_GetSubtype(note)
    if kind == pdfium.FPDF_ANNOT_WIDGET and form is not None:
        field = pdfium.FPDFAnnot_GetFormFieldType(form, note)
        if field in TICKED:
            found.words.extend(_words("☒" if pdfium.FPDFAnnot_IsChecked(form, note) else "☐", _box(note), usual))
        elif field in FILLED:
            value = _string(lambda *into: pdfium.FPDFAnnot_GetFormFieldValue(form, note, *into))
            # The lines of a value are one cell beside the field's label.
            found.words.extend(_words(" ".join(value.split()), _box(note), usual, high=len(value.splitlines()) > 1))
    elif kind == pdfium.FPDF_ANNOT_FREETEXT:
        found.words.extend(_words(_contents(note), _box(note), usual))
    elif kind in (pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_HIGHLIGHT) and (said := _contents(note).strip()):
        found.comments.append(f"Comment: {said}")
    elif kind == pdfium.FPDF_ANNOT_STRIKEOUT:
        corners = pdfium.FS_QUADPOINTSF()
        for place in range(min(pdfium.FPDFAnnot_CountAttachmentPoints(note), MOST)):
            if pdfium.FPDFAnnot_GetAttachmentPoints(note, place, corners):
                xs = [corners.x1, corners.x2, corners.x3, corners.x4]
                ys = [corners.y1, corners.y2, corners.y3, corners.y4]
                found.struck.append((min(xs), min(ys), max(xs), max(ys)))


def _contents(note: Any) -> str:
    return _string(lambda *into: pdfium.FPDFAnnot_GetStringValue(note, b"Contents", *into))


def _string(fill: Callable[..., int]) -> str:
    """A text that PDFium writes into a buffer; without a buffer PDFium returns the size."""
    size = min(fill(None, 0), LONGEST)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    fill(buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "replace").split("\0")[0]


def _box(note: Any) -> Box:
    box = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(note, box)
    return box.left, min(box.bottom, box.top), box.right, max(box.bottom, box.top)


def _words(text: str, box: Box, usual: float, *, high: bool = False) -> Iterator[PageWord]:
    """The words of a text set into a box: of one line in its middle, of several, or with `high`, from its top."""
    left, bottom, right, top = box
    lines = text.splitlines()
    height = min(usual, (top - bottom) / max(len(lines), 1)) or usual
    middle = (bottom + top) / 2 if len(lines) < 2 and not high else top - height / 2
    for number, line in enumerate(lines):
        wide, at = min(height / 2, (right - left) / max(len(line), 1)), 0
        low = middle - number * height * 1.2 - height / 2
        for part in line.split():
            at = line.index(part, at)
            yield PageWord(part, left + at * wide, left + (at + len(part) + 0.5) * wide, low, low + height)
            at += len(part)
