"""Tables, columns and forms as people lay them out: in texts, pages, sheets and attachments."""

import base64
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.benchmarks.files.case import Case, text_file
from lab.benchmarks.files.kit import page, pdf, shown
from lab.benchmarks.files.office_kit import (
    Write,
    cell,
    filled,
    filled_rows,
    merged,
    opendocument,
    para,
    row,
    table,
    word,
    workbook,
)

_WIDE = '<w:gridSpan w:val="2"/>'


def html(name: str, rows: Sequence[Sequence[str]], above: str = "", below: str = "") -> Write:
    """A page with a table of plain cells; a cell that begins with a tag stands as it is."""
    inner = "".join(f"<tr>{''.join(c if c.startswith('<t') else f'<td>{c}</td>' for c in one)}</tr>" for one in rows)
    return page(name, f"{above}<table>{inner}</table>{below}")


_TABBED = (
    Case(
        "tabs in a text: a table between paragraphs",
        text_file(
            "trip.txt",
            "Notes on the lake trip\n\nWe rented boats for the whole club this year. The prices were these:\n\n"
            "Boat\tSeats\tPrice\nHeron\t4\t120\nTern\t2\t75\nGull\t6\t190\n\nThe pier closes at six in the evening.\n",
        ),
        "What is the price of the boat Tern?",
        r"\b75\b",
        r"\b120\b|\b190\b",
    ),
    Case(
        "tabs in a text: what stands below the table",
        text_file(
            "trip.txt",
            "Notes on the lake trip\n\nBoat\tSeats\tPrice\nHeron\t4\t120\nTern\t2\t75\n\n"
            "The pier closes at six in the evening.\n",
        ),
        "When does the pier close in the evening?",
        r"six",
    ),
    Case(
        "tabs in a text: several tabs between columns",
        text_file("rooms.txt", "Room\t\tBeds\tFloor\nBlue\t\t3\t1\nGreen room\t5\t2\nRed\t\t2\t4\n"),
        "How many beds does the Green room have?",
        r"\b5\b",
        r"\b3\b",
    ),
    Case(
        "tabs in a text: words alone",
        text_file("rota.txt", "Duties\n\nPlace\tWarden\tHelper\nGate\tIda Holm\tOle Bak\nTower\tMia Lund\tBo Juhl\n"),
        "Who is the warden of the tower?",
        r"Mia Lund",
        r"Ida Holm|Bo Juhl: ",
    ),
)  # fmt: skip


def columns(name: str, left: Sequence[str], right: Sequence[str], title: str = "") -> Write:
    """A PDF of two columns of lines."""
    drawn = shown(72, 740, title, 14, "F2") if title else ""
    for x, lines in ((72, left), (320, right)):
        drawn += "".join(shown(x, 700 - 14 * n, line) for n, line in enumerate(lines))
    return pdf(name, [drawn])


_COLUMNS = (
    Case(
        "two short columns in a PDF: sentences",
        columns(
            "club.pdf",
            [
                "The rowing club meets on Mondays at",
                "seven in the boat house. New members",
                "bring a towel and a jacket.",
            ],
            [
                "The chess club meets on Thursdays in",
                "the reading room. A set costs nine",
                "euros and is paid at the desk.",
            ],
            "Clubs of the town",
        ),
        "When does the chess club meet?",
        r"Thursdays in the reading room|on Thursdays",
        r"Mondays",
    ),
    Case(
        "two short columns in a PDF: a sentence over two lines",
        columns(
            "club.pdf",
            [
                "The rowing club meets on Mondays at",
                "seven in the boat house. New members",
                "bring a towel and a jacket.",
            ],
            [
                "The chess club meets on Thursdays in",
                "the reading room. A set costs nine",
                "euros and is paid at the desk.",
            ],
        ),
        "What do new members bring?",
        r"bring a towel and a jacket",
        r"euros",
    ),
    Case(
        "two short columns in a PDF: a list in two columns",
        columns(
            "tools.pdf",
            ["- 4 hammers of steel", "- 7 saws for wood", "- 2 long ladders"],
            ["- 9 buckets of zinc", "- 3 brooms of straw", "- 5 garden hoses"],
            "Tools in the shed",
        ),
        "How many brooms of straw are in the shed?",
        r"\b3 brooms",
        r"7 saws|garden",
    ),
)


