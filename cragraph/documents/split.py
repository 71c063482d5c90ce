"""Split a document into passages along its structure, every one an exact stretch of the document's text."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import zip_longest
from typing import Final

from cragraph.documents.document import Block, Document, Heading
from cragraph.errors import InputError
from cragraph.language.cells import CELLS, Cell, Row, kept
from cragraph.language.orders import order_warning
from cragraph.language.sentences import sentence_spans
from cragraph.passages import content_id
from cragraph.types import Passage


class Break(IntEnum):
    """Ranks of places for a cut at the start of a unit, from worst to best."""

    WORD, SENTENCE, BLOCK, PAGE, SECTION = range(5)


@dataclass(frozen=True, slots=True)
class SplitUnit:
    """A piece `[start, end)` of a block that is never cut; `leads` if it must stay with the next unit."""

    start: int
    end: int
    cut: Break
    block: Block
    leads: bool = False


def units_of(document: Document, size: int) -> Iterator[SplitUnit]:
    """The units of a document in order, each of at most `size` characters, covering every word."""
    text, pages = document.text, document.page_starts
    blocks = covering(text, document.blocks)
    for block, following in zip_longest(blocks, blocks[1:]):
        cut, spans = Break.BLOCK, [(block.start, block.end)]
        at = bisect_left(pages, block.start)
        if block.kind == "heading":
            cut = Break.SECTION
        elif block.joined:
            cut = Break.SENTENCE
        elif pages[at : at + 1] == (block.start,):
            cut = Break.PAGE
        if block.kind in ("text", "item"):
            spans = [(block.start + s, block.start + e) for s, e in sentence_spans(text[block.start : block.end])]
        leads = following is not None and _leads(text, block, following)
        for start, end in spans:
            inner = Break.SENTENCE
            for piece in _words(text, start, end, size):
                yield SplitUnit(*piece, cut if piece[0] == block.start else inner, block, leads)
                inner = Break.WORD


def covering(text: str, blocks: Sequence[Block]) -> list[Block]:
    """The non-blank blocks, with the text between them as further blocks."""
    covered: list[Block] = []
    position = 0
    for block in (*blocks, Block(len(text), len(text), "text")):
        if gap := _trimmed(text, position, block.start):
            covered.append(Block(*gap, "text"))
        if span := _trimmed(text, max(block.start, position), block.end):
            covered.append(replace(block, start=span[0], end=span[1]))
        position = max(position, block.end)
    return covered


def _leads(text: str, block: Block, following: Block) -> bool:
    if block.kind == "row":
        return following.kind == "row" and bool(following.header) and not block.header
    own = text[block.start : block.end]
    asks = own[-1] == "?" and len(own) <= QUESTION and "\n" not in own
    return block.kind == "heading" or asks or (own[-1] == ":" and following.kind in ("item", "row", "code"))


def _words(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    """Stretches of at most `size`, cut after white space in the last half, else anywhere."""
    while span := _trimmed(text, start, end):
        stop = min(end, span[0] + size)
        if stop < end and not text[stop].isspace():
            space = max(text.rfind(sign, span[0] + size // 2, stop) for sign in " \n\t")
            stop = space if space > span[0] else stop
        if piece := _trimmed(text, span[0], stop):
            yield piece
        start = stop


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


CHUNK_SIZE: Final = 1000  # characters a chunk at most; chosen by docs/lab/results/documents.md
CHUNK_OVERLAP: Final = 150  # characters that a chunk repeats of the one before it at most, in whole sentences
ROWS: Final = 0.65
"""Share of the size for a chunk with table rows: figures take twice as many word pieces as words, and the encoder reads
only 256."""

QUESTION: Final = 120  # characters at most of a question on a line that heads the lines below
_WHOLE = 0.25  # a chunk filled less than this continues over the start of a section or page


def split(document: Document, *, chunk_size: int = CHUNK_SIZE, chunk_overlap: int = CHUNK_OVERLAP) -> list[Passage]:
    """Passages in order; `document.text[start_index:start_index + len(text)] == text` for each.

    Sections and pages begin a new chunk unless the one before is nearly empty. Within them chunks are cut between
    paragraphs, rows and sentences, and inside a sentence only if it is longer than a chunk. A heading stays with the
    text below it.

    Raises:
        InputError: `chunk_size` is below 1, or `chunk_overlap` not in 0..chunk_size-1.
    """
    check_sizes(chunk_size, chunk_overlap)
    # For each heading its path: the headings above it, from the highest level down, and itself.
    paths: list[tuple[Heading, ...]] = []
    for heading in document.headings:
        paths.append((*(above for above in (paths[-1] if paths else ()) if above.level < heading.level), heading))
    units = list(units_of(document, chunk_size))
    passages: list[Passage] = []
    first = fresh = 0
    while fresh < len(units):
        last = _reach(units, first, fresh, chunk_size)
        passages.append(_passage(document, units[first:last], len(passages), paths))
        first, fresh = _overlapping(units, first, last, chunk_size, chunk_overlap), last
    return passages


def check_sizes(chunk_size: int, chunk_overlap: int) -> None:
    """Raises InputError if a chunk would be empty, or only overlap."""
    if chunk_size < 1 or not 0 <= chunk_overlap < chunk_size:
        raise InputError(
            f"chunk_size {chunk_size} and chunk_overlap {chunk_overlap} do not go together; wanted a size of at least "
            "1 and an overlap from 0 to below the size."
        )


def _reach(units: Sequence[SplitUnit], first: int, fresh: int, size: int) -> int:
    """The end (exclusive) of a chunk that begins at `first` with an overlap up to `fresh`.

    A section, a page or a record ends it. Headings at its end move to the next chunk.
    """
    rows = any(unit.block.kind == "row" for unit in units[first : fresh + 1])
    for index in range(fresh + 1, len(units)):
        unit, last = units[index], units[index - 1]
        rows = rows or unit.block.kind == "row"
        if unit.end - units[first].start > (size * ROWS if rows else size):
            end = index
            while end > fresh and units[end - 1].leads:
                end -= 1
            return end if end > fresh else index
        if unit.block.fields is not last.block.fields:
            return index
        # A doubtful page does not share a chunk with a sound one.
        full = not last.leads and last.end - units[first].start >= size * _WHOLE
        if unit.cut >= Break.PAGE and (full or unit.block.doubts != last.block.doubts):
            return index
    return len(units)


def _overlapping(units: Sequence[SplitUnit], first: int, last: int, size: int, overlap: int) -> int:
    """The first unit of the overlap, which the next chunk repeats: whole units of prose."""
    whole = ("row", "code")
    if last >= len(units) or units[last].cut >= Break.PAGE or units[last].block.kind in whole:
        return last
    start = last
    while (
        start - 1 > first
        and units[start - 1].block.kind not in whole
        and units[last - 1].end - units[start - 1].start <= overlap
        and units[last].end - units[start - 1].start <= size
    ):
        start -= 1
    return start


def _passage(
    document: Document, units: Sequence[SplitUnit], index: int, paths: Sequence[tuple[Heading, ...]]
) -> Passage:
    start, end = units[0].start, units[-1].end
    text = document.text[start:end]
    metadata = {**document.metadata, "format": document.format, "title": document.title, **units[0].block.fields}
    body = next((unit.start for unit in units if unit.block.kind != "heading"), start)
    above = bisect_right(paths, body if units[0].block.kind == "heading" else start, key=lambda path: path[-1].start)
    if above:
        metadata["heading"] = " > ".join(heading.title for heading in paths[above - 1])
    if inside := [path for path in paths[above:] if path[-1].start < end]:
        metadata["headings"] = [[path[-1].start - start, " > ".join(h.title for h in path)] for path in inside]
    if rows := [_row(unit, text, start) for unit in units if unit.block.cells]:
        metadata[CELLS] = kept(text, rows)
    places = [(doubt, unit.start - start, unit.end - start) for unit in units for doubt in unit.block.doubts]
    places += [(doubt, 0, 0) for unit in units for doubt in unit.block.of_figures]  # without a place
    orders = [f"{told}."] if (told := order_warning(text)) else []
    if doubts := list(dict.fromkeys((*document.doubts, *orders, *(doubt for doubt, _, _ in places)))):
        metadata["doubts"] = doubts
        metadata["doubted"] = [[doubts.index(doubt), *place] for doubt, *place in places]
    row = next((unit.block for unit in units if unit.block.kind == "row"), None)
    if row and row.header:
        metadata["table_header"] = row.header
    page, last = _page(document, start), _page(document, end - 1)
    if last != page:
        metadata["last_page"] = last
    return Passage(
        text=text,
        chunk_id=content_id(document.doc_id, text, str(start)),
        doc_id=document.doc_id,
        chunk_index=index,
        start_index=start,
        source=document.source,
        filename=document.filename,
        page=page,
        metadata=metadata,
        retrieval_score=None,
        rerank_score=None,
    )


def _row(unit: SplitUnit, text: str, start: int) -> Row:
    """A row with offsets in the passage that begins at `start`; of a cut row, the cells in this piece."""
    block, cells = unit.block, list[Cell]()
    for name, first, last in block.cells:
        first, last = max(block.start + first, unit.start), min(block.start + last, unit.end)
        if first < last:
            cells.append(Cell(name, text[first - start : last - start], first - start))
    return Row(tuple(cells), "", unit.start - start, unit.end - start, str(block.table))


def _page(document: Document, offset: int) -> int | None:
    return max(1, bisect_right(document.page_starts, offset)) if document.page_starts else None
