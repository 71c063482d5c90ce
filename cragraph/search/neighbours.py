"""Neighbours: passages with the chunks around them, still cited exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, Literal, NamedTuple

from cragraph.errors import StoreError
from cragraph.language.cells import CELLS, Row, kept, rows_of
from cragraph.protocols import Notes, PassageStore
from cragraph.store.filters import Where, fits
from cragraph.types import Part, Passage

Size = int | Literal["section"]

MOST_CHARACTERS: Final = 4000  # characters of a passage with its surroundings at most
_SECTION: Final = 20  # chunks on each side that are searched for the rest of a section
_GAP: Final = 200  # characters between neighbouring chunks at most
NO_STORE: Final = "The passages were read without the text around them: there is no store to take it from."
ELSEWHERE: Final = "{} of {} passages are not in the store, so they were read without the text around them."


class Place(NamedTuple):
    """A stretch of one chunk: `chunk["text"][start:end]`, with its place in the document."""

    chunk_id: str
    start: int
    end: int
    start_index: int


@dataclass(frozen=True)
class Neighbours:
    """Finds the chunks around passages in a store; notes unknown passages and failures."""

    store: PassageStore

    def __call__(self, passages: Sequence[Passage], size: Size, where: Where, notes: Notes) -> list[Passage]:
        """The passages with `around`: `size` chunks on each side, or the chunks of the section, that fit `where`."""
        alone = [without_around(passage) for passage in passages]
        try:
            stored = {p["chunk_id"]: p["text"] for p in self.store.get([p["chunk_id"] for p in alone])}
            # An equal id may be a coincidence: foreign text has no neighbours here.
            known = [p for p in alone if stored.get(p["chunk_id"]) == p["text"]]
            if len(known) < len(alone):
                notes.degraded(ELSEWHERE.format(len(alone) - len(known), len(alone)))
            wide = iter(surroundings(known, self.store, size, where=where))
            return [next(wide) if p in known else p for p in alone]
        except StoreError as error:
            notes.degraded(f"The passages were read without the text around them: {error}")
            return alone


def without_around(passage: Passage) -> Passage:
    """The passage without its neighbours."""
    if "around" not in passage:
        return passage
    bare = passage.copy()
    del bare["around"]
    return bare


def all_read(passages: Sequence[Passage]) -> list[Passage]:
    """The passages, followed by every chunk around one of them."""
    return [*map(without_around, passages), *(chunk for passage in passages for chunk in passage.get("around", []))]


def surroundings(
    passages: Sequence[Passage], store: PassageStore, size: Size, *, where: Where = None, most: int = MOST_CHARACTERS
) -> list[Passage]:
    """The passages with the chunks `around` each, best passage first, so that none is read twice.

    A chunk that is a passage itself, or lies beside a better one already, ends the surroundings of the next. `size`
    counts chunks to each side; with "section", the chunks under the same heading are taken. Chunks are added from the
    nearest outwards while all stays within `most` characters. A passage without neighbours gets no `around`.
    """
    taken = {passage["chunk_id"] for passage in passages}
    reach = _SECTION if size == "section" else size
    wide: list[Passage] = []
    for passage in map(without_around, passages):
        near = store.adjacent(passage, reach, reach)
        heading = passage["metadata"].get("heading")
        usable = [
            chunk["chunk_id"]
            for chunk in near
            if size != "section" or chunk["metadata"].get("heading") == heading
            if chunk["chunk_id"] not in taken and fits(chunk, where)
        ]
        chunks = [p for p in _nearest_first(passage, near, usable, most) if p is not passage]
        taken.update(chunk["chunk_id"] for chunk in chunks)
        wide.append({**passage, "around": chunks} if chunks else passage)
    return wide


def read_wide(passages: Sequence[Passage]) -> list[Passage]:
    """The passages for a generator or a judge: `text` and `start_index` include their surroundings.

    `parts` has the chunk of each stretch of the text. Text that repeats another passage, or a better passage's
    neighbours, is left out.
    """
    wide: list[Passage] = []
    before: list[Passage] = []
    for passage in passages:
        if not (chunks := passage.get("around")):
            wide.append(passage)
            continue
        others = [p for p in (*passages, *before) if p["doc_id"] == passage["doc_id"] and p is not passage]
        text, start_index, parts, rows = _joined(passage, chunks, others)
        before += chunks
        metadata = passage["metadata"] | ({CELLS: kept(text, rows)} if rows else {})
        whole: Any = {"text": text, "start_index": start_index, "parts": parts, "metadata": metadata}
        wide.append({**without_around(passage), **whole})
    return wide


def locate(passage: Passage, start: int, end: int) -> Place:
    """The place of a stretch of a passage from `read_wide`: in the passage or in the neighbour with most of it."""
    if "parts" not in passage:
        return Place(passage["chunk_id"], start, end, passage["start_index"] + start)
    parts = sorted(passage["parts"], key=lambda part: part["chunk_id"] != passage["chunk_id"])
    best = max(parts, key=lambda part: min(end, part["end"]) - max(start, part["start"]))
    first, last = max(start, best["start"]), min(end, best["end"])
    offset = best["from"] - best["start"]
    return Place(best["chunk_id"], first + offset, last + offset, passage["start_index"] + first)


def _nearest_first(passage: Passage, near: Sequence[Passage], usable: Sequence[str], most: int) -> list[Passage]:
    """The chunks in document order, taken in turn from both sides while they are usable, adjacent and within the
    limit."""
    chosen = [passage]
    ended: set[str] = set()
    left = [chunk for chunk in reversed(near) if chunk["chunk_index"] < passage["chunk_index"]]
    right = [chunk for chunk in near if chunk["chunk_index"] > passage["chunk_index"]]
    for before, after in zip_longest(left, right):
        for side, candidate in (("left", before), ("right", after)):
            if candidate is None or side in ended:
                continue
            row = [candidate, *chosen] if side == "left" else [*chosen, candidate]
            one, other = row[:2] if side == "left" else row[-2:]
            touch = other["start_index"] - _end(one) <= _GAP
            if touch and candidate["chunk_id"] in usable and _end(row[-1]) - row[0]["start_index"] <= most:
                chosen = row
            else:
                ended.add(side)
    return chosen


def _joined(
    passage: Passage, chunks: Sequence[Passage], others: Sequence[Passage]
) -> tuple[str, int, list[Part], list[Row]]:
    """The text of adjacent chunks: overlaps once, gaps as blanks, so that offsets stay."""
    place = passage["chunk_index"]
    spans = [(passage["start_index"], _end(passage), passage)]
    lowest = max((_end(other) for other in others if other["chunk_index"] < place), default=0)
    highest = min((other["start_index"] for other in others if other["chunk_index"] > place), default=None)
    for chunk in reversed([chunk for chunk in chunks if chunk["chunk_index"] < place]):
        first, last = max(chunk["start_index"], lowest), min(_end(chunk), spans[0][0])
        if first < last:
            spans.insert(0, (first, last, chunk))
    for chunk in (chunk for chunk in chunks if chunk["chunk_index"] > place):
        first, last = max(chunk["start_index"], spans[-1][1]), min(_end(chunk), highest or _end(chunk))
        if first < last:
            spans.append((first, last, chunk))
    start = spans[0][0]
    text = ""
    parts, rows = list[Part](), list[Row]()
    for first, last, chunk in spans:
        skipped, at = first - chunk["start_index"], first - start
        if at > len(text):
            text += "\n" + " " * (at - len(text) - 1)
        text += chunk["text"][skipped : skipped + last - first]
        part: Part = {"chunk_id": chunk["chunk_id"], "start": at, "end": at + last - first, "from": skipped}
        if chunk["metadata"].get("doubts"):
            part["about"] = {name: chunk["metadata"].get(name) for name in ("doubts", "doubted")}
        parts.append(part)
        for row in rows_of(chunk):
            if skipped <= row.start and row.end <= skipped + last - first:
                rows.append(row.moved(at - skipped))
    return text, start, parts, rows


def _end(passage: Passage) -> int:
    return passage["start_index"] + len(passage["text"])