def _placed(name: str, *lines: tuple[float, float, Sequence[tuple[float, str]]]) -> Write:
    """A PDF of lines: how far each stands below the line above, its size, and its texts with their left edges."""
    drawn, y = "", 740.0
    for down, size, texts in lines:
        y -= down
        drawn += "".join(shown(x, y, text, size) for x, text in texts)
    return pdf(name, [drawn])


def _item(down: float, label: str, price: str) -> tuple[float, float, Sequence[tuple[float, str]]]:
    return down, 11, [(72, label), (320, price)]


def _small(down: float, text: str) -> tuple[float, float, Sequence[tuple[float, str]]]:
    return down, 8, [(72, text)]


_COURSES = (("Keelboat weekend", "£265"), ("dinghy week", "£190"), ("Night sail", "£48"))
_NOTED = ("incl. lunch and wet gear", "ages 8 to 14, mornings", "lifejackets included")
_DESCRIBED = (
    Case(
        "items with a line of description in a PDF: below",
        _placed("a.pdf", *(one for course, note in zip(_COURSES, _NOTED, strict=True)
                           for one in (_item(20, *course), _small(11, note)))),
        "What does the dinghy week cost?",
        r"£190",
        r"265",
    ),
    Case(
        "items with a line of description in a PDF: above",
        _placed("b.pdf", *(one for course, note in zip(_COURSES, _NOTED, strict=True)
                           for one in (_small(20, note), _item(11, *course)))),
        "What does the night sail cost?",
        r"£48",
        r"190",
    ),
    Case(
        "items with a line of description in a PDF: two lines below one of them",
        _placed("c.pdf", (20, 11, [(72, "Course"), (250, "Days"), (320, "Price")]),
                (20, 11, [(72, "Keelboat weekend"), (250, "2"), (320, "£265")]), _small(11, "incl. lunch"),
                _small(10, "and wet gear"), (20, 11, [(72, "Dinghy week"), (250, "5"), (320, "£190")]),
                (20, 11, [(72, "Night sail"), (250, "1"), (320, "£48")])),
        "What is the price of the keelboat weekend with wet gear?",
        r"£265",
        r"190",
    ),
    Case(
        "items with a line of description in a PDF: cells that wrap",
        _placed("d.pdf", (20, 11, [(72, "Course"), (200, "Price"), (300, "Included")]),
                (20, 11, [(72, "Keelboat"), (200, "£265"), (300, "Skipper and")]),
                (12, 11, [(72, "weekend"), (300, "wet gear")]),
                (20, 11, [(72, "Dinghy week"), (200, "£190"), (300, "Lifejackets")]),
                (20, 11, [(72, "Night sail"), (200, "£48"), (300, "Soup")])),
        "What is included in the keelboat weekend?",
        r"Skipper and wet gear",
        r"Lifejackets",
    ),
    Case(
        "items with a line of description in a PDF: the heading of a group is none",
        _placed("e.pdf", _item(20, "Keelboat weekend", "£265"), _item(16, "Dinghy week", "£190"),
                (24, 11, [(72, "For children")]), _item(14, "Optimist week", "£150"), _item(16, "Pirate day", "£30")),
        "What does the optimist week cost?",
        r"£150",
        r"190",
    ),
)  # fmt: skip

