"""Pages of lines as headings, paragraphs, items and tables in reading order."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Literal, NamedTuple

from cragraph.retrieval.documents.document import Writer
from cragraph.retrieval.documents.formats.pdf.tables import tables_in, with_labels, word_tables
from cragraph.retrieval.documents.formats.pdf.words import Line, Vocabulary, weighted_median
from cragraph.retrieval.documents.tables import SEPARATOR, Table

EDGE = 3
"""Lines at the top and at the bottom of a page that may be header and footer."""

LEAST_PAGES = 3
SHARE = 0.2
"""A line is a header where it stands on this share of the pages, and on three at least."""

_NUMBERS = re.compile(r"\d+|\b[ivxlc]+\b")


def without_repeats(pages: Sequence[Sequence[Line]], seen: set[str]) -> list[list[Line]]:
    """The pages without their headers and footers; one that says more than a number stays where it first stands.

    `seen` keeps what has been met, over several calls on parts of one document.
    """
    places: dict[tuple[str, str], set[int]] = defaultdict(set)
    for number, lines in enumerate(pages):
        for line, edge in _edges(lines):
            places[_key(line), edge].add(number)
    least = max(LEAST_PAGES, SHARE * len(pages))
    kept: list[list[Line]] = []
    for lines in pages:
        dropped: set[int] = set()
        ended: set[str] = set()
        for line, edge in _edges(lines):
            key = _key(line)
            if edge in ended or len(places[key, edge]) < least:
                # Nothing further in is header or footer.
                ended.add(edge)
                continue
            if key in seen or not any(sign.isalpha() for sign in key.replace("page", "")):
                dropped.add(id(line))
            seen.add(key)
        kept.append([line for line in lines if id(line) not in dropped])
    return kept


def _edges(lines: Sequence[Line]) -> Iterator[tuple[Line, str]]:
    """The outermost lines of a page with the edge they are at, from the edge inwards."""
    half = (len(lines) + 1) // 2
    yield from ((line, "top") for line in lines[:half][:EDGE])
    yield from ((line, "bottom") for line in lines[half:][::-1][:EDGE])


def _key(line: Line) -> str:
    return _NUMBERS.sub("#", line.text.casefold())


LEAST_LINES = 4
"""A column has at least this many lines on either side of the gutter."""

_STEP = 4.0
_SHARE = 0.2


def in_reading_order(lines: Sequence[Line]) -> list[list[Line]]:
    """Runs of lines that belong together, in the order a reader takes them."""
    if len(lines) < 2 * LEAST_LINES:
        return [list(lines)] if lines else []
    best = _best_gutter(lines)
    if best is None:
        return [list(lines)]
    gutter, start, end = best
    left, right = _sides(lines[start:end], gutter)
    return [
        *in_reading_order(lines[:start]),
        *in_reading_order(left),
        *in_reading_order(right),
        *in_reading_order(lines[end:]),
    ]


def _best_gutter(lines: Sequence[Line]) -> tuple[float, int, int] | None:
    """The gutter with the longest band of lines that it parts into two columns of prose."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    width = right - left
    best: tuple[int, float, int, int] | None = None
    refused: set[tuple[int, int, int]] = set()
    crossed = [_crossed(line, left) for line in lines]
    for step in range(int(width * _SHARE / _STEP), int(width * (1 - _SHARE) / _STEP) + 1):
        gutter = left + step * _STEP
        for start, end in _bands(crossed, step):
            if end - start < LEAST_LINES or (best is not None and end - start < best[0]):
                continue
            # Of the places within one gutter the middle is taken: nearest to half the page.
            off = abs(gutter - (left + right) / 2)
            if best is not None and end - start == best[0] and off >= best[1]:
                continue
            # Gutters with the same segments on their left are one and the same.
            key = (start, end, sum(s.x1 <= gutter for line in lines[start:end] for s in line.segments))
            if key in refused:
                continue
            if all(_is_prose(side, width) for side in _sides(lines[start:end], gutter)):
                best = (end - start, off, start, end)
                chosen = gutter
            else:
                refused.add(key)
    return None if best is None else (chosen, best[2], best[3])


