"""The smallest pieces a chunk is made of: headings, sentences, list items, table rows, lines of code."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from cragraph.retrieval.documents.document import Block, Document
from cragraph.retrieval.documents.fields import NOTHING
from cragraph.sentences import sentence_spans


class Break(IntEnum):
    """How good a place the start of a unit is for a cut, from worst to best."""

    WORD = 0
    SENTENCE = 1
    BLOCK = 2
    PAGE = 3
    SECTION = 4


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of `[start, end)` that is never cut; `leads` where it makes no sense without the next one."""

    start: int
    end: int
    cut: Break
    kind: str
    header: str = ""
    leads: bool = False
    fields: Mapping[str, Any] = field(default_factory=lambda: NOTHING, hash=False)


def units_of(document: Document, size: int) -> Iterator[Unit]:
    """The units of a document in order, none longer than `size` characters, no word left out."""
    text = document.text
    pages = document.page_starts
    blocks = covering(text, document.blocks)
    for number, block in enumerate(blocks):
        following = blocks[number + 1] if number + 1 < len(blocks) else None
        leads = _leads(text, block, following)
        cut = _cut_before(block, pages)
        for start, end, inner in _pieces(text, block, size):
            yield Unit(
                start, end, cut if start == block.start else inner, block.kind, block.header, leads, block.fields
            )


def covering(text: str, blocks: Sequence[Block]) -> list[Block]:
    """The blocks without the blank ones, and what lies between them as blocks of text of their own."""
    covered: list[Block] = []
    position = 0
    for block in (*blocks, None):
        gap = _trimmed(text, position, len(text) if block is None else block.start)
        if gap:
            covered.append(Block(*gap, "text"))
        if block is None:
            break
        span = _trimmed(text, max(block.start, position), block.end)
        if span:
            covered.append(Block(*span, block.kind, block.header, block.joined, block.fields))
        position = max(position, block.end)
    return covered


def _cut_before(block: Block, pages: Sequence[int]) -> Break:
    if block.kind == "heading":
        return Break.SECTION
    if block.joined:
        return Break.SENTENCE
    at = bisect_left(pages, block.start)
    return Break.PAGE if at < len(pages) and pages[at] == block.start else Break.BLOCK


def _leads(text: str, block: Block, following: Block | None) -> bool:
    if following is None:
        return False
    if block.kind == "heading":
        return True
    if block.kind == "row":
        return following.kind == "row" and bool(following.header) and not block.header
    return text[block.end - 1] == ":" and following.kind in ("item", "row", "code")


def _pieces(text: str, block: Block, size: int) -> Iterator[tuple[int, int, Break]]:
    if block.kind in ("text", "item"):
        spans = [(block.start + s, block.start + e) for s, e in sentence_spans(text[block.start : block.end])]
    else:
        spans = [(block.start, block.end)]
    for start, end in spans:
        inner = Break.SENTENCE
        for piece in _words(text, start, end, size):
            yield (*piece, inner)
            inner = Break.WORD


def _words(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Stretches of at most `size`, cut after white space where there is any in the last half, else anywhere."""
    span = _trimmed(text, start, end)
    while span:
        start, _ = span
        stop = min(end, start + size)
        if stop < end and not text[stop].isspace():
            space = max(text.rfind(sign, start + size // 2, stop) for sign in " \n\t")
            stop = space if space > start else stop
        piece = _trimmed(text, start, stop)
        if piece:
            yield piece
        span = _trimmed(text, stop, end)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None