_INVOICE = (
    (18, 11, [(72, "Item"), (200, "Qty"), (260, "Price"), (340, "Amount")]),
    (18, 11, [(72, "Rope 10 mm"), (200, "20"), (260, "1.80"), (340, "36.00")]),
    (18, 11, [(72, "Shackle"), (200, "6"), (260, "4.50"), (340, "27.00")]),
    (18, 11, [(72, "Fender"), (200, "2"), (260, "18.00"), (340, "37.00")]),
)
_SENDER = ("Harbour Chandlery", "12 Quay Street", "Port Ellen PA42 7DX")
_SENT = ("Invoice 2024-117", "Date 3 May 2024", "Due 17 May 2024")
_BILLED = (("Bill to:", "Ship to:"), ("Ottilie Brandt", "Brandt Boats"), ("Arden", "Slip 4"))
_LETTERHEADS = (
    Case(
        "an address above a table in a PDF: bill to and ship to",
        _placed("a.pdf", *((14, 11, [(72, one), (400, other)]) for one, other in _BILLED), *_INVOICE),
        "What is the amount of the item Shackle?",
        r"27\.00",
        r"Brandt|Slip",
    ),
    Case(
        "an address above a table in a PDF: the sender left, the invoice right",
        _placed("b.pdf", *((14, 11, [(72, one), (290, other)]) for one, other in zip(_SENDER, _SENT, strict=True)),
                *_INVOICE),
        "What is the price of the item Fender?",
        r"18\.00",
        r"Invoice|Quay",
    ),
    Case(
        "an address above a table in a PDF: at the right",
        _placed("c.pdf", *((14, 11, [(430, one)]) for one in _SENDER), *_INVOICE),
        "What is the amount of the item Rope 10 mm?",
        r"36\.00",
        r"Harbour|Port",
    ),
    Case(
        "an address above a table in a PDF: totals at the right below it",
        _placed("d.pdf", *((14, 11, [(72, one)]) for one in _SENDER), *_INVOICE,
                (18, 11, [(260, "Subtotal"), (340, "100.00")]), (18, 11, [(260, "VAT 20%"), (340, "20.00")]),
                (18, 11, [(260, "Total due"), (340, "120.00")])),
        "What is the total due?",
        r"120\.00",
        r"Price: Total",
    ),
)  # fmt: skip


def _sheet(name: str, rows: Sequence[Sequence[object]]) -> Write:
    """A workbook of one sheet of these rows."""
    return workbook(name, rows, title="Figures")


def _delimited(rows: Sequence[Sequence[object]], sign: str = ",") -> str:
    """Rows as lines of cells."""
    return "".join(f"{sign.join('' if c is None else str(c) for c in one)}\n" for one in rows)


_SIDES: tuple[Sequence[object], ...] = (
    ("Apples", None, None, None, "Pears", None),
    ("Orchard", "Crates", None, None, "Orchard", "Crates"),
    ("Hill", 41, None, None, "Valley", 17),
    ("Brook", 36, None, None, "Hill", 22),
)
_BESIDE = (
    Case(
        "tables side by side: titles above them",
        _sheet("fruit.xlsx", _SIDES),
        "How many crates of pears did the orchard Valley give?",
        r"\b17\b",
        r"\b41\b|\b36\b",
    ),
    Case(
        "tables side by side: a key in both",
        _sheet("fruit.xlsx", _SIDES),
        "How many crates of apples did the orchard Hill give?",
        r"\b41\b",
        r"\b22\b",
    ),
    Case(
        "tables side by side: CSV",
        text_file("fruit.csv", _delimited(_SIDES)),
        "How many crates of apples did the orchard Brook give?",
        r"\b36\b",
        r"\b22\b",
    ),
    Case(
        "tables side by side: OpenDocument",
        opendocument("fruit.ods", "spreadsheet", filled_rows("Figures", *(
            ["<table:table-cell/>" if c is None else filled(c) for c in one] for one in _SIDES))),
        "How many crates of pears did the orchard Hill give?",
        r"\b22\b",
        r"\b41\b",
    ),
)  # fmt: skip

