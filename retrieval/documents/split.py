"""Split a document into passages along its structure, every one an exact stretch of the document's text."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final

from cragraph.errors import InputError
from cragraph.passages import content_id
from cragraph.retrieval.documents.document import NOTHING, Block, Document, Heading
from cragraph.text.sentences import sentence_spans
from cragraph.types import Passage


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
    asks = (
        text[block.end - 1] == "?" and block.end - block.start <= QUESTION and "\n" not in text[block.start : block.end]
    )
    return asks or (text[block.end - 1] == ":" and following.kind in ("item", "row", "code"))


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


CHUNK_SIZE: Final = 1000
"""Characters a chunk at most, by default; see docs/results/documents.md for what it was chosen by."""

CHUNK_OVERLAP: Final = 150
"""Characters at most that a chunk repeats of the one before it, by default, in whole sentences."""

ROWS: Final = 0.65
"""Share of the size that a chunk with table rows has at most: an encoder needs twice as many pieces for figures as for
words, and what is beyond its 256 is not seen."""

Paths = Sequence[tuple[Heading, ...]]

QUESTION: Final = 120
"""Characters of a line that ends with a question mark at most for it to head what stands below it."""

_WHOLE = 0.25
"""A chunk filled less than this goes on over the start of a section or page."""


def split(document: Document, *, chunk_size: int = CHUNK_SIZE, chunk_overlap: int = CHUNK_OVERLAP) -> list[Passage]:
    """Passages in order; `document.text[start_index:start_index + len(text)] == text` for each.

    Sections and pages begin a chunk of their own unless the one before is nearly empty; within them chunks are cut
    between paragraphs, rows and sentences, and inside a sentence only where it is longer than a chunk. A heading
    stays with what it heads.

    Raises:
        InputError: `chunk_size` is below 1, or `chunk_overlap` not in 0..chunk_size-1.
    """
    check_sizes(chunk_size, chunk_overlap)
    spans = chunk_spans(list(units_of(document, chunk_size)), chunk_size, chunk_overlap)
    paths = heading_paths(document.headings)
    return [_passage(document, units, index, paths) for index, units in enumerate(spans)]


def check_sizes(chunk_size: int, chunk_overlap: int) -> None:
    """Raises InputError where a chunk would be empty, or all of it repeated."""
    if chunk_size < 1 or not 0 <= chunk_overlap < chunk_size:
        raise InputError(
            f"chunk_size {chunk_size} and chunk_overlap {chunk_overlap} do not go together; wanted a size of at least "
            "1 and an overlap from 0 to below the size."
        )


def chunk_spans(units: Sequence[Unit], size: int, overlap: int) -> Iterator[Sequence[Unit]]:
    """Runs of units, each at most `size` characters from the start of the first to the end of the last."""
    first = fresh = 0
    while fresh < len(units):
        last = _reach(units, first, fresh, size)
        yield units[first:last]
        first, fresh = _overlapping(units, first, last, size, overlap), last


def _reach(units: Sequence[Unit], first: int, fresh: int, size: int) -> int:
    """Where a chunk that begins at `first`, and is new from `fresh` on, ends (exclusive)."""
    rows = any(unit.kind == "row" for unit in units[first : fresh + 1])
    for index in range(fresh + 1, len(units)):
        rows = rows or units[index].kind == "row"
        if units[index].end - units[first].start > (size * ROWS if rows else size):
            return _without_leads(units, fresh, index)
        if _ends_here(units, first, index, size):
            return index
    return len(units)


def _ends_here(units: Sequence[Unit], first: int, index: int, size: int) -> bool:
    """Whether a section, a page or a record that begins at `index` ends the chunk."""
    if units[index].fields is not units[index - 1].fields:
        return True
    if units[index].cut < Break.PAGE or units[index - 1].leads:
        return False
    return units[index - 1].end - units[first].start >= size * _WHOLE


def _without_leads(units: Sequence[Unit], first: int, index: int) -> int:
    """Where to cut so that headings at the end move to the chunk of what they head, if anything stays before them."""
    last = index
    while last > first and units[last - 1].leads:
        last -= 1
    return last if last > first else index


def _overlapping(units: Sequence[Unit], first: int, last: int, size: int, overlap: int) -> int:
    """The first of the units at the end of a chunk that the next one repeats: prose, whole, within the overlap."""
    if last >= len(units) or units[last].cut >= Break.PAGE or units[last].kind in ("row", "code"):
        return last
    start = last
    while (
        start - 1 > first
        and units[start - 1].kind not in ("row", "code")
        and units[last - 1].end - units[start - 1].start <= overlap
        and units[last].end - units[start - 1].start <= size
    ):
        start -= 1
    return start


def _passage(document: Document, units: Sequence[Unit], index: int, paths: Paths) -> Passage:
    start, end = units[0].start, units[-1].end
    text = document.text[start:end]
    return Passage(
        text=text,
        chunk_id=content_id(document.doc_id, text, str(start)),
        doc_id=document.doc_id,
        chunk_index=index,
        start_index=start,
        source=document.source,
        filename=document.filename,
        page=_page(document, start),
        metadata=_metadata(document, units, paths),
        retrieval_score=None,
        rerank_score=None,
    )


def _metadata(document: Document, units: Sequence[Unit], paths: Paths) -> dict[str, Any]:
    start, end = units[0].start, units[-1].end
    metadata = {**document.metadata, "format": document.format, "title": document.title, **units[0].fields}
    body = next((unit.start for unit in units if unit.kind != "heading"), start)
    above = bisect_right(paths, body if units[0].kind == "heading" else start, key=lambda path: path[-1].start)
    if above:
        metadata["heading"] = " > ".join(heading.title for heading in paths[above - 1])
    if inside := [path for path in paths[above:] if path[-1].start < end]:
        metadata["headings"] = [[path[-1].start - start, " > ".join(h.title for h in path)] for path in inside]
    rows = [unit for unit in units if unit.kind == "row"]
    if rows and rows[0].header:
        metadata["table_header"] = rows[0].header
    last = _page(document, end - 1)
    if last is not None and last != _page(document, start):
        metadata["last_page"] = last
    return metadata


def heading_paths(headings: Sequence[Heading]) -> Paths:
    """For each heading those above it, from the highest level to the lowest, and itself."""
    paths: list[tuple[Heading, ...]] = []
    for heading in headings:
        paths.append((*(above for above in (paths[-1] if paths else ()) if above.level < heading.level), heading))
    return paths


def _page(document: Document, offset: int) -> int | None:
    return max(1, bisect_right(document.page_starts, offset)) if document.page_starts else None
