"""Paragraphs, list items and headings out of lines of prose."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from cragraph.retrieval.documents.pdf.hyphens import Vocabulary
from cragraph.retrieval.documents.pdf.lines import Line
from cragraph.retrieval.documents.tables import SEPARATOR

LONGEST_HEADING = 200
"""Characters; a bold paragraph longer than this is a paragraph."""

_BULLET = re.compile(r"^(?:[•·●○◦▪■□➢►‣∙\uf0b7\uf0a7oØ§–—-]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])(?=\s+\S)")
_END = re.compile(r"[.!?:;][\"”’)\]]*$")
_PART = re.compile(r"^PART\s+[IVX]+\b", re.IGNORECASE)
_ITEM = re.compile(r"^ITEM\s+\d+[A-C]?\b", re.IGNORECASE)
_NOTE = re.compile(r"^NOTE\s+\d+\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Piece:
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
