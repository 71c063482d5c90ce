"""Double letters that PDFium loses.

It takes the second letter of a ligature that stands for `ff` or `tt` for one printed twice to look bold, drops it, and
sees a gap in its place: `affect` comes as `af ect`. What is left is a letter much wider than its like in that font.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import pypdfium2.raw as pdfium

WIDER = 1.35
"""How much wider than the narrowest of its kind a letter is that stands for two."""

NAME_BYTES = 96
_LETTERS = frozenset(map(ord, "ft"))
_SPACE = 0x20


def doubled(raw: Any, codes: Sequence[int]) -> set[int]:
    """Indexes of the letters that stand for two; each is followed by a space that is not there."""
    suspects = [
        index
        for index in range(len(codes) - 2)
        if codes[index] in _LETTERS
        and codes[index + 1] == _SPACE
        and chr(codes[index + 2]).islower()
        and pdfium.FPDFText_IsGenerated(raw, index + 1) == 1
    ]
    if not suspects:
        return set()
    widths = {index: _kind(raw, index, code) for index, code in enumerate(codes) if code in _LETTERS}
    narrowest: dict[tuple[int, bytes, float], float] = {}
    for kind, width in widths.values():
        narrowest[kind] = min(width, narrowest.get(kind, width))
    return {index for index in suspects if widths[index][1] > WIDER * narrowest[widths[index][0]]}


# One buffer for all calls: they come from within the lock that PDFium is used under.
_NAME = ctypes.create_string_buffer(NAME_BYTES)
_FLAGS = ctypes.c_int()


def font_name(raw: Any, index: int) -> bytes:
    """The name of the font that a sign is set in."""
    _NAME[0] = b"\x00"
    pdfium.FPDFText_GetFontInfo(raw, index, _NAME, NAME_BYTES, _FLAGS)
    return bytes(_NAME.value)


def _kind(raw: Any, index: int, code: int) -> tuple[tuple[int, bytes, float], float]:
    """Letter, font and size of a sign, and its width."""
    box = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(raw, index, box)
    return (code, font_name(raw, index), round(box.top - box.bottom, 1)), box.right - box.left