def _crossed(line: Line, left: float) -> int:
    """The steps from the left that the segments of a line lie over, as bits."""
    bits = 0
    for segment in line.segments:
        first, last = int((segment.x0 - left) / _STEP) + 1, math.ceil((segment.x1 - left) / _STEP)
        bits |= ((1 << max(0, last - first)) - 1) << first
    return bits


def _bands(crossed: Sequence[int], step: int) -> list[tuple[int, int]]:
    """Runs of lines that no segment carries across the gutter at a step."""
    bands: list[tuple[int, int]] = []
    start = 0
    for index, bits in enumerate(crossed):
        if bits >> step & 1:
            if index > start:
                bands.append((start, index))
            start = index + 1
    if start < len(crossed):
        bands.append((start, len(crossed)))
    return bands


def _sides(lines: Sequence[Line], gutter: float) -> tuple[list[Line], list[Line]]:
    def side(left: bool) -> list[Line]:
        parts = ((line, [s for s in line.segments if (s.x1 <= gutter) is left]) for line in lines)
        return [line if len(part) == len(line.segments) else Line(part) for line, part in parts if part]

    return side(True), side(False)


def _is_prose(lines: Sequence[Line], width: float) -> bool:
    """Whether lines fill a column of their own with words, one segment a line."""
    if len(lines) < LEAST_LINES:
        return False
    if sum(len(line.segments) == 1 for line in lines) < 0.75 * len(lines):
        return False
    extent = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    if extent <= _SHARE * width or median(line.x1 - line.x0 for line in lines) < 0.6 * extent:
        return False
    if median(len(line.words) for line in lines) < 3:
        return False
    signs = "".join(line.text for line in lines)
    return sum(map(str.isalpha, signs)) >= 0.7 * (len(signs) - sum(map(str.isspace, signs)))


LONGEST_HEADING = 200
"""Characters; a bold paragraph longer than this is a paragraph."""

_BULLET = re.compile(r"^(?:[•·●○◦▪■□➢►‣∙\uf0b7\uf0a7oØ§–—-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])(?=\s+\S)")
_END = re.compile(r"[.!?:;][\"”’)\]]*$")
_PART = re.compile(r"^PART\s+[IVX]+\b", re.IGNORECASE)
_ITEM = re.compile(r"^ITEM\s+\d+[A-C]?\b", re.IGNORECASE)
_NOTE = re.compile(r"^NOTE\s+\d+\b", re.IGNORECASE)


class Piece(NamedTuple):
    """A paragraph, list item, heading or row of words; `level` is that of a heading."""

    kind: Literal["text", "item", "heading", "row"]
    text: str
    level: int = 0


def pieces_of(lines: Sequence[Line], edges: tuple[float, float], body: float, words: Vocabulary) -> Iterator[Piece]:
    """The pieces of lines in one column with these edges; `body` is the height of the document's running text."""
    left, right = edges
    group: list[Line] = []
    for line in lines:
        if group and _starts_new(group, line, left, right, body):
            yield _piece(group, body, words)
            group = []
        group.append(line)
    if group:
        yield _piece(group, body, words)


def _starts_new(group: Sequence[Line], line: Line, left: float, right: float, body: float) -> bool:
    last = group[-1]
    if line.top - last.bottom > 0.4 * min(line.height, last.height):
        return True
    if abs(line.height - last.height) > 0.08 * last.height or line.bold != last.bold:
        return True
    if _BULLET.match(line.text) or _is_row(line) or _is_row(last):
        return True
    if _named_level(line.text) and line.bold:
        return True
    if line.text[0].islower():
        return False
    indented = line.x0 > last.x0 + 0.8 * line.height and not _BULLET.match(group[0].text)
    # A line is broken on purpose where the first word of the next one would have fitted on it.
    room = right - 0.12 * (right - left) - last.x1
    forced = room > line.words[0].x1 - line.words[0].x0
    return forced or bool(indented and _END.search(last.text))


def _is_row(line: Line) -> bool:
    """Whether a line is several cells and no item whose bullet stands apart."""
    return len(line.segments) > 1 and not _BULLET.match(line.text) and not _named_level(line.text)


