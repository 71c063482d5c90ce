from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cragraph.documents import Document, load, split
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


def test_tables_are_rows_with_their_headings(document: Read, pdf: Pdf) -> None:
    rows = [
        ("Net sales", "$", "14,694", "$", "14,544"),
        ("Cost of sales", "", "(11,969)", "", "(11,724)"),
        ("Gross profit", "", "2,725", "", "2,820"),
    ]
    page: list[tuple[float, float, str]] = [(72, 100, "Consolidated figures"), (330, 128, "Year ended June 30,")]
    page += [(340, 140, "2023"), (440, 140, "2022"), (72, 152, "Continuing:")]
    for number, row in enumerate(rows):
        for x, cell in zip((72, 310, 335, 410, 435), row, strict=True):
            page += [(x, 164 + 12 * number, cell)] if cell else []
    loaded = document("a.pdf", pdf([page]))
    assert loaded.text.split("\n\n")[1] == (
        "Year ended June 30, 2023 | Year ended June 30, 2022\nContinuing:\nNet sales | 2023: $14,694 | 2022: $14,544\n"
        "Cost of sales | 2023: (11,969) | 2022: (11,724)\nGross profit | 2023: 2,725 | 2022: 2,820"
    )
    assert loaded.blocks[-1].header == "Year ended June 30, 2023 | Year ended June 30, 2022"


def test_a_year_over_several_columns_is_in_the_heading_of_each(document: Read, pdf: Pdf) -> None:
    page: list[tuple[float, float, str]] = [(288, 100, "2022"), (448, 100, "2021")]
    for number, (label, *cells) in enumerate(
        [
            ("Cost", "Cost", "Value", "Cost", "Value"),
            ("Bonds", "64", "54", "106", "111"),
            ("Shares", "13", "12", "17", "18"),
        ]
    ):
        page += [(72, 112 + 12 * number, label)] if number else []
        page += [(x, 112 + 12 * number, cell) for x, cell in zip((250, 330, 410, 490), cells, strict=True)]
    assert document("a.pdf", pdf([page])).text.splitlines()[1] == (
        "Bonds | 2022 Cost: 64 | 2022 Value: 54 | 2021 Cost: 106 | 2021 Value: 111"
    )


def test_a_table_that_goes_on_below_a_break_keeps_its_headings(document: Read, pdf: Pdf) -> None:
    page: list[tuple[float, float, str]] = [(300, 100, "2023"), (400, 100, "2022")]
    for y, label, cells in (
        (112, "Assets", ("17,003", "17,426")),
        (124, "Debt", ("13", "14")),
        (220, "Shares", ("64", "59")),
        (232, "Total", ("4,090", "4,141")),
    ):
        page += [(72, y, label), (300, y, cells[0]), (400, y, cells[1])]
    page += [(72, 150 + 12 * number, line) for number, line in enumerate(PROSE)]
    loaded = document("a.pdf", pdf([page]))
    assert loaded.text.endswith("Shares | 2023: 64 | 2022: 59\nTotal | 2023: 4,090 | 2022: 4,141")
    assert loaded.blocks[-1].header == "2023 | 2022"


def test_cells_of_words_over_several_lines_make_one_row(document: Read, pdf: Pdf) -> None:
    page = [
        (72, 100, "Crop", "F2", 10.0), (200, 100, "Sown", "F2", 10.0), (340, 100, "Remarks", "F2", 10.0),
        (72, 120, "Winter wheat"), (200, 120, "October to"), (340, 120, "Needs well drained"),
        (200, 132, "November"), (340, 132, "soil."),
        (72, 152, "Field"), (200, 152, "March"), (340, 152, "Fixes nitrogen."),
        (72, 164, "beans"),
        (72, 184, "Oats"), (200, 184, "April"), (340, 184, "Hardy."),
        (72, 230, "This paragraph of running text comes after the table and is wide."),
    ]  # fmt: skip
    loaded = document("a.pdf", pdf([page]))
    assert loaded.text.splitlines() == [
        "Crop | Sown | Remarks",
        "Winter wheat | Sown: October to November | Remarks: Needs well drained soil.",
        "Field beans | Sown: March | Remarks: Fixes nitrogen.",
        "Oats | Sown: April | Remarks: Hardy.",
        "",
        "This paragraph of running text comes after the table and is wide.",
    ]


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
