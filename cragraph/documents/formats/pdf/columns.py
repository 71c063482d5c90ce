"""Columns of a page: lines side by side that stand for themselves are read one column after the other."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from statistics import median
from typing import Final, NamedTuple

from cragraph.documents.formats.pdf.words import Line, PageWord, Segment, lines_of, weighted_median

STEP: Final = 4.0  # points between the places where a gutter is looked for
GUTTER: Final = 2  # least width of a gutter in steps
NARROWEST: Final = 0.2  # least share of the width that a column has
LEAST_LINES: Final = 3  # least lines of a column
LEAST_ROWS: Final = 10  # the same above figures, whose headings they may be
LEAST_WORDS: Final = 3, 5  # least words of the usual line of a text, beside another text and beside figures
UNEVEN: Final = 0.25  # least share of lines beside one another that are not level
SIZED: Final = 0.7  # least share of lines beside one another that are in two sizes
BESIDE: Final = 0.25  # share of a line's height by which lines beside one another overlap at least
LEVEL: Final = 0.12  # share of a line's height by which lines of one row differ at most
SIZES: Final = 0.08  # share of a line's height by which lines in one size differ at most
WIDE_GAP: Final = 0.9  # share of a line's height from which on a gap may end the columns
WORDED: Final = 0.7  # least share of the lines of a column that begin with a word, and that are a text or have figures
CLOSE: Final = 0.4  # share of a line's height by which lines of a paragraph stand apart at most


class _Band(NamedTuple):
    """Lines `[start, end)` of which none crosses the gutter, and the lines on either side of it."""

    start: int
    end: int
    left: list[Line]
    right: list[Line]


def columns_of_page(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines that belong together, in the order a reader takes them: above columns, each column, below them."""
    band = _band(lines)
    if band is None:
        yield list(lines)
        return
    for part in (lines[: band.start], band.left, band.right, lines[band.end :]):
        if part:
            yield from columns_of_page(part)


def _band(lines: Sequence[Line]) -> _Band | None:
    """The longest lines with columns that stand for themselves."""
    left, right = min((line.x0 for line in lines), default=0.0), max((line.x1 for line in lines), default=0.0)
    steps = int((right - left) / STEP)
    covered = [_covered(line, left) for line in lines]
    tried: set[tuple[int, int, int]] = set()
    best: _Band | None = None
    for step in range(int(steps * NARROWEST), int(steps * (1 - NARROWEST))):
        strip = (1 << GUTTER) - 1 << step
        gutter = left + (step + GUTTER / 2) * STEP
        for start, end in _runs(lines, [bool(bits & strip) for bits in covered]):
            key = (start, end, sum(word.x1 <= gutter for line in lines[start:end] for word in line.words))
            if key in tried or (best and end - start <= best.end - best.start):
                continue
            tried.add(key)
            start = _below_paragraph(lines, start, end, gutter)
            sides = [lines_of(side) for side in _sides(lines[start:end], gutter)]
            if _are_columns(*sides, above_figures=any(line.figures for line in lines[end : end + 3])):
                best = _Band(start, end, *sides)
    return best


def _covered(line: Line, left: float) -> int:
    """The steps that the words of a line cover, as bits; a line that has no place of its own covers all."""
    if line.dated:
        return -1
    bits = 0
    for word in line.words:
        first, last = int((word.x0 - left) / STEP), int((word.x1 - left - 0.01) / STEP)
        bits |= ((1 << last - first + 1) - 1) << first
    return bits


