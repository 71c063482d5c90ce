import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.retrieval.search.neighbours import locate, read_wide, wide_text, widen
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


@given(chunked(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 4))
def test_wide_text_is_the_documents_and_every_stretch_of_it_maps_back(
    made: tuple[str, list[Passage]], before: int, after: int, at: int
) -> None:
    text, chunks = made
    by_id = {chunk["chunk_id"]: chunk for chunk in chunks}
    passage = chunks[at % len(chunks)]
    [wide] = widen([passage], Document(chunks), before=before, after=after)
    [read] = read_wide([wide])
    shown = wide_text(wide)
    assert read["text"] == shown == text[read["start_index"] : read["start_index"] + len(shown)]
    assert passage["text"] in shown
    for place in range(len(shown)):
        found = locate(wide, place, place + 1)
        assert by_id[found.chunk_id]["text"][found.start : found.end] == shown[place]
        assert found.start_index == by_id[found.chunk_id]["start_index"] + found.start


def test_the_passage_itself_stays_as_it_is() -> None:
    chunks = cut(TEXT, [(7, 22), (22, 43), (52, 71)])
    [wide] = widen(chunks[1:2], Document(chunks), before=1, after=1)
    assert (wide["text"], wide["chunk_id"], wide["start_index"]) == ("They dive for krill.\n", "c1", 22)
    assert wide_text(wide) == TEXT[7:43].replace(" They", " They") + "\n" + " " * 8 + TEXT[52:71]


def test_a_quote_in_the_passage_is_found_in_the_passage() -> None:
    chunks = cut(TEXT, [(7, 22), (22, 43)])
    [wide] = widen(chunks[1:2], Document(chunks), before=1)
    start = wide_text(wide).index("krill")
    place = locate(wide, start, start + 5)
    assert (place.chunk_id, place.start, place.end) == ("c1", 14, 19)
    assert TEXT[place.start_index : place.start_index + 5] == "krill"


def test_a_quote_in_a_neighbour_is_found_in_the_neighbour() -> None:
    chunks = cut(TEXT, [(7, 22), (22, 43)])
    [wide] = widen(chunks[1:2], Document(chunks), before=1)
    place = locate(wide, 0, 8)
    assert (place.chunk_id, place.start, place.end, place.start_index) == ("c0", 0, 8, 7)


def test_a_quote_half_in_the_passage_is_cited_from_the_passage() -> None:
    chunks = cut("abcdefgh", [(0, 4), (4, 8)])
    for chunk, id_ in ((chunks[0], "c0"), (chunks[1], "c1")):
        [wide] = widen([chunk], Document(chunks), before=1, after=1)
        assert locate(wide, 2, 6).chunk_id == id_


def test_a_section_ends_where_another_heading_begins() -> None:
    chunks = cut(TEXT, [(7, 22), (22, 43), (51, 70), (71, 90)], ["Ice", "Ice", "Sea", "Sea"])
    [wide] = widen(chunks[2:3], Document(chunks), section=True)
    assert wide_text(wide).split() == ["Whales", "sing", "loudly.", "Nobody", "knows", "why."]


def test_what_would_be_too_long_is_left_out() -> None:
    chunks = cut(TEXT, [(7, 22), (22, 43), (52, 71)])
    [wide] = widen(chunks[1:2], Document(chunks), before=1, after=1, most=40)
    assert wide_text(wide).split() == ["Penguins", "swim.", "They", "dive", "for", "krill."]


def test_chunks_with_a_page_between_them_are_no_neighbours() -> None:
    chunks = cut("a" * 10 + " " * 500 + "b" * 10, [(0, 10), (510, 520)])
    assert widen(chunks[:1], Document(chunks), after=1) == chunks[:1]


@pytest.mark.parametrize("count", [0, 1])
def test_a_passage_without_neighbours_is_read_as_it_is(count: int) -> None:
    [chunk] = cut(TEXT, [(7, 22)])
    [wide] = widen([chunk], Document([chunk]), before=count, after=count)
    assert wide == chunk
    assert read_wide([wide]) == [chunk]
    assert locate(wide, 2, 5) == locate(chunk, 2, 5)
    assert locate(wide, 2, 5).start_index == 9