def _piece(group: Sequence[Line], body: float, words: Vocabulary) -> Piece:
    text = joined((line.text for line in group), words)
    if len(group) == 1 and _is_row(group[0]):
        return Piece("row", SEPARATOR.join(segment.text for segment in group[0].segments if segment.text))
    level = _heading_level(group, text, body)
    if level:
        return Piece("heading", text, level)
    bullet = _BULLET.match(text)
    if bullet:
        mark = bullet[0] if bullet[0][-1] in ".)" else "-"
        return Piece("item", f"{mark} {text[bullet.end() :].strip()}")
    return Piece("text", text)


def joined(texts: Iterable[str], words: Vocabulary) -> str:
    """Lines as one, words that were cut at a line end put together."""
    result = ""
    for text in texts:
        result = words.joined(result, text) if result else text
    return words.mended(result)


def _heading_level(group: Sequence[Line], text: str, body: float) -> int:
    """1 to 3 for parts, items and notes of a filing, then by size, capitals and weight; 0 for what is no heading."""
    if len(text) > LONGEST_HEADING or len(group) > 3 or not any(sign.isalpha() for sign in text):
        return 0
    if text[-1] in ",;" or text[0].islower() or text[0] == "(":
        return 0
    height = max(line.height for line in group)
    bold = all(line.bold for line in group)
    larger = height > 1.12 * body and len(text) <= 120
    capitals = text.isupper() and len(text) > 3 and len(group) == 1
    if not (bold or larger or capitals):
        return 0
    named = _named_level(text)
    if named:
        return named
    for level, ratio in ((4, 1.6), (5, 1.3), (6, 1.12)):
        if height > ratio * body:
            return level
    return 7 if capitals else 8


def _named_level(text: str) -> int:
    return 1 if _PART.match(text) else 2 if _ITEM.match(text) else 3 if _NOTE.match(text) else 0


class PageWriter:
    """Writes pages, keeping in mind how the last one ended: a paragraph may go on over the page break."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._open = False

    def write(self, pages: Sequence[Sequence[Line]], across: Sequence[Sequence[str]]) -> None:
        """Write pages; `across` holds the words that stand across the direction of each."""
        words = Vocabulary(line.text for lines in pages for line in lines)
        body = weighted_median((line.height, len(line.text)) for lines in pages for line in lines)
        for lines, aside in zip(pages, across, strict=True):
            self._writer.page()
            first = True
            for piece in page_pieces(lines, body, words):
                self._piece(piece, first)
                first = False
            if aside:
                self._writer.paragraph(" ".join(aside))

    def _piece(self, piece: Piece | Table, first: bool) -> None:
        was_open, self._open = self._open, False
        if isinstance(piece, Table):
            self._writer.table(piece, labelled=True)
        elif piece.kind == "heading":
            self._writer.heading(piece.text, piece.level)
        elif piece.kind == "item":
            self._writer.item(piece.text, "")
        elif piece.kind == "row":
            self._writer.line(piece.text)
        else:
            self._writer.paragraph(piece.text, joined=first and was_open and piece.text[0].islower())
            self._open = piece.text[-1] not in ".!?:"


def page_pieces(lines: Sequence[Line], body: float, words: Vocabulary) -> Iterator[Piece | Table]:
    """The pieces of one page in reading order."""
    for run in in_reading_order(with_labels(lines)):
        edges = (min(line.x0 for line in run), max(line.x1 for line in run))

        def prose(part: Sequence[Line], edges: tuple[float, float] = edges) -> Iterator[Piece | Table]:
            done = 0
            for start, end in _stretches(part):
                for span in word_tables(part[start:end]):
                    yield from pieces_of(part[done : start + span.start], edges, body, words)
                    yield span.table
                    done = start + span.end
            yield from pieces_of(part[done:], edges, body, words)

        done = 0
        for span in tables_in(run):
            yield from prose(run[done : span.start])
            yield span.table
            done = span.end
        yield from prose(run[done:])


def _stretches(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Runs of lines without items and numbered headings, whose marks stand in a column of their own too."""
    start = 0
    for index, line in enumerate(lines):
        if _BULLET.match(line.text) or _named_level(line.text):
            yield start, index
            start = index + 1
    yield start, len(lines)
