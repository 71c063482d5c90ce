"""Layout: from the lines of pages to headings, paragraphs, items and tables in reading order."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import pairwise
from statistics import median
from typing import Final

from cragraph.documents.document import Writer
from cragraph.documents.formats.pdf.columns import columns_of_page
from cragraph.documents.formats.pdf.rows import divided, with_wraps
from cragraph.documents.formats.pdf.tables import Span, tables_in, with_labels, word_tables
from cragraph.documents.formats.pdf.words import Line, Vocabulary, weighted_median
from cragraph.language.cells import SEPARATOR
from cragraph.language.facts.fact import dates

EDGE = 3  # lines at the top and at the bottom of a page that may be header and footer
LEAST_PAGES = 3
SHARE = 0.2  # a header stands on this share of the pages, and on three at least
_NUMBERS = re.compile(r"\d+|\b[ivxlc]+\b")


def without_repeats(pages: Sequence[Sequence[Line]], seen: set[str]) -> list[list[Line]]:
    """The pages without headers and footers; a header with more than a number stays where it is first `seen`."""
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
                # Lines further in are neither header nor footer.
                ended.add(edge)
                continue
            # A date may be the header's message: each different one stays once.
            dated = " ".join([key, *(fact.text for fact in dates(line.text))])
            if dated in seen or not any(sign.isalpha() for sign in key.replace("page", "")):
                dropped.add(id(line))
            seen.add(dated)
            line.dated = any(fact.kind == "date" and fact.date[1] for fact in dates(line.text))
        kept.append([line for line in lines if id(line) not in dropped])
    return kept


def _edges(lines: Sequence[Line]) -> Iterator[tuple[Line, str]]:
    """The outermost lines of a page with the edge they are at, from the edge inwards."""
    half = (len(lines) + 1) // 2
    yield from ((line, "top") for line in lines[:half][:EDGE])
    yield from ((line, "bottom") for line in lines[half:][::-1][:EDGE])


def _key(line: Line) -> str:
    return _NUMBERS.sub("#", line.text.casefold())


LEAST_LINES = 4  # a column has at least this many lines on either side of the gutter
LOOSE = 0.8  # share of a line's height by which the lines of a form stand apart, and those of a sentence do not
SHORT = 3  # a column of a list, or of sentences that go on in the next line, at least this many
_STEP = 4.0
_SHARE = 0.2


def in_reading_order(lines: Sequence[Line]) -> list[Sequence[Line]]:
    """Runs of lines that belong together, in the order a reader takes them."""
    best = _best_gutter(lines) if len(lines) >= SHORT else None
    if best is None:
        return [lines] if lines else []
    gutter, start, end = best
    parts = (lines[:start], *_sides(lines[start:end], gutter), lines[end:])
    return [run for part in parts for run in in_reading_order(part)]


def _best_gutter(lines: Sequence[Line]) -> tuple[float, int, int] | None:
    """The gutter that divides the longest band of lines into two columns of prose."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    width = right - left
    best: tuple[float, int, int] | None = None
    longest = (SHORT - 1, 0.0)
    refused: set[tuple[int, int, int]] = set()
    crossed = [_crossed(line, left) for line in lines]
    for step in range(int(width * _SHARE / _STEP), int(width * (1 - _SHARE) / _STEP) + 1):
        gutter = left + step * _STEP
        start = 0
        for end in (*(index for index, bits in enumerate(crossed) if bits >> step & 1), len(lines)):
            # Of the places within one gutter the middle is taken: nearest to half the page.
            rank = (end - start, -abs(gutter - (left + right) / 2))
            if end - start >= SHORT and rank > longest:
                # Gutters with the same segments on their left are one and the same.
                key = (start, end, sum(s.x1 <= gutter for line in lines[start:end] for s in line.segments))
                short = end - start < LEAST_LINES or len(lines) < 2 * LEAST_LINES
                sides = [] if key in refused else _sides(lines[start:end], gutter)
                if sides and all(_is_prose(side, width, short=short) for side in sides):
                    best, longest = (gutter, start, end), rank
                else:
                    refused.add(key)
            start = end + 1
    return best


