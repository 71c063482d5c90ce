"""Neighbours: show a passage in its surroundings, and still cite it exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from cragraph.errors import StoreError
from cragraph.passages import OWN
from cragraph.protocols import Notes
from cragraph.retrieval.search.searchable import Neighbourly
from cragraph.retrieval.search.within import fits
from cragraph.types import Passage

Size = int | Literal["section"]
Around = Mapping[str, Sequence[Passage]]
"""The chunks around passages, in document order, by the `chunk_id` of the passage."""

KEY: Final = "_context"
"""Where a widened passage keeps its surroundings, in its metadata."""

_SECTION: Final = 20
"""Chunks to each side that are looked at for the rest of a section."""

_GAP: Final = 200
"""Characters of the document between two chunks that may be missing; beyond that they are not neighbours."""

MOST: Final = 4000
"""Characters of a passage with its surroundings at most."""

NO_STORE: Final = "The passages were read without the text around them: there is no store to take it from."
ELSEWHERE: Final = "{} of {} passages are not in the store, so they were read without the text around them."


@dataclass(frozen=True)
class Place:
    """A stretch of one chunk: `chunk["text"][start:end]`, and where it is in the document."""

    chunk_id: str
    start: int
    end: int
    start_index: int


@dataclass(frozen=True)
class Neighbours:
    """Finds the chunks around passages in a store; says so where there is none, or it does not know the passages."""

    store: Neighbourly | None

    def __call__(
        self, passages: Sequence[Passage], size: Size, where: Mapping[str, Any] | None, notes: Notes
    ) -> dict[str, list[Passage]]:
        """`size` chunks to each side, or those of the same section; only such as the filter `where` lets through."""
        if self.store is None:
            notes.degraded(NO_STORE)
            return {}
        try:
            held = {p["chunk_id"]: p["text"] for p in self.store.get([p["chunk_id"] for p in passages])}
            # An id alone may be a coincidence: text from elsewhere has no neighbours here.
            known = [p for p in passages if held.get(p["chunk_id"]) == p["text"]]
            if len(known) < len(passages):
                notes.degraded(ELSEWHERE.format(len(passages) - len(known), len(passages)))
            return surroundings(known, self.store, size, where=where)
        except StoreError as error:
            notes.degraded(f"The passages were read without the text around them: {error}")
            return {}


def surroundings(
    passages: Sequence[Passage],
    store: Neighbourly,
    size: Size,
    *,
    where: Mapping[str, Any] | None = None,
    most: int = MOST,
) -> dict[str, list[Passage]]:
    """The chunks around each passage, best passage first, so that none is read twice.

    A chunk that is a passage itself, or lies beside a better one already, ends the surroundings of the next. `size`
    counts chunks to each side; with "section", the chunks under the same heading are taken. Chunks are added from the
    nearest outwards while all stays within `most` characters.
    """
    taken = {passage["chunk_id"] for passage in passages}
    around: dict[str, list[Passage]] = {}
    for passage in passages:
        reach = _SECTION if size == "section" else size
        found = store.adjacent(passage, reach, reach)
        left = [p for p in found if p["chunk_index"] < passage["chunk_index"]][::-1]
        right = [p for p in found if p["chunk_index"] > passage["chunk_index"]]
        left, right = (_usable(passage, side, size, taken, where) for side in (left, right))
        chunks = [p for p in _nearest_first(passage, left, right, most) if p is not passage]
        if chunks:
            taken.update(chunk["chunk_id"] for chunk in chunks)
            around[passage["chunk_id"]] = chunks
    return around


def widen(passages: Sequence[Passage], around: Around) -> list[Passage]:
    """Copies of the passages whose metadata holds the text around them, under "_context".

    That is a mapping of `text`, `start_index` (where the text begins in the document) and `chunks`, the chunks it is
    made of in order, each ``{"chunk_id", "start", "end", "from"}``: ``text[start:end]`` is the chunk's text from
    character `from` on. The passage itself, its text, id and offsets, stays as it is. What a neighbour repeats of
    another passage, or of the neighbours of a better one, is left out. A passage without neighbours gets no context.
    """
    wide = []
    before: list[Passage] = []
    for passage in passages:
        chunks = around.get(passage["chunk_id"])
        if not chunks:
            wide.append(passage)
            continue
        others = [p for p in (*passages, *before) if p["doc_id"] == passage["doc_id"] and p is not passage]
        context = _joined(passage, chunks, others)
        before += chunks
        wide.append({**passage, "metadata": {**passage["metadata"], KEY: context}})
    return wide


def wide_text(passage: Passage) -> str:
    """What to read instead of the passage's text: the text with its surroundings, where it was widened."""
    context = passage["metadata"].get(KEY)
    return str(context["text"]) if context else passage["text"]


