"""Where a marker goes in a text, and putting it there."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

_STOP: Final = re.compile(r"[ \t]*[.!?…。！？,;:]+$")
_CELL: Final = re.compile(r"[ \t]*\|[ \t]*$")
_TIGHT: Final = " \t\n.,;:!?)…。"


def insertion_point(text: str, claim_end: int, start: int, end: int, code: Sequence[tuple[int, int]]) -> int | None:
    """Where a marker for a claim in the sentence ``text[start:end]`` goes: after its words, before the full stop.

    None where there is no such place, as in a code block.
    """
    place = claim_end if start < claim_end <= end else end
    while place > start and text[place - 1] in " \t\n":
        place -= 1
    for pattern in (_CELL, _STOP):
        if match := pattern.search(text, start, place):
            place = match.start()
    for opening, closing in code:
        if opening < place <= closing:
            if "\n" in text[opening:closing]:
                return None
            place = closing
    # A claim whose end was guessed must not cut a word in two.
    while place < end and text[place - 1].isalnum() and text[place].isalnum():
        place += 1
    return place if place > start else None


def spliced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """The text with each ``text[start:end]`` replaced; blanks are added and taken so that it reads well.

    `edits` are in order and do not overlap.
    """
    pieces: list[str] = []
    position = 0
    for start, end, new in edits:
        before = text[position:start]
        following = text[end : end + 1]
        if not new:
            # A dropped marker takes the blank before it along, unless a word follows directly.
            if not following or following in _TIGHT:
                before = before.rstrip(" \t") if before.strip(" \t") or pieces else before
        elif start == end and before and not before[-1].isspace() and before[-1] not in "([":
            before += " "
        pieces += [before, new]
        position = end
    return "".join([*pieces, text[position:]])