def _crossed(line: Line, left: float) -> int:
    """The horizontal steps that the segments of a line cover, as bits."""
    bits = 0
    for segment in line.segments:
        first, last = int((segment.x0 - left) / _STEP) + 1, math.ceil((segment.x1 - left) / _STEP)
        bits |= ((1 << max(0, last - first)) - 1) << first
    return bits


def _sides(lines: Sequence[Line], gutter: float) -> list[list[Line]]:
    sides: list[list[Line]] = []
    for left in (True, False):
        parts = ((line, [s for s in line.segments if (s.x1 <= gutter) is left]) for line in lines)
        sides.append([line if len(part) == len(line.segments) else Line(part) for line, part in parts if part])
    return sides


def _is_prose(lines: Sequence[Line], width: float, *, short: bool) -> bool:
    """Whether lines fill a column with words, one segment per line; few lines must be a list, or one must go on."""
    if len(lines) < SHORT or sum(len(line.segments) == 1 for line in lines) < 0.75 * len(lines):
        return False
    extent = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    if extent <= _SHARE * width or median(line.x1 - line.x0 for line in lines) < 0.6 * extent:
        return False
    if median(len(line.words) for line in lines) < 3:
        return False
    goes_on = any(below.text[:1].islower() and not _END.search(line.text) for line, below in pairwise(lines))
    loose = median(below.top - line.bottom for line, below in pairwise(lines)) > LOOSE * lines[0].height
    if (short or loose) and not goes_on and not all(_BULLET.match(line.text) for line in lines):
        return False
    signs = "".join(line.text for line in lines)
    return sum(map(str.isalpha, signs)) >= 0.7 * (len(signs) - sum(map(str.isspace, signs)))


LONGEST_HEADING = 200  # characters; a bold paragraph longer than this is a paragraph
_BULLET = re.compile(
    r"^(?:[•·●○◦▪■□➢►‣∙\uf0b7\uf0a7oØ§–—-]|[⁽¹²³⁰-⁹⁾]{1,4}|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])(?=\s+\S)"
)
_END = re.compile(r"[.!?:;][\"”’)\]]*$")
_NAMED = [re.compile(rf"^{name}\b", re.I) for name in (r"PART\s+[IVX]+", r"ITEM\s+\d+[A-C]?", r"NOTE\s+\d+")]


class PageWriter:
    """Writes pages; a paragraph may continue over the page break."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._open = self._begun = False

    def write(
        self, pages: Sequence[Sequence[Line]], across: Sequence[Sequence[str]], doubts: Sequence[str] = ()
    ) -> None:
        """Write pages; `across` has each page's words across its direction, `doubts` the doubts about pages."""
        self._words = Vocabulary(line.text for lines in pages for line in lines)
        read = [lines for n, lines in enumerate(pages) if not any(doubts[n : n + 1])] or pages
        self._body = weighted_median((line.height, len(line.text)) for lines in read for line in lines)
        for lines, aside, doubt in zip(pages, across, doubts or [""] * len(pages), strict=True):
            self._writer.page()
            self._writer.doubting = (doubt,) if doubt else ()
            self._begun = False
            columns = columns_of_page(lines)
            for part in (part for one in columns for part in in_reading_order(with_labels(divided(one)))):
                run, done = with_wraps(part), 0
                for span in _tables(run):
                    self._prose(run[done : span.start], part)
                    self._writer.table(span.table, labelled=True)
                    self._open, self._begun = False, True
                    done = span.end
                self._prose(run[done:], part)
            if aside:
                self._writer.paragraph(" ".join(aside))
        self._writer.doubting = ()

    def _prose(self, lines: Sequence[Line], column: Sequence[Line]) -> None:
        left, right = min(line.x0 for line in column), max(line.x1 for line in column)
        group, leading = list[Line](), _leading(column)
        for line in lines:
            if group and _starts_new(group, line, left, right, leading):
                self._piece(group)
                group = []
            group.append(line)
        if group:
            self._piece(group)

    def _piece(self, group: Sequence[Line]) -> None:
        goes_on = self._open and not self._begun
        self._open, self._begun = False, True
        if group[0].dated:
            day = (segment.text for segment in group[0].segments if any(dates(segment.text)))
            self._writer.heading(next(day, group[0].text), 0)
            return
        text = self._words.mended(reduce(self._words.joined, (line.text for line in group)))
        if len(group) == 1 and _is_row(group[0]):
            self._writer.line(_row_text(group[0]))
        elif level := _heading_level(group, text, self._body):
            self._writer.heading(text, level)
        elif bullet := _BULLET.match(text):
            self._writer.item(
                text[bullet.end() :].strip(), bullet[0] if bullet[0][-1] in ".)" or bullet[0][0] in "⁽¹²³" else "-"
            )
        else:
            self._writer.paragraph(text, joined=goes_on and text[0].islower())
            self._open = text[-1] not in ".!?:"


