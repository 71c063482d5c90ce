"""Pages of PDF sources as pictures, with a quote boxed."""

import re
import struct
from base64 import b64encode
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from zlib import compress, crc32

from cragraph.types import Passage

MOST: Final = 12  # pages shown in one report at most: each is some 100 kB
SCALE: Final = 1.5  # pixels a point
LONGEST: Final = 2000  # pixels of a page's longer side at most: a poster is no reason for a report of megabytes


@dataclass
class PagePictures:
    """Draws the page of a passage; the same page with another quote reuses the picture. Counts what is left out."""

    left_out: int = 0
    _drawn: set[str] = field(default_factory=set)

    def __call__(self, passage: Passage, quote: str) -> str:
        """The page as HTML; empty where the source is no PDF that is still there, or cannot be read."""
        source = str(passage["metadata"].get("path") or passage["source"])
        if not source.lower().endswith(".pdf") or not passage["page"] or not Path(source).is_file():
            return ""
        import pypdfium2

        with suppress(pypdfium2.PdfiumError), closing(pypdfium2.PdfDocument(source)) as document:
            # A passage may begin on one page and the quote stand on the next.
            for number in range(passage["page"] - 1, min(passage["page"] + 1, len(document))):
                if boxes := boxes_of(document[number], quote):
                    return self._page(document, source, number, boxes)
        return ""

    def _page(self, document: Any, source: str, number: int, boxes: list[tuple[float, float, float, float]]) -> str:
        name, style = f"page{crc32(source.encode()):08x}-{number + 1}", ""
        if name not in self._drawn:
            if len(self._drawn) >= MOST:
                self.left_out += 1
                return ""
            page = document[number]
            width, height = page.get_size()
            pixels = page.render(scale=min(SCALE, LONGEST / max(width, height)), grayscale=True).to_numpy()
            data = b64encode(png(pixels.reshape(pixels.shape[:2]))).decode()
            # A picture that several quotes share is written once, in the style of its first use.
            rule = f"aspect-ratio:{width:.0f}/{height:.0f};background-image:url(data:image/png;base64,{data})"
            style = f"<style>.{name}{{{rule}}}</style>"
            self._drawn.add(name)
        marks = "".join(
            f'<i style="left:{x:.2%};top:{y:.2%};width:{wide:.2%};height:{high:.2%}"></i>' for x, y, wide, high in boxes
        )
        label = f"Page {number + 1} of the document, with the quote boxed"
        return f'{style}<span class="page {name}" role="img" aria-label="{label}">{marks}</span>'


def boxes_of(page: Any, quote: str) -> list[tuple[float, float, float, float]]:
    """Boxes (left, top, width, height; shares of the page) of a quote's lines; none where the page lacks it."""
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
    """Where a quote stands in the bare text of a page: whole, or its rows of tables, which a page shows without the
    names of their columns."""
    wanted = _LOOSE.sub("", quote).lower()
    if not wanted:
        return []
    if (at := bare.find(wanted)) >= 0:
        return [(at, at + len(wanted))]
    return [span for line in quote.split("\n") if " | " in line for span in row_in(line, bare)]


def row_in(line: str, bare: str) -> list[tuple[int, int]]:
    """Where a row of a table stands: its cells one after another with little between them."""
    cells = [_LOOSE.sub("", cell.rpartition(": ")[2]).lower() for cell in line.split(" | ")]
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
