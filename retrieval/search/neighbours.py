"""Neighbours: show a passage in its surroundings, and still cite it exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cragraph.retrieval.search.searchable import Neighbourly
from cragraph.types import Passage

KEY: Final = "context"
"""Where a widened passage keeps its surroundings, in its metadata: plain JSON, as the state wants it."""

_SECTION: Final = 20
"""Chunks to each side that are looked at for the rest of a section."""

_GAP: Final = 200
"""Characters of the document between two chunks that may be missing; beyond that they are not neighbours."""


@dataclass(frozen=True)
class Place:
    """A stretch of one chunk: `chunk["text"][start:end]`, and where it is in the document."""

    chunk_id: str
    start: int
    end: int
    start_index: int


def widen(
    passages: Sequence[Passage],
    store: Neighbourly,
    *,
    before: int = 0,
    after: int = 0,
    section: bool = False,
    most: int = 4000,
) -> list[Passage]:
    """Copies of the passages whose metadata holds the text around them, under "context".

    That is a mapping of `text`, `start_index` (where the text begins in the document) and `chunks`, the chunks it is
    made of in order, each ``{"chunk_id", "start", "end", "from"}``: ``text[start:end]`` is the chunk's text from
    character `from` on. The passage itself, its text, id and offsets, stays as it is. `before` and `after` count
    chunks; with `section`, the chunks under the same heading are taken whatever their number. Chunks are added from
    the nearest outwards while the text stays within `most` characters. A passage without neighbours gets no context.
    """
    return [_widened(passage, store, before, after, section, most) for passage in passages]


def wide_text(passage: Passage) -> str:
    """What to read instead of the passage's text: the text with its surroundings, where it was widened."""
    context = passage["metadata"].get(KEY)
    return str(context["text"]) if context else passage["text"]


def read_wide(passages: Sequence[Passage]) -> list[Passage]:
    """Copies whose `text` and `start_index` are those of their surroundings, for a generator or a judge to read."""
    return [
        {**p, "text": p["metadata"][KEY]["text"], "start_index": p["metadata"][KEY]["start_index"]}
        if KEY in p["metadata"]
        else p
        for p in passages
    ]


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


def _widened(passage: Passage, store: Neighbourly, before: int, after: int, section: bool, most: int) -> Passage:
    reach = _SECTION if section else 0
    found = store.adjacent(passage, max(before, reach), max(after, reach))
    left = [p for p in found if p["chunk_index"] < passage["chunk_index"]][::-1]
    right = [p for p in found if p["chunk_index"] > passage["chunk_index"]]
    if section:
        left, right = _same_section(passage, left, before), _same_section(passage, right, after)
    chunks = _nearest_first(passage, left, right, most)
    if len(chunks) == 1:
        return passage
    return {**passage, "metadata": {**passage["metadata"], KEY: _joined(passage, chunks)}}


def _same_section(passage: Passage, side: Sequence[Passage], least: int) -> list[Passage]:
    """The chunks, going outwards, up to the first under another heading; at least as many as were asked for."""
    heading = passage["metadata"].get("heading")
    count = next((i for i, p in enumerate(side) if p["metadata"].get("heading") != heading), len(side))
    return list(side[: max(count, least)])


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


def _joined(passage: Passage, chunks: Sequence[Passage]) -> dict[str, object]:
    """The text of chunks in a row; what they repeat is kept once, what lies between them is blank, offset for offset.

    The passage is laid down whole and its neighbours around it, so that its own text stands unbroken.
    """
    start = chunks[0]["start_index"]
    middle = next(i for i, chunk in enumerate(chunks) if chunk["chunk_id"] == passage["chunk_id"])
    text = ""
    parts: list[dict[str, object]] = []
    for index, chunk in enumerate(chunks):
        at = chunk["start_index"] - start
        limit = chunks[index + 1]["start_index"] - start if index < middle else at + len(chunk["text"])
        skipped = max(0, len(text) - at) if index > middle else 0
        piece = chunk["text"][skipped : limit - at]
        if not piece:
            continue
        text += _blank(at + skipped - len(text)) + piece
        parts.append(
            {"chunk_id": chunk["chunk_id"], "start": at + skipped, "end": at + skipped + len(piece), "from": skipped}
        )
    return {"text": text, "start_index": start, "chunks": parts}


def _blank(length: int) -> str:
    return "\n" + " " * (length - 1) if length > 0 else ""


def _end(passage: Passage) -> int:
    return passage["start_index"] + len(passage["text"])