def _tables(lines: Sequence[Line]) -> Iterator[Span]:
    """The tables of figures in a column, and the tables of words between them."""
    done = 0
    for span in (*tables_in(lines), None):
        end = span.start if span else len(lines)
        # The marks of items and of numbered headings stand in a column of their own too.
        marked = (n for n in range(done, end) if _BULLET.match(lines[n].text) or _named_level(lines[n].text))
        start = done
        for stop in (*marked, end):
            yield from (Span(start + s, start + e, table) for s, e, table in word_tables(lines[start:stop]))
            start = stop + 1
        if span:
            yield span
            done = span.end


SPACED: Final = 0.3  # least share of lines that begin with a small letter in prose with wide leading


def _leading(column: Sequence[Line]) -> float:
    """The usual gap between lines of a column of prose; 0 if separate lines may be paragraphs."""
    goes_on = sum(line.text[:1].islower() for line in column)
    gaps = [line.top - last.bottom for last, line in pairwise(column)]
    return median(gaps) if len(gaps) > 2 and goes_on >= SPACED * len(column) else 0.0


def _starts_new(group: Sequence[Line], line: Line, left: float, right: float, leading: float) -> bool:
    last = group[-1]
    if (
        line.top - last.bottom > max(0.4 * min(line.height, last.height), 1.2 * leading)
        or abs(line.height - last.height) > 0.08 * last.height
        or line.bold != last.bold
        or _BULLET.match(line.text)
        or line.dated
        or last.dated
        or _is_row(line)
        or _is_row(last)
        or (line.bold and _named_level(line.text))
    ):
        return True
    if line.text[0].islower():
        return False
    indented = line.x0 > last.x0 + 0.8 * line.height and not _BULLET.match(group[0].text)
    # A line break is intended if the first word of the next line would have fitted.
    room = right - 0.12 * (right - left) - last.x1
    forced = room > line.words[0].x1 - line.words[0].x0
    return forced or bool(indented and _END.search(last.text))


def _row_text(line: Line) -> str:
    """The text of a row; a label with a colon or with dot leaders stands before its value."""
    parts = [segment for segment in line.segments if segment.text]
    text = ""
    for before, segment in pairwise([None, *parts]):
        if before is not None:
            text = f"{text.rstrip(':')}: " if before.leads or before.text.endswith(":") else text + SEPARATOR
        text += segment.text if segment else ""
    return text


def _is_row(line: Line) -> bool:
    """Whether a line has several cells and is not a list item with a separate bullet."""
    return len(line.segments) > 1 and not _BULLET.match(line.text) and not _named_level(line.text)


def _heading_level(group: Sequence[Line], text: str, body: float) -> int:
    """Level of a heading: 1 to 3 for parts, items and notes of a filing, then by size, capitals and weight; else 0."""
    if len(text) > LONGEST_HEADING or len(group) > 3 or not any(sign.isalpha() for sign in text):
        return 0
    height = max(line.height for line in group)
    larger = height > 1.12 * body and len(text) <= 120
    capitals = text.isupper() and len(text) > 3 and len(group) == 1
    stands_out = larger or capitals or all(line.bold for line in group)
    if not stands_out or text[-1] in ",;" or text[0].islower() or text[0] == "(":
        return 0
    sized = (level for level, ratio in ((4, 1.6), (5, 1.3), (6, 1.12)) if height > ratio * body)
    return _named_level(text) or next(sized, 7 if capitals else 8)


def _named_level(text: str) -> int:
    return next((level for level, named in enumerate(_NAMED, start=1) if named.match(text)), 0)
