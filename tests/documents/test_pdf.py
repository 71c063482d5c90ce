from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

import pytest

from cragraph.documents import Document, load, split
from cragraph.documents.formats.pdf.spacing import Piece, joined
from cragraph.documents.formats.pdf.words import Vocabulary
from cragraph.errors import DocumentError
from tests.support.cases import cases

Read = Callable[..., Document]
Pdf = Callable[..., bytes]

PROSE = [
    "The moon turns around the earth once in a month, and shows",
    "it the same face all the while. Its light is that of the sun,",
    "thrown back by dust and rock. No wind has ever moved them.",
    "Water lies frozen in craters near its poles, in the shadow.",
]


def column(x: float, y: float, lines: Sequence[str], step: float = 12.0) -> list[tuple[float, float, str]]:
    return [(x, y + number * step, line) for number, line in enumerate(lines)]


def test_lines_become_paragraphs_and_pages_are_counted(document: Read, pdf: Pdf) -> None:
    loaded = document("a.pdf", pdf([column(72, 100, PROSE), column(72, 100, ["Second page."])], title="On the moon"))
    assert loaded.text == " ".join(PROSE) + "\n\nSecond page."
    assert loaded.page_starts == (0, loaded.text.index("Second"))
    assert loaded.metadata == {"title": "On the moon"}
    assert [passage["page"] for passage in split(loaded, chunk_size=300)] == [1, 2]


def test_two_columns_are_read_one_after_the_other(document: Read, pdf: Pdf) -> None:
    left = [
        "Left column begins with",
        "these words and goes on",
        "to say that it is read",
        "before the other one is.",
        "It ends right here now.",
    ]
    right = [
        "Right column comes next",
        "after the left one with",
        "words of its own, and it",
        "ends the page, which was",
        "written in two columns.",
    ]
    # Interleaved in the file, and the right column half a line lower.
    body = [line for pair in zip(column(72, 160, left), column(330, 166, right), strict=True) for line in pair]
    page = [(72, 100, "A line over the full width of the page stands above both of the columns, as titles do."), *body]
    page.append((72, 260, "And another one over the full width of the page stands below both of them, as notes do."))
    text = document("a.pdf", pdf([page])).text
    assert (
        text.index("A line over") < text.index("Left column") < text.index("Right column") < text.index("And another")
    )
    assert " ".join(left) in text
    assert " ".join(right) in text


def test_headers_footers_and_page_numbers_are_left_out(document: Read, pdf: Pdf) -> None:
    pages = [
        [
            (72, 40, "Annual report of Example plc"),
            *column(72, 100, [f"The {city} office."]),
            (300, 760, f"Page {number}"),
        ]
        for number, city in enumerate(("Oslo", "Rome", "Lima", "Cairo", "Perth"), start=1)
    ]
    text = document("a.pdf", pdf(pages)).text
    assert text.count("Annual report of Example plc") == 1
    assert "Page" not in text
    assert text.count("office.") == 5


@pytest.mark.parametrize(("known", "left", "right", "joined"), cases("documents/pdf", "words cut at"))
def test_words_cut_at_a_line_end_are_put_together(known: str, left: str, right: str, joined: str) -> None:
    assert Vocabulary([known]).joined(left, right) == joined


@pytest.mark.parametrize(("signs", "words"), cases("documents/pdf", "letters that stand apart"))
def test_letters_of_a_word_are_joined_where_gaps_are_even(
    signs: Sequence[tuple[str, float, float, bool]], words: list[str]
) -> None:
    boxes = [(left, 0.0, right, 11.0) for text, left, right, _ in signs for _ in text]
    ends = accumulate(len(text) for text, *_ in signs)
    pieces = [
        Piece([(ord(sign), end - len(text) + n) for n, sign in enumerate(text)], boxes[end - 1], False, broken)
        for (text, *_, broken), end in zip(signs, ends, strict=True)
    ]
    found = joined(pieces, boxes.__getitem__, lambda: pieces)
    assert ["".join(text for text, *_ in signs[one.start : one.end]) for one in found] == words


def broken(pdf: Pdf) -> dict[str, tuple[bytes, str]]:
    whole = pdf([column(72, 100, PROSE)])
    locked = whole.replace(
        b"/Info 5 0 R",
        b"/Info 5 0 R /ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ("
        + b"o" * 32
        + b") /U ("
        + b"u" * 32
        + b") >>",
    )
    return {
        "no pdf": (b"just words", "not a readable PDF"),
        "cut short": (whole[:60], "not a readable PDF"),
        "encrypted": (locked, "asks for a password; save a copy without one"),
        "pictures": (pdf([[], []]), "2 pages and no text"),
    }


@pytest.mark.parametrize("case", ["no pdf", "cut short", "encrypted", "pictures"])
def test_a_pdf_that_cannot_be_read_says_what_to_do(tmp_path: Path, pdf: Pdf, case: str) -> None:
    content, message = broken(pdf)[case]
    (tmp_path / "a.pdf").write_bytes(content)
    with pytest.raises(DocumentError, match=message):
        list(load(tmp_path / "a.pdf"))