def read_wide(passages: Sequence[Passage]) -> list[Passage]:
    """Copies whose `text` and `start_index` are those of their surroundings, for a generator or a judge to read.

    `own_text` (cragraph.passages) tells which part is the passage's own.
    """
    return [_as_read(p) if KEY in p["metadata"] else p for p in passages]


def locate(passage: Passage, start: int, end: int) -> Place:
    """Where a stretch of `wide_text(passage)` stands: in the passage itself if it lies there, else in a neighbour.

    A stretch that runs over several chunks is cut to the chunk that holds most of it.
    """
    context = passage["metadata"].get(KEY)
    if not context:
        return Place(passage["chunk_id"], start, end, passage["start_index"] + start)
    chunks = sorted(context["chunks"], key=lambda chunk: chunk["chunk_id"] != passage["chunk_id"])
    best = max(chunks, key=lambda chunk: min(end, chunk["end"]) - max(start, chunk["start"]))
    first, last = max(start, best["start"]), min(end, best["end"])
    offset = best["from"] - best["start"]
    return Place(best["chunk_id"], first + offset, last + offset, context["start_index"] + first)


def _as_read(passage: Passage) -> Passage:
    context = passage["metadata"][KEY]
    own = next(chunk for chunk in context["chunks"] if chunk["chunk_id"] == passage["chunk_id"])
    metadata = {key: value for key, value in passage["metadata"].items() if key != KEY}
    metadata[OWN] = [own["start"], own["end"]]
    return {**passage, "text": context["text"], "start_index": context["start_index"], "metadata": metadata}


def _usable(
    passage: Passage, side: Sequence[Passage], size: Size, taken: set[str], where: Mapping[str, Any] | None
) -> list[Passage]:
    """The chunks, going outwards, up to the first that may not be used."""
    heading = passage["metadata"].get("heading")
    kept: list[Passage] = []
    for chunk in side:
        if chunk["chunk_id"] in taken or not fits(chunk, where):
            break
        if size == "section" and chunk["metadata"].get("heading") != heading:
            break
        kept.append(chunk)
    return kept


def _nearest_first(passage: Passage, left: Sequence[Passage], right: Sequence[Passage], most: int) -> list[Passage]:
    """The chunks in document order, taken in turn from both sides while they touch and there is room."""
    chosen = [passage]
    sides = [list(left), list(right)]
    while any(sides):
        for side, at in ((sides[0], 0), (sides[1], -1)):
            if not side:
                continue
            candidate = side.pop(0)
            first, last = (candidate, chosen[-1]) if at == 0 else (chosen[0], candidate)
            inner, outer = (candidate, chosen[0]) if at == 0 else (chosen[-1], candidate)
            touches = outer["start_index"] - _end(inner) <= _GAP
            if touches and _end(last) - first["start_index"] <= most:
                chosen.insert(0 if at == 0 else len(chosen), candidate)
            else:
                side.clear()
    return chosen


def _joined(passage: Passage, chunks: Sequence[Passage], others: Sequence[Passage]) -> dict[str, object]:
    """The text of chunks in a row; what they repeat is kept once, what lies between them is blank, offset for offset.

    The passage is laid down whole and its neighbours around it, so that its own text stands unbroken.
    """
    spans = [(passage["start_index"], _end(passage), passage)]
    lowest = max((_end(p) for p in others if p["chunk_index"] < passage["chunk_index"]), default=0)
    highest = min((p["start_index"] for p in others if p["chunk_index"] > passage["chunk_index"]), default=None)
    for chunk in reversed([c for c in chunks if c["chunk_index"] < passage["chunk_index"]]):
        first, last = max(chunk["start_index"], lowest), min(_end(chunk), spans[0][0])
        if first < last:
            spans.insert(0, (first, last, chunk))
    for chunk in (c for c in chunks if c["chunk_index"] > passage["chunk_index"]):
        first, last = max(chunk["start_index"], spans[-1][1]), _end(chunk)
        last = last if highest is None else min(last, highest)
        if first < last:
            spans.append((first, last, chunk))
    start = spans[0][0]
    text = ""
    parts: list[dict[str, object]] = []
    for first, last, chunk in spans:
        skipped, at = first - chunk["start_index"], first - start
        text += _blank(at - len(text)) + chunk["text"][skipped : skipped + last - first]
        parts.append({"chunk_id": chunk["chunk_id"], "start": at, "end": at + last - first, "from": skipped})
    return {"text": text, "start_index": start, "chunks": parts}


def _blank(length: int) -> str:
    return "\n" + " " * (length - 1) if length > 0 else ""


def _end(passage: Passage) -> int:
    return passage["start_index"] + len(passage["text"])
