"""PDF: pages by PDFium, laid out anew: columns in order, tables as rows, headers and footers left out."""

import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Final

import pypdfium2

from cragraph.documents.clean import Limits, one_line
from cragraph.documents.document import Draft, Writer
from cragraph.documents.formats.pdf.fields import over
from cragraph.documents.formats.pdf.layout import PageWriter, without_repeats
from cragraph.documents.formats.pdf.words import (
    Line,
    PageWord,
    levelled,
    lines_of,
    weighted_median,
    without_line_numbers,
    words_of,
)
from cragraph.errors import DocumentError
from cragraph.private import disable_telemetry

WINDOW: Final = 200  # pages that are held in memory and compared at a time

# PDFium keeps global state and is not safe to call from two threads.
_ONE_AT_A_TIME = Lock()
_WORD = re.compile(r"[^\W\d_]{2,}")


def read(path: Path, limits: Limits) -> Iterator[Draft]:
    """The whole file as one draft with page starts."""
    with _ONE_AT_A_TIME:
        try:
            pdf = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower():
                raise DocumentError("is encrypted and asks for a password; save a copy without one.") from error
            raise DocumentError(
                f"is not a readable PDF ({error}); open it in a viewer and save or print it as PDF again."
            ) from error
        with closing(pdf):
            draft = _draft(pdf, limits)
    if not draft.text.strip():
        pages = len(draft.page_starts)
        hint = "pictures without words, or blank" if can_recognise() else f"pictures of pages ({INSTALL}), or blank"
        raise DocumentError(f"has {pages} page{'s' * (pages != 1)} and no text: {hint}.")
    yield draft


def _draft(pdf: Any, limits: Limits) -> Draft:
    limits.check("pages", len(pdf), "pages")
    writer = Writer(limits)
    page_writer = PageWriter(writer)
    seen: set[str] = set()
    unread: list[int] = []
    doubts: dict[int, str] = {}
    if (form := pdf.get_formtype()) != pypdfium2.raw.FORMTYPE_NONE:
        pdf.init_forms()
    if form == pypdfium2.raw.FORMTYPE_XFA_FULL:
        writer.doubt(UNREAD_FORM, whole=True)
    for start in range(0, len(pdf), WINDOW):
        pages, across = [], []
        for number in range(start, min(start + WINDOW, len(pdf))):
            lines, aside = _read_page(pdf, number, unread, doubts)
            pages.append(lines)
            across.append(aside)
        doubted = [doubts.get(start + n, "") for n in range(len(pages))]
        page_writer.write(without_repeats(pages, seen), across, doubted)
    draft = writer.draft(_metadata(pdf, unread))
    ranks = {level: rank for rank, level in enumerate(sorted({h.level for h in draft.headings}), start=1)}
    return replace(draft, headings=tuple(replace(h, level=ranks[h.level]) for h in draft.headings))


INSTALL: Final = "pip install 'cragraph[ocr]'"  # the command that installs the reader of pictures
UNREAD_FORM: Final = "holds a form (XFA) whose fields cannot be read; print it as PDF in the program that fills it."
NO_LETTERS: Final = (
    "page {} is set in a font that does not say which letters its signs are: what was read of it may be others; "
    f"with {INSTALL} such a page is read as a picture, where the file holds the font."
)
UNMAPPED: Final = 3  # words of unmapped letters from which on a page is in doubt


def _read_page(pdf: Any, number: int, unread: list[int], doubts: dict[int, str]) -> tuple[list[Line], list[str]]:
    """The lines of a page, and the text across them; an unreadable page, or a picture, is added to `unread`."""
    try:
        with closing(pdf[number]) as page:
            words, across, unmapped, drawn = words_of(page, over)
            if not words and any(True for _ in page.get_objects(max_depth=2)):
                if can_recognise():
                    words = recognised(page)
                else:
                    unread.append(number + 1)
            elif unmapped >= UNMAPPED and drawn and can_recognise():
                words = recognised(page)
            elif unmapped >= UNMAPPED:
                doubts[number] = NO_LETTERS.format(number + 1)
    except pypdfium2.PdfiumError:
        unread.append(number + 1)
        return [], []
    return without_line_numbers(lines_of(words)), across


def _metadata(pdf: Any, unread: Sequence[int]) -> dict[str, Any]:
    """Title and author if they are words: many programs write a number or a file name as the title."""
    stated = pdf.get_metadata_dict()
    title, author = one_line(stated.get("Title", "")), one_line(stated.get("Author", ""))
    metadata: dict[str, Any] = {}
    if len(_WORD.findall(title)) > 1:
        metadata["title"] = title
    if author:
        metadata["author"] = author
    if unread:
        metadata["unread_pages"] = ", ".join(map(str, unread))
    return metadata


SCALE: Final = 150 / 72  # pixels a point that a page is drawn with
ALIKE: Final = 0.25  # share of the usual height by which lines of the same size may differ


def can_recognise() -> bool:
    """Whether the reader of pictures is installed."""
    return find_spec("rapidocr") is not None


def recognised(page: Any) -> list[PageWord]:
    """The words of a page's picture with their places."""
    began = monotonic()
    output = _engine()(page.render(scale=SCALE).to_numpy())
    # Recognition takes seconds per page: the alarm that bounds the reading of a file is put off by them.
    if hasattr(signal, "setitimer") and (left := signal.getitimer(signal.ITIMER_REAL)[0]):
        signal.setitimer(signal.ITIMER_REAL, left + monotonic() - began)
    lines = [] if output.txts is None else list(zip(output.boxes, output.txts, strict=True))
    heights = [float(box[2:, 1].sum() - box[:2, 1].sum()) / 2 for box, _ in lines]
    usual = weighted_median((height, len(text)) for height, (_, text) in zip(heights, lines, strict=True))
    words: list[PageWord] = []
    for height, (box, text) in zip(heights, lines, strict=True):
        left, right = box[:, 0].min(), box[:, 0].max()
        first, last = (box[0, 1] + box[3, 1]) / 2, (box[1, 1] + box[2, 1]) / 2  # middles of the line's ends
        height = usual if abs(height - usual) <= ALIKE * usual else height
        wide, at = (right - left) / max(len(text), 1), 0
        for part in text.split():
            at = text.index(part, at)
            middle = first + (last - first) * (at + len(part) / 2) / max(len(text), 1)
            edges = (left + at * wide, left + (at + len(part)) * wide, middle - height / 2, middle + height / 2)
            x0, x1, top, bottom = (float(edge) / SCALE for edge in edges)
            words.append(PageWord(part, x0, x1, top, bottom))
            at += len(part)
    return levelled(words)


@cache
def _engine() -> Any:
    disable_telemetry()
    from rapidocr import RapidOCR

    # Lines upside down are rare in scans, and the network that looks for them turns upright ones. Lines are found in a
    # picture of 960 pixels, in half the time and no worse than in all of them; they are read in all of them.
    wanted = {"Global.log_level": "critical", "Global.use_cls": False}
    return RapidOCR(params=wanted | {"Det.limit_type": "max", "Det.limit_side_len": 960})
