"""Pages of PDF sources as pictures, with a quote boxed.

PDFium is not safe to call from two threads, and a page may take any time or memory, or end the process. So a separate
process draws.
"""

import re
import struct
from base64 import b64encode
from collections.abc import Container
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple
from zlib import compress, crc32

from cragraph.language.cells import SEPARATOR
from cragraph.process import EndedError, Worker
from cragraph.types import Passage

MOST_PAGES: Final = 12  # pages shown in one report at most: each is some 100 kB
SCALE: Final = 1.5  # pixels a point
LONGEST: Final = 2000  # pixels of a page's longer side at most, so that a poster does not make a report of megabytes
SECONDS: Final = 20.0  # seconds for finding and drawing a page
MEMORY_MB: Final = 1024

Box = tuple[float, float, float, float]


class Wanted(NamedTuple):
    """A request for the page (from 1) on which a quote begins; the pages in `drawn` have a picture already."""

    path: str
    page: int
    quote: str
    drawn: frozenset[int]
    picture: bool


class Drawn(NamedTuple):
    """The page with the quote, its size in points, the quote's boxes, and the picture as PNG if wanted."""

    page: int
    size: tuple[float, float]
    boxes: list[Box]
    picture: bytes


@dataclass
class PagePictures:
    """Draws the page of a passage whose source is among `files`; the same page with another quote reuses the picture.

    Counts pages left out because of the limit, and pages that could not be drawn.
    """

    files: Container[str]
    left_out: int = 0
    failed: int = 0
    _drawn: set[tuple[str, int]] = field(default_factory=set)
    _usable: dict[str, bool] = field(default_factory=dict)

    def __call__(self, passage: Passage, quote: str) -> str:
        """The page as HTML; empty if the source is none of the PDF files, or has no such page."""
        source, page = passage["source"], passage["page"]
        if not source.lower().endswith(".pdf") or not isinstance(page, int) or page < 1:
            return ""
        if source not in self._usable:
            self._usable[source] = source in self.files
        if not self._usable[source]:
            return ""
        done = frozenset(number for path, number in self._drawn if path == source)
        # The process that draws stays in the folder that it was started in.
        wanted = Wanted(str(Path(source).absolute()), page, quote, done, len(self._drawn) < MOST_PAGES)
        try:
            found: Drawn | None = PDFIUM(wanted)
        except (EndedError, OSError, ValueError, MemoryError):
            # A failed page is not tried again for every quote.
            self.failed, self._usable[source] = self.failed + 1, False
            return ""
        return self._shown(source, found) if found else ""

    def _shown(self, source: str, found: Drawn) -> str:
        name, style = f"page{crc32(source.encode()):08x}-{found.page}", ""
        if (source, found.page) not in self._drawn:
            if not found.picture:
                self.left_out += 1
                return ""
            width, height = found.size
            data = b64encode(found.picture).decode()
            # A picture that several quotes share is written once, in the style of its first use.
            rule = f"aspect-ratio:{width:.0f}/{height:.0f};background-image:url(data:image/png;base64,{data})"
            style = f"<style>.{name}{{{rule}}}</style>"
            self._drawn.add((source, found.page))
        marks = "".join(
            f'<i style="left:{x:.2%};top:{y:.2%};width:{wide:.2%};height:{high:.2%}"></i>'
            for x, y, wide, high in found.boxes
        )
        label = f"Page {found.page} of the document, with the quote boxed"
        return f'{style}<span class="page {name}" role="img" aria-label="{label}">{marks}</span>'


PDFIUM: Final = Worker(__name__, "drawn", seconds=SECONDS, memory_mb=MEMORY_MB)
"""The drawing process of all reports; its lock makes threads wait for each other."""


def drawn(wanted: Wanted) -> Drawn | None:
    """The page with the quote: the requested page or the next; None if neither has it. Runs in the drawing process."""
    import pypdfium2

    try:
        with closing(pypdfium2.PdfDocument(wanted.path)) as document:
            for number in range(wanted.page - 1, min(wanted.page + 1, len(document))):
                page = document[number]
                if boxes := boxes_of(page, wanted.quote):
                    new = wanted.picture and number + 1 not in wanted.drawn
                    return Drawn(number + 1, page.get_size(), boxes, picture_of(page) if new else b"")
    except pypdfium2.PdfiumError as error:
        raise ValueError(str(error)) from error
    return None


def picture_of(page: Any) -> bytes:
    """A page, grey, as PNG."""
    pixels = page.render(scale=min(SCALE, LONGEST / max(page.get_size())), grayscale=True).to_numpy()
    return png(pixels.reshape(pixels.shape[:2]))


def boxes_of(page: Any, quote: str) -> list[Box]:
    """Boxes (left, top, width, height; shares of the page) of a quote's lines; none if the page lacks the quote."""
    text = page.get_textpage()
    whole = text.get_text_range()
    # Compared without blanks and hyphens, which the reading order and line ends change.
    kept = [i for i, c in enumerate(whole) if not _LOOSE.match(c)]
    lines: list[list[float]] = []
    for start, end in places_of(quote, "".join(whole[i] for i in kept).lower()):
        first, last = kept[start], kept[end - 1]
        for index in range(text.count_rects(first, last - first + 1)):
            box = shares(page, *text.get_rect(index))
            line = next((one for one in lines if one[1] < (box[1] + box[3]) / 2 < one[3]), None)
            if line is None:
                lines.append([*box])
            else:
                line[:] = [*map(min, line[:2], box[:2]), *map(max, line[2:], box[2:])]
    return [(x1, y1, x2 - x1, y2 - y1) for x1, y1, x2, y2 in lines]


def places_of(quote: str, bare: str) -> list[tuple[int, int]]:
    """The offsets of a quote in the bare text of a page: the whole quote, or its table rows, which a page shows without
    column names."""
    wanted = _LOOSE.sub("", quote).lower()
    if not wanted:
        return []
    if (at := bare.find(wanted)) >= 0:
        return [(at, at + len(wanted))]
    return [span for line in quote.split("\n") if SEPARATOR in line for span in row_in(line, bare)]


def row_in(line: str, bare: str) -> list[tuple[int, int]]:
    """The place of a table row: its cells one after another with little between them."""
    cells = [_LOOSE.sub("", cell.rpartition(": ")[2]).lower() for cell in line.split(SEPARATOR)]
    start = bare.find(cells[0]) if cells[0] else -1
    while start >= 0:
        end = start + len(cells[0])
        for cell in cells[1:]:
            at = bare.find(cell, end, end + len(cell) + _BETWEEN)
            if at < 0:
                break
            end = at + len(cell)
        else:
            return [(start, end)]
        start = bare.find(cells[0], start + 1)
    return []


def shares(page: Any, *corners: float) -> tuple[float, float, float, float]:
    """A box of the page (left, bottom, right, top) as it is shown: left, top, right, bottom, shares of its sides."""
    left, bottom, right, top = page.get_cropbox()
    points = []
    for x, y in (corners[:2], corners[2:]):
        across, down = (x - left) / (right - left), (top - y) / (top - bottom)
        for _ in range(page.get_rotation() // 90):
            across, down = 1 - down, across
        points.append((across, down))
    (x1, y1), (x2, y2) = points
    return min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)


_BETWEEN: Final = 12  # signs that may stand between two cells of a row: currencies, leaders, notes
_LOOSE: Final = re.compile(r"[\s\u00ad\u2010\u2011\ufffe|-]+")


def png(pixels: Any) -> bytes:
    """A grey picture, rows of bytes, as PNG."""
    height, width = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc32(name + data)) for name, data in chunks
    )
