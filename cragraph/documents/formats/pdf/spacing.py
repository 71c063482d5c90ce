"""Letters of one word that stand apart in a PDF: tracked headings and figures, and letters drawn one by one.

PDFium writes white space of its own where signs stand apart. Between signs of one size on one line the gaps decide:
they are even within a word, and wider between words.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, zip_longest
from statistics import fmean, median
from typing import Final, NamedTuple

# All lengths but those of boxes are shares of the height of the line.
TOUCHING: Final = 0.06  # the widest gap between signs that are not tracked
OVERLAP: Final = 0.15  # by which signs of a word overlap at most
SPACE: Final = 0.22  # the least width of a space
WIDE_SPACE: Final = 0.6
WIDEST: Final = 1.2  # tracking is no wider
UNEVEN: Final = 0.12  # by which tracking differs, as between `T` and `o`
ALIKE: Final = 0.03  # by which the tracking of two lines in one style differs
LEAST_EVEN: Final = 0.7  # share of the gaps within words that are even
LEAST_LETTERS: Final = 3
_POINTED = re.compile(r"\d[.,:]\d")

Box = Sequence[float]  # left, bottom, right and top in points, y upwards


class Piece(NamedTuple):
    """Signs between white spaces, by their codes and indexes on the page."""

    signs: Sequence[tuple[int, int]]
    box: Box
    apart: bool  # whether the file itself has white space behind them
    broken: bool  # whether PDFium began another line behind them


class Joined(NamedTuple):
    """Pieces `[start, end)` that are one word; `right` is its right edge if it is tracked and a space follows."""

    start: int
    end: int
    right: float | None = None


def joined(
    pieces: Sequence[Piece], box: Callable[[int], Box], spaced: Callable[[], Sequence[Piece]]
) -> Iterator[Joined]:
    """The words that pieces in the order of the file are.

    `box` gives the place of a sign; `spaced` the pieces again, apart also where the file draws a space alone.
    """
    runs = [_Run(pieces[start:end], start, box) for start, end in _runs(pieces)]
    if any(run.tracking for run in runs):
        known = spaced()
        runs = [_Run(known[run.start : run.start + len(run.pieces)], run.start, box) for run in runs]
    tracked = [run for run in runs if run.tracking]
    styles = [run for run in tracked if run.worded and not any(map(run.is_below, runs))]
    for run in tracked:
        if not any(map(run.is_like, styles)):
            run.tracking = 0.0  # signs of several columns stand evenly too
    for run in runs:
        yield from run.words()


def _runs(pieces: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """Pieces `[start, end)` that stand side by side on one line in one size."""
    start = 0
    for end in range(1, len(pieces) + 1):
        if end == len(pieces) or not _beside(pieces[end - 1].box, pieces[end].box):
            yield start, end
            start = end


def _beside(left: Box, right: Box) -> bool:
    height = left[3] - left[1]
    level = abs(right[1] - left[1]) < 0.02 * height and abs(right[3] - left[3]) < 0.02 * height
    return level and -OVERLAP * height < right[0] - left[2] < (2 * WIDEST + WIDE_SPACE) * height


class _Run:
    """Pieces on one line; `tracking` is the gap within their words, 0 where the signs of words touch."""

    def __init__(self, pieces: Sequence[Piece], start: int, box: Callable[[int], Box]) -> None:
        self.start, self.pieces = start, pieces
        self.height = self.pieces[0].box[3] - self.pieces[0].box[1]
        self.tracking = 0.0
        if len(self.pieces) > 1 and 3 * sum(len(piece.signs) == 1 for piece in self.pieces) >= len(self.pieces):
            self.tracking = self._measured(box)

    @property
    def worded(self) -> bool:
        """Whether the signs are no figures of several columns: letters, or figures with a point between them."""
        texts = [chr(code) for piece in self.pieces for code, _ in piece.signs]
        letters = sum(map(str.isalpha, texts))
        pointed = bool(_POINTED.search("".join(texts)))
        return pointed or (letters >= LEAST_LETTERS and 2 * letters >= len(texts))

    def is_like(self, other: "_Run") -> bool:
        """Whether another run is in the same size and tracked alike."""
        return abs(self.tracking - other.tracking) <= ALIKE and abs(self.height / other.height - 1) < ALIKE

    def is_below(self, other: "_Run") -> bool:
        """Whether nearly all pieces stand below or above those of another run, as in columns."""
        if other is self or len(other.pieces) < LEAST_LETTERS:
            return False
        for left, right in ((1, 0), (0.5, 0.5)):
            ours, theirs = ([left * p.box[0] + right * p.box[2] for p in run.pieces] for run in (self, other))
            if sum(any(abs(a - b) < 1 for b in theirs) for a in ours) >= max(LEAST_LETTERS, len(ours) - 1):
                return True
        return False

    def _measured(self, box: Callable[[int], Box]) -> float:
        """The tracking; 0 if the gaps are not even, or if the left edges or the middles are more even than the gaps."""
        signs = [[box(index) for _, index in piece.signs] for piece in self.pieces]
        pairs = [pair for boxes in signs for pair in pairwise(boxes)]
        pairs += [(a[-1], b[0]) for (a, b), piece in zip(pairwise(signs), self.pieces, strict=False) if not piece.apart]
        if len(pairs) < 2:
            return 0.0
        gaps = [(right[0] - left[2]) / self.height for left, right in pairs]
        usual = median(gaps)
        inner = [pair for gap, pair in zip(gaps, pairs, strict=True) if gap <= self._end(usual)]
        off = [abs((right[0] - left[2]) / self.height - usual) for left, right in inner]
        even = sum(width <= UNEVEN for width in off) >= LEAST_EVEN * len(off)
        pitches = [[b[0] - a[0] for a, b in inner], [(b[0] + b[2] - a[0] - a[2]) / 2 for a, b in inner]]
        spread = [fmean(abs(pitch - median(one)) for pitch in one) / self.height for one in pitches]
        return usual if TOUCHING < usual <= WIDEST and even and fmean(off) <= min(spread) + 0.01 else 0.0

    @staticmethod
    def _end(tracking: float) -> float:
        """The gap from which on a word ends: a space has the tracking on either side."""
        return tracking + (tracking + SPACE) / 2 if tracking else TOUCHING

    def words(self) -> Iterator[Joined]:
        """The words of the run."""
        first = self.start
        for number, (piece, behind) in enumerate(zip_longest(self.pieces, self.pieces[1:]), start=self.start + 1):
            gap = (behind.box[0] - piece.box[2]) / self.height if behind else math.inf
            touching = piece.broken or self.tracking
            if touching and not piece.apart and gap <= self._end(self.tracking):
                continue
            spaced = behind and self.tracking and gap <= 2 * self.tracking + WIDE_SPACE
            yield Joined(first, number, behind.box[0] - SPACE * self.height if behind and spaced else None)
            first = number