_ABOVE = (
    Case(
        "a line above the headings: a title, filled up with commas",
        text_file("sales.csv", "Sales of the kiosks,,\nKiosk,Cups,Cakes\nPier,310,44\nPark,120,18\n"),
        "How many cakes did the kiosk Park sell?",
        r"\b18\b",
        r"\b44\b",
    ),
    Case(
        "a line above the headings: two cells",
        text_file("levels.csv", "Export of,2024-05-02\nLake,Level,Inflow\nGrey,312,14\nLong,287,9\n"),
        "What is the level of the lake Grey?",
        r"\b312\b",
        r"\b287\b",
    ),
    Case(
        "a line above the headings: as many cells as columns",
        text_file("kilns.csv", "Kilns,North works,May\nKiln,Firings,Cracks\nBlue,41,2\nGreen,38,5\n"),
        "How many cracks did the kiln Green have?",
        r"\b5\b",
        doubt=True,
    ),
    Case(
        "a line above the headings: a workbook",
        _sheet("kilns.xlsx", (("Works", "North"), ("Kiln", "Firings", "Cracks"), ("Blue", 41, 2), ("Green", 38, 5))),
        "How many firings did the kiln Blue have?",
        r"\b41\b",
        r"\b38\b",
    ),
)


def mailed(name: str, attached: Write, kind: str) -> Write:
    """A mail of one sentence with this file attached."""

    def write(folder: Path) -> Path:
        with TemporaryDirectory() as apart:
            file = attached(Path(apart))
            data, title = base64.encodebytes(file.read_bytes()).decode(), file.name
        (folder / name).write_text(
            "From: Depot <depot@example.org>\nTo: a@example.org\nSubject: Figures\n"
            "Date: Mon, 06 May 2024 09:00:00 +0000\nMIME-Version: 1.0\n"
            'Content-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/plain\n\n'
            f"The figures are attached.\n--b\nContent-Type: {kind}\nContent-Transfer-Encoding: base64\n"
            f'Content-Disposition: attachment; filename="{title}"\n\n{data}\n--b--\n',
            encoding="utf-8",
        )
        return folder / name

    return write


_PIER = "The pier closes at six in the evening."
_OFFICE = "application/vnd.openxmlformats-officedocument"
_BOATS = (("Boat", "Seats", "Price"), ("Heron", 4, 120), ("Tern", 2, 75))
_ATTACHED = (
    Case(
        "attached to a mail: CSV",
        mailed("a.eml", text_file("boats.csv", "Boat,Seats,Price\nHeron,4,120\nTern,2,75\n"), "text/csv"),
        "What is the price of the boat Heron?",
        r"\b120\b",
        r"\b75\b",
    ),
    Case(
        "attached to a mail: a workbook",
        mailed("b.eml", _sheet("boats.xlsx", _BOATS), f"{_OFFICE}.spreadsheetml.sheet"),
        "How many seats does the boat Tern have?",
        r"\b2\b",
        r"\b4\b",
    ),
    Case(
        "attached to a mail: Word",
        mailed("c.eml", word("pier.docx", para(_PIER)), f"{_OFFICE}.wordprocessingml.document"),
        "When does the pier close in the evening?",
        r"six",
    ),
    Case(
        "attached to a mail: PDF",
        mailed("d.eml", pdf("pier.pdf", [shown(72, 720, _PIER)]), "application/pdf"),
        "When does the pier close in the evening?",
        r"six",
    ),
)  # fmt: skip

