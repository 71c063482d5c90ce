from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.documents import Block, Document, split
from cragraph.documents.clean import clean
from cragraph.documents.document import Writer
from cragraph.documents.formats.markdown import draft as markdown
from cragraph.documents.formats.plain import draft as plain
from cragraph.documents.formats.rst import draft as rst
from cragraph.passages import doubts_of
from cragraph.types import Passage

Read = Callable[..., Document]

SIGNS = st.text(alphabet=st.characters(codec=None))
LINES = st.lists(
    st.sampled_from(
        [
            *("# Head", "## Sub", "=====", "Title", "---", "- item", "| a | b |", "|---|---|", "```", "    code"),
            *("", "<!-- c -->", "Some words. And more.", "x" * 90, "Dr. No paid $3.5 million.", "東京は首都です。"),
        ]
    ),
    max_size=40,
).map("\n".join)


def of(draft_text: str, form: str = "md") -> Document:
    made = {"md": markdown, "txt": plain, "rst": rst}[form](clean(draft_text))
    return Document(
        made.text,
        source="s",
        filename="s.md",
        doc_id="d",
        format=form,
        page_starts=(0, len(made.text) // 2),
        headings=made.headings,
        blocks=made.blocks,
    )


def check(document: Document, passages: list[Passage], size: int) -> None:
    for passage in passages:
        start, text = passage["start_index"], passage["text"]
        assert document.text[start : start + len(text)] == text
        assert 0 < len(text) <= size
        assert text == text.strip()
    assert [passage["chunk_index"] for passage in passages] == list(range(len(passages)))
    assert len({passage["chunk_id"] for passage in passages}) == len(passages)
    covered = {i for p in passages for i in range(p["start_index"], p["start_index"] + len(p["text"]))}
    assert all(sign.isspace() or index in covered for index, sign in enumerate(document.text))


@settings(deadline=None)
@given(st.one_of(SIGNS, LINES), st.sampled_from(["md", "txt", "rst"]), st.integers(1, 300), st.integers(0, 299))
def test_offsets_are_exact_and_no_word_is_lost(text: str, form: str, size: int, overlap: int) -> None:
    document = of(text, form)
    check(document, split(document, chunk_size=size, chunk_overlap=min(overlap, size - 1)), size)


@settings(deadline=None)
@given(SIGNS, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6), st.integers(1, 40))
def test_offsets_are_exact_whatever_the_blocks_are(text: str, spans: list[tuple[int, int]], size: int) -> None:
    text, position, blocks = clean(text), 0, []
    for gap, length in spans:
        start, end = min(len(text), position + gap), min(len(text), position + gap + length)
        blocks.append(Block(start, end, "text"))
        position = end
    document = Document(text, tuple(blocks), source="s", filename="s.txt", doc_id="d", format="txt")
    check(document, split(document, chunk_size=size, chunk_overlap=0), size)


MANUAL = Path(__file__).with_name("samples").joinpath("manual.md").read_text(encoding="utf-8")


def test_a_section_begins_a_chunk_and_carries_its_path(document: Read) -> None:
    passages = split(document("a.md", MANUAL), chunk_size=200, chunk_overlap=0)
    assert [passage["text"].split("\n")[0] for passage in passages[:4]] == [
        "# Manual",
        "## Install",
        "## Use",
        "### Flags",
    ]
    assert [passage["metadata"]["heading"] for passage in passages] == [
        "Manual",
        "Manual > Install",
        "Manual > Use",
        *["Manual > Use > Flags"] * (len(passages) - 3),
    ]


def test_a_question_stays_with_the_answer_below_it(document: Read) -> None:
    text = "\n\n".join(f"Where is room {n}?\n\nOn floor {n}, beside the lift." for n in range(30))
    for size in range(120, 300, 7):
        for passage in split(document("a.txt", text), chunk_size=size, chunk_overlap=0):
            assert not passage["text"].endswith("?")


def test_table_rows_are_whole_and_name_their_heading_row(document: Read) -> None:
    rows = [
        passage
        for passage in split(document("a.md", MANUAL), chunk_size=80, chunk_overlap=40)
        if "| -" in passage["text"]
    ]
    assert [passage["metadata"].get("table_header") for passage in rows[1:]] == ["Flag | Meaning"] * (len(rows) - 1)
    assert all(line.endswith("|") for passage in rows for line in passage["text"].split("\n") if line.startswith("|"))


def test_the_overlap_is_whole_sentences_of_the_same_section(document: Read) -> None:
    sentences = [f"This is sentence number {n} of the text." for n in range(30)]
    passages = split(document("a.txt", " ".join(sentences)), chunk_size=200, chunk_overlap=50)
    for before, after in pairwise(passages):
        repeated = before["start_index"] + len(before["text"]) - after["start_index"]
        assert 0 < repeated <= 50
        assert after["text"].startswith("This is sentence")


def test_a_doubt_is_carried_by_the_passages_of_what_is_in_doubt() -> None:
    writer = Writer()
    writer.paragraph("The first rate is 4.")
    writer.doubt("The last digit is smudged.")
    writer.heading("Rates", 1)
    writer.paragraph("The second rate is 7. " * 4)
    made = writer.draft()
    document = Document(made.text, made.blocks, made.headings, source="s", filename="s", doc_id="d", format="txt")
    doubts = [passage["metadata"].get("doubts") for passage in split(document, chunk_size=60, chunk_overlap=0)]
    assert doubts[0] == ["The last digit is smudged."]
    first = split(document)[0]
    assert doubts_of(first, 0, 5) == ["The last digit is smudged."]
    assert doubts_of(first, len(first["text"]), len(first["text"]) + 5) == []
    assert not any(doubts[1:])
    whole = replace(document, doubts=("A page is missing.",))
    assert all("A page is missing." in passage["metadata"]["doubts"] for passage in split(whole))
