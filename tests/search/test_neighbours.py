from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cragraph.errors import StoreError
from cragraph.passages import own_text
from cragraph.protocols import Notes
from cragraph.search.neighbours import (
    Neighbours,
    Size,
    locate,
    read_wide,
    surroundings,
)
from cragraph.types import Passage

TEXT = "# Ice\n\nPenguins swim. They dive for krill.\n\n# Sea\n\nWhales sing loudly. Nobody knows why."


def cut(text: str, spans: list[tuple[int, int]], headings: list[str] | None = None) -> list[Passage]:
    return [
        Passage(
            text=text[start:end], chunk_id=f"c{index}", doc_id="d", chunk_index=index, start_index=start, source="d.md",
            filename="d.md", page=None, metadata={"heading": headings[index]} if headings else {},
            retrieval_score=0.5, rerank_score=None,
        )
        for index, (start, end) in enumerate(spans)
    ]  # fmt: skip


class Document:
    """A store of one document."""

    def __init__(self, chunks: list[Passage]) -> None:
        self.chunks = chunks

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        return [chunk for chunk in self.chunks if chunk["chunk_id"] in chunk_ids]

    def adjacent(self, passage: Passage, before: int, after: int) -> list[Passage]:
        place = passage["chunk_index"]
        return [c for c in self.chunks if c["chunk_index"] != place and -before <= c["chunk_index"] - place <= after]


@st.composite
def chunked(draw: st.DrawFn) -> tuple[str, list[Passage]]:
    """A text cut into chunks that touch, overlap or leave blanks between them."""
    starts, ends, at = [0], [], 0
    for _ in range(draw(st.integers(1, 5))):
        length = draw(st.integers(4, 12))
        ends.append(at + length)
        at += length - draw(st.integers(0, 3))
        starts.append(at)
    text = "".join(chr(97 + n % 26) for n in range(ends[-1]))
    return text, cut(text, list(zip(starts, ends, strict=False)))


def widened(passages: list[Passage], chunks: list[Passage], size: Size, **options: Any) -> list[Passage]:
    return surroundings(passages, Document(chunks), size, **options)


@given(chunked(), st.integers(0, 3), st.sets(st.integers(0, 4), min_size=1))
def test_wide_text_is_the_documents_and_every_stretch_of_it_maps_back(
    made: tuple[str, list[Passage]], size: int, at: set[int]
) -> None:
    text, chunks = made
    by_id = {chunk["chunk_id"]: chunk for chunk in chunks}
    passages = [chunks[index] for index in dict.fromkeys(n % len(chunks) for n in at)]
    wide = widened(passages, chunks, size)
    for passage, read in zip(passages, read_wide(wide), strict=True):
        shown = read["text"]
        assert shown == text[read["start_index"] : read["start_index"] + len(shown)]
        assert own_text(read) == passage
        for place in range(len(shown)):
            found = locate(read, place, place + 1)
            assert by_id[found.chunk_id]["text"][found.start : found.end] == shown[place]
            assert found.start_index == by_id[found.chunk_id]["start_index"] + found.start


@given(chunked(), st.integers(1, 3), st.lists(st.integers(0, 4), min_size=2, unique=True))
def test_nothing_is_read_twice_but_what_the_passages_themselves_repeat(
    made: tuple[str, list[Passage]], size: int, at: list[int]
) -> None:
    _, chunks = made
    passages = [chunks[index] for index in dict.fromkeys(n % len(chunks) for n in at)]

    def places(passage: Passage) -> set[int]:
        return set(range(passage["start_index"], passage["start_index"] + len(passage["text"])))

    seen: set[int] = set()
    own = set().union(*map(places, passages))
    for passage, read in zip(passages, read_wide(widened(passages, chunks, size)), strict=True):
        beside = places(read) - places(passage)
        assert not beside & (seen | own)
        seen |= beside


def test_a_store_that_fails_is_said_and_nothing_is_widened() -> None:
    class Gone(Document):
        def adjacent(self, passage: Passage, before: int, after: int) -> list[Passage]:
            raise StoreError("the server is gone.")

    chunks, notes = cut(TEXT, [(7, 22), (22, 43)]), Notes()
    assert Neighbours(Gone(chunks))(chunks[:1], 1, None, notes) == chunks[:1]
    assert notes.sentences == ["The passages were read without the text around them: the server is gone."]


def test_passages_from_elsewhere_are_told_apart_from_those_of_the_store() -> None:
    chunks, notes = cut(TEXT, [(7, 22), (22, 43), (51, 70)]), Notes()
    other: Passage = {**chunks[2], "text": "Something else under the same id."}
    assert [len(p.get("around", [])) for p in Neighbours(Document(chunks))([chunks[0], other], 1, None, notes)] == [
        1,
        0,
    ]
    assert notes.sentences == ["1 of 2 passages are not in the store, so they were read without the text around them."]