_TWO_YEARS = (("Inn", "31", "12", "38", "17"), ("Hut", "22", "8", "25", "6"))
_BOTH = [f'<td colspan="2">{year}</td>' for year in (2022, 2023)]
_SEASONS = ("", "Summer", "Winter", "Summer", "Winter")
_HEADS = (
    Case(
        "two heading rows in a document: HTML, not marked",
        html(
            "a.html",
            (("House", *_BOTH), _SEASONS, *_TWO_YEARS),
            "<h1>Guests</h1>",
        ),
        "How many guests did the Hut have in winter 2023?",
        r"\b6\b",
        r"\b8\b",
    ),
    Case(
        "two heading rows in a document: HTML, the first column over both",
        html(
            "b.html",
            (('<td rowspan="2">House</td>', *_BOTH), _SEASONS[1:], *_TWO_YEARS),
            "<h1>Guests</h1>",
        ),
        "How many guests did the Inn have in summer 2022?",
        r"\b31\b",
        r"\b38\b",
    ),
    Case(
        "two heading rows in a document: Word, not merged",
        word("c.docx", para("Guests", style="Heading1") + table(
            row("House", "2022", "", "2023", ""), row(*_SEASONS), *(row(*one) for one in _TWO_YEARS))),
        "How many guests did the Inn have in winter 2023?",
        r"\b17\b",
        r"\b12\b",
    ),
    Case(
        "two heading rows in a document: Word, units below",
        word("d.docx", para("Guests", style="Heading1") + table(
            row("House", cell("Guests", _WIDE), cell("Takings", _WIDE)), row("", "2022", "2023", "2022", "2023"),
            *(row(*one) for one in _TWO_YEARS))),
        "What were the takings of the Hut in 2023?",
        r"\b6\b",
        r"\b8\b|\b25\b",
    ),
    Case(
        "two heading rows in a document: OpenDocument",
        opendocument("e.odt", "text", "<text:h>Guests</text:h>" + filled_rows(
            "Guests", [filled("House"), filled("2022", 'table:number-columns-spanned="2"'), filled(None),
                       filled("2023", 'table:number-columns-spanned="2"'), filled(None)],
            [filled(one) for one in _SEASONS], *([filled(c) for c in one] for one in _TWO_YEARS))),
        "How many guests did the Hut have in summer 2023?",
        r"\b25\b",
        r"\b22\b",
    ),
)  # fmt: skip

_PAIRS = (
    ("Name", "Ottilie Brandt", "Telephone", "555 0134"),
    ("Street", "Mill Lane 3", "Town", "Arden"),
    ("Course", "Raku weekend", "Fee", "140 euros"),
)
_FORMS = (
    Case(
        "forms of two pairs a row: Word",
        word("a.docx", para("Course registration", style="Heading1") + table(*(row(*one) for one in _PAIRS))),
        "What is the telephone number?",
        r"555 0134",
        r"Ottilie Brandt: 555",
    ),
    Case(
        "forms of two pairs a row: HTML",
        html("b.html", [[f"{one}:" if n % 2 == 0 else one for n, one in enumerate(line)] for line in _PAIRS],
             "<h1>Course registration</h1>"),
        "What is the fee?",
        r"140 euros",
        r"Raku weekend: 140",
    ),
    Case(
        "forms of two pairs a row: OpenDocument",
        opendocument("c.odt", "text", "<text:h>Course registration</text:h>" + filled_rows(
            "Form", *([filled(c) for c in one] for one in _PAIRS))),
        "What is the name?",
        r"Ottilie Brandt",
    ),
    Case(
        "forms of two pairs a row: a workbook",
        _sheet("d.xlsx", _PAIRS),
        "Which street is given?",
        r"Mill Lane 3",
    ),
    Case(
        "forms of two pairs a row: one pair a row, with colons",
        word("e.docx", para("Visit", style="Heading1") + table(
            row("Visitor:", "Ida Holm"), row("Day:", "14 May 2024"), row("Reason:", "Roof repair"))),
        "What is the reason?",
        r"Roof repair",
    ),
)  # fmt: skip

