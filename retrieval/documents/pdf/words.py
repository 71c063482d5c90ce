"""The words of a PDF page and where they stand."""

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from cragraph.retrieval.documents.pdf.ligatures import doubled, font_name

_BOLD = re.compile(rb"bold|black|heavy|demi", re.IGNORECASE)
# PDFium writes these for a hyphen at the end of a line.
_LINE_HYPHENS = frozenset({0x02, 0xFFFE})
_SPACES = frozenset({0xA0, 0x3000})
_TURNS = 4


@dataclass(frozen=True, slots=True)
class Word:
    """A run of signs without white space; points from the left and the top of the page as it is shown."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    bold: bool = False

    @property
    def height(self) -> float:
        """Height of the font, not of the signs: equal for every word of a line in one font."""
        return self.bottom - self.top

    @property
    def middle(self) -> float:
        """Height of the middle of the line."""
        return (self.top + self.bottom) / 2


def words_of(page: Any) -> tuple[list[Word], list[str]]:
    """The words of a page in the order of the file, and the text that stands across the page's direction.

    The direction is that of most words, so a table set sideways is read upright.
    """
    text_page = page.get_textpage()
    try:
        found = _placed(text_page.raw)
    finally:
        text_page.close()
    turns = Counter(turn for _, turn in found)
    main = turns.most_common(1)[0][0] if found else 0
    width, height = _size(page)
    upright = [_turned(word, main, width, height) for word, turn in found if turn == main]
    across = [word.text for word, turn in found if turn != main]
    return upright, across


def _placed(raw: Any) -> list[tuple[Word, int]]:
    """Words in the coordinates of the file (origin at the bottom left, y upwards) with their quarter turns."""
    count = pdfium.FPDFText_CountChars(raw)
    codes = [pdfium.FPDFText_GetUnicode(raw, index) for index in range(count)]
    twice = doubled(raw, codes)
    found: list[tuple[Word, int]] = []
    box = pdfium.FS_RECTF()
    signs: list[int] = []
    first = last = 0
    for index, code in enumerate(codes):
        if code in _LINE_HYPHENS:
            code = 0x2D
        if code > 0x20 and code not in _SPACES:
            first = index if not signs else first
            last = index
            signs.extend([code, code] if index in twice else [code])
        elif signs and index - 1 not in twice:
            found.append(_word(raw, box, signs, first, last))
            signs = []
    if signs:
        found.append(_word(raw, box, signs, first, last))
    return found


def _word(raw: Any, box: Any, signs: list[int], first: int, last: int) -> tuple[Word, int]:
    pdfium.FPDFText_GetLooseCharBox(raw, first, box)
    left, right, bottom, top = box.left, box.right, box.bottom, box.top
    if last > first:
        pdfium.FPDFText_GetLooseCharBox(raw, last, box)
        left, right = min(left, box.left), max(right, box.right)
        bottom, top = min(bottom, box.bottom), max(top, box.top)
    angle = pdfium.FPDFText_GetCharAngle(raw, first)
    turn = round(angle / (math.pi / 2)) % _TURNS if angle > 0 else 0
    return Word(_decoded(signs), left, right, bottom, top, bool(_BOLD.search(font_name(raw, first)))), turn


def _decoded(signs: list[int]) -> str:
    """Signs as text; PDFium hands out what lies beyond the first plane as two halves."""
    text = "".join(map(chr, signs))
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _size(page: Any) -> tuple[float, float]:
    left, bottom, right, top = page.get_cropbox()
    return right - left, top - bottom


def _turned(word: Word, turn: int, width: float, height: float) -> Word:
    """A word as it stands once the page is turned so that it reads from left to right, y downwards."""
    x0, x1, low, high = word.x0, word.x1, word.top, word.bottom
    if turn == 3:  # reads upwards
        x0, x1, low, high, height = low, high, width - x1, width - x0, width
    elif turn == 1:  # reads downwards
        x0, x1, low, high, height = height - high, height - low, x0, x1, width
    elif turn == 2:
        x0, x1, low, high = width - x1, width - x0, height - high, height - low
    return Word(word.text, x0, x1, height - high, height - low, word.bold)