def _runs(lines: Sequence[Line], crossed: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Lines `[start, end)` that do not cross a gutter; first the longest ones, then their parts between wide gaps."""
    for crosses, run in groupby(range(len(lines)), key=crossed.__getitem__):
        numbers = list(run)
        if crosses:
            continue
        start, end = numbers[0], numbers[-1] + 1
        yield start, end
        cuts = [n for n in numbers[1:] if lines[n].top - lines[n - 1].bottom > WIDE_GAP * lines[n].height]
        if cuts:
            yield from pairwise((start, *cuts, end))


def _below_paragraph(lines: Sequence[Line], start: int, end: int, gutter: float) -> int:
    """The first line of columns: the short end of a paragraph above them is none."""
    first = start
    while first < end - 1 and first > 0 and all(word.x1 <= gutter for word in lines[first].words):
        if lines[first].top - lines[first - 1].bottom > CLOSE * lines[first].height:
            break
        first += 1
    apart = first > start and lines[first].top - lines[first - 1].top > 0
    return first if apart else start


def _sides(lines: Sequence[Line], gutter: float) -> tuple[list[PageWord], list[PageWord]]:
    words = [word for line in lines for word in line.words]
    return [word for word in words if word.x1 <= gutter], [word for word in words if word.x1 > gutter]


def _are_columns(left: Sequence[Line], right: Sequence[Line], *, above_figures: bool) -> bool:
    """Whether lines on two sides of a gutter are columns that stand for themselves: rows of one do not go on in the
    other. A few lines above figures may be headings."""
    if min(len(left), len(right)) < (LEAST_ROWS if above_figures else LEAST_LINES):
        return False
    ends, begins = [_set(line.segments[-1]) for line in left], [_set(line.segments[0]) for line in right]
    beside = [(n, m) for n, piece in enumerate(ends) for m, other in enumerate(begins) if _overlap(piece, other)]
    uneven = sum(not _is_level(ends[n], begins[m]) and not _centred(ends, n, begins, m) for n, m in beside)
    if uneven < max(3, UNEVEN * len(beside)):
        return _are_sized(
            left, right, sum(abs(ends[n].height / begins[m].height - 1) > SIZES for n, m in beside), len(beside)
        )
    told = [2 * sum(line.figures for line in side) >= len(side) for side in (left, right)]
    words = LEAST_WORDS[told[0] != told[1]]
    width = max(line.x1 for line in right) - min(line.x0 for line in left)
    return not _are_rows(left, right) and all(_is_column(side, width, words) for side in (left, right))


def _are_sized(left: Sequence[Line], right: Sequence[Line], sized: int, beside: int) -> bool:
    """Whether lines are texts beside a list of figures in another size."""
    texts, figures = (left, right) if any(line.figures for line in right) else (right, left)
    return (
        sized > max(2, SIZED * beside)
        and all(len(line.segments) == 1 and not line.figures for line in texts)
        and 2 * sum(line.figures for line in figures) > len(figures)
    )


def _is_column(lines: Sequence[Line], width: float, words: int) -> bool:
    """Whether lines fill a column with texts, or with labels, figures and their headings, or divide into such."""
    if max(line.x1 for line in lines) - min(line.x0 for line in lines) < NARROWEST * width:
        return False
    figures = sum(line.figures for line in lines)
    single = [len(line.words) for line in lines if len(line.segments) == 1]
    worded = sum(any(map(str.isalpha, line.words[0].text)) for line in lines)
    heads = sum(below.figures and len(line.segments) > 1 and not line.figures for line, below in pairwise(lines))
    told = 2 * figures >= len(lines) or (len(single) > 0 and median(single) >= words)
    return (told and min(figures + heads + len(single), worded) >= WORDED * len(lines)) or _band(lines) is not None


def _set(segment: Segment) -> PageWord:
    """A segment as a word of the height that most of its signs are in."""
    top, bottom = (
        weighted_median((getattr(w, edge), len(w.text)) for w in segment.words) for edge in ("top", "bottom")
    )
    return PageWord(segment.text, segment.x0, segment.x1, top, bottom)


def _are_rows(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether gaps between the lines of one side are mostly gaps between those of the other, as between rows."""
    gaps = [
        [(a.bottom, b.top) for a, b in pairwise(side) if b.top - a.bottom > CLOSE * b.height] for side in (left, right)
    ]
    shared = [
        any(above < (top + end) / 2 < below for above, below in other)
        for own, other, beside in ((gaps[0], gaps[1], right), (gaps[1], gaps[0], left))
        for top, end in own
        if beside[0].top < top and end < beside[-1].bottom
    ]
    return 2 * sum(shared) > len(shared)


def _overlap(one: PageWord, two: PageWord) -> bool:
    return min(one.bottom, two.bottom) - max(one.top, two.top) > BESIDE * min(one.height, two.height)


def _is_level(one: PageWord, two: PageWord) -> bool:
    apart = min(abs(one.top - two.top), abs(one.bottom - two.bottom), abs(one.middle - two.middle))
    return apart <= LEVEL * max(one.height, two.height)


def _centred(ends: Sequence[PageWord], n: int, begins: Sequence[PageWord], m: int) -> bool:
    """Whether one of two words stands in the middle of two lines of the other side, as beside a cell of two lines."""
    return _between(begins[m], ends, n) or _between(ends[n], begins, m)


def _between(word: PageWord, others: Sequence[PageWord], number: int) -> bool:
    pairs = pairwise(others[max(0, number - 1) : number + 2])
    return any(abs((a.middle + b.middle) / 2 - word.middle) <= LEVEL * word.height for a, b in pairs)