_LINES: tuple[Sequence[object], ...] = (
    ("Item", "Pieces", "Price", "Amount"),
    ("Chair", 4, 30, 120),
    ("Table", 1, 80, 80),
)
_SUMS: tuple[Sequence[object], ...] = (
    (None, None, "Subtotal", 200), (None, None, "VAT 20%", 40), (None, None, "Total", 240),
)  # fmt: skip
_TOTALS = (
    Case(
        "totals of an invoice: a workbook, to the left",
        _sheet("invoice.xlsx", (*_LINES, *_SUMS)),
        "What is the total amount of the invoice?",
        r"\b240\b",
        r"\b200\b|\b440\b|\b680\b",
    ),
    Case(
        "totals of an invoice: the subtotal, CSV",
        text_file("invoice.csv", _delimited((*_LINES, *_SUMS))),
        "What is the subtotal?",
        r"\b200\b",
        r"\b240\b|Price: Subtotal",
    ),
    Case(
        "totals of an invoice: the VAT, Word",
        word("c.docx", para("Invoice 17", style="Heading1") + table(
            *(row(*("" if c is None else str(c) for c in one)) for one in (*_LINES, *_SUMS)))),
        "How much is the VAT 20%?",
        r"\b40\b",
        r"Price: VAT|\b200\b",
    ),
    Case(
        "totals of an invoice: HTML, across",
        html("d.html", (*([str(c) for c in one] for one in _LINES),
                        ('<td colspan="3">Subtotal</td>', "200"), ('<td colspan="3">VAT 20%</td>', "40"),
                        ('<td colspan="3">Total</td>', "240")), "<h1>Invoice 17</h1>"),
        "What is the total of the invoice?",
        r"\b240\b",
        r"\b200\b|\b440\b|\b680\b",
    ),
    Case(
        "totals of an invoice: a workbook, merged",
        workbook("invoice.xlsx", (*_LINES, *((*one[2:3], None, None, one[3]) for one in _SUMS)),
                 merged("A4:C4", "A5:C5", "A6:C6"), title="Figures"),
        "What is the subtotal of the invoice?",
        r"\b200\b",
        r"\b240\b|Price: Subtotal",
    ),
    Case(
        "totals of an invoice: above, Word",
        word("e.docx", para("Invoice 17", style="Heading1") + table(
            row("Invoice date", "Due date", "Total due"), row("14 May 2024", "28 May 2024", "240 euros"))),
        "What is the total due?",
        r"240 euros",
    ),
)  # fmt: skip

_TEA = (("פריט", "Price", "Stock"), ("תה ירוק", 12, 40), ("קפה שחור", 18, 25))
_CITIES = (("المدينة", "Rooms", "Price"), ("بيروت", 12, 80), ("عمان", 9, 65))
_RIGHTWARD = (
    Case(
        "right to left in a table: Hebrew, CSV",
        text_file("a.csv", _delimited(_TEA)),
        "What is the price of תה ירוק?",
        r"\b12\b",
        r"\b18\b",
    ),
    Case(
        "right to left in a table: Hebrew, Word",
        word("b.docx", para("Shop", style="Heading1") + table(*(row(*map(str, one)) for one in _TEA))),
        "How much stock is there of קפה שחור?",
        r"\b25\b",
        r"\b40\b",
    ),
    Case(
        "right to left in a table: Arabic, HTML",
        html("c.html", [[*map(str, one)] for one in _CITIES], "<h1>Hotels</h1>"),
        "How many rooms does عمان have?",
        r"\b9\b",
        r"\b12\b",
    ),
    Case(
        "right to left in a table: Arabic, text with tabs",
        text_file("d.txt", _delimited(_CITIES, "\t")),
        "What is the price of بيروت?",
        r"\b80\b",
        r"\b65\b",
    ),
)

CASES: tuple[Case, ...] = (
    *_TABBED, *_COLUMNS, *_DESCRIBED, *_LETTERHEADS, *_BESIDE, *_ABOVE, *_ATTACHED, *_HEADS, *_FORMS, *_TOTALS,
    *_RIGHTWARD,
)  # fmt: skip
