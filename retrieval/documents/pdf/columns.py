"""Reading order: where a page is set in columns of prose, the left one comes before the right one.

Tables are columns too, of figures and short cells; they are left alone and read row by row.
"""

import math
from collections.abc import Sequence
from statistics import median

from cragraph.retrieval.documents.pdf.lines import Line, Segment

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
            if _is_column(lines[start:end], gutter, width):
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


def _is_column(lines: Sequence[Line], gutter: float, width: float) -> bool:
    left, right = _sides(lines, gutter)
    return _is_prose(left, width) and _is_prose(right, width)


def _sides(lines: Sequence[Line], gutter: float) -> tuple[list[Line], list[Line]]:
    left = [_part(line, [s for s in line.segments if s.x1 <= gutter]) for line in lines]
    right = [_part(line, [s for s in line.segments if s.x1 > gutter]) for line in lines]
    return [line for line in left if line], [line for line in right if line]


def _part(line: Line, segments: Sequence[Segment]) -> Line | None:
    if len(segments) == len(line.segments):
        return line
    return Line(tuple(segments)) if segments else None


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
