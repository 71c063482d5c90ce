"""Tables of a PDF whose headings and groups are told by their place alone, and parts of a page set side by side."""

from collections.abc import Sequence

from lab.benchmarks.files.case import Case
from lab.benchmarks.files.kit import page, pdf, shown
from lab.benchmarks.files.pages import HELVETICA

Row = Sequence[str]


def width(words: str, size: float = 11) -> float:
    """Points from the left edge of words to the right one."""
    return sum(size * HELVETICA.get(sign, 0.556) for sign in words)


def middle(x: float, y: float, words: str, size: float = 11, font: str = "F1") -> str:
    """Words with their middle at a place."""
    return shown(round(x - width(words, size) / 2, 2), y, words, size, font)


def table(top: float, edges: Sequence[float], rows: Sequence[Row], bold: bool = False) -> str:
    """Rows with their labels at the left edge and their figures up to the others; a label alone may be bold."""
    drawn = ""
    for n, row in enumerate(rows):
        font = "F2" if bold and len(row) == 1 else "F1"
        for m, (edge, words) in enumerate(zip(edges, row, strict=False)):
            drawn += shown(round(edge - width(words) * (m > 0), 2), top - 18 * n, words, 11, font)
    return drawn


def led(top: float, rows: Sequence[Row]) -> str:
    """Rows with dots that lead to their figures."""
    return "".join(shown(72, top - 18 * n, f" {'.' * 50} ".join(row)) for n, row in enumerate(rows))


HALLS = (("Hall", "Small", "Large"), ("Weekday", "40", "90"), ("Saturday", "70", "150"), ("Sunday", "55", "120"))
TITLES = (
    Case(
        "a title above a narrow table in a PDF: left of the middle",
        pdf("a.pdf", [middle(306, 734, "Hire charges") + table(716, (72, 160, 230), HALLS)]),
        "What is the charge for the large hall on Saturday?",
        "150",
        r"\b70\b|\b90\b",
    ),
    Case(
        "a title above a narrow table in a PDF: over one column",
        pdf("b.pdf", [middle(306, 734, "Hire charges") + table(716, (72, 330, 480), HALLS)]),
        "What is the charge for the small hall on Sunday?",
        r"\b55\b",
        r"\b120\b",
    ),
    Case(
        "a title above a narrow table in a PDF: larger",
        pdf("c.pdf", [middle(306, 736, "Charges", 14, "F2") + table(714, (72, 330, 480), HALLS)]),
        "What is the charge for the large hall on a weekday?",
        r"\b90\b",
        r"\b40\b",
    ),
)

YEARS = (
    ("", "2022", "2023", "2022", "2023"),
    ("Harbour", "410", "455", "1,200", "1,310"),
    ("Hill", "380", "390", "900", "955"),
)
OVER_YEARS = (
    Case(
        "headings over years in a PDF: in the middle of them",
        pdf(
            "a.pdf",
            [middle(275, 730, "Guests") + middle(435, 730, "Nights") + table(714, (72, 260, 310, 420, 470), YEARS)],
        ),
        "How many guests did the Harbour house have in 2023?",
        r"\b455\b",
        "1,310",
    ),
    Case(
        "headings over years in a PDF: at the left of them",
        pdf(
            "b.pdf",
            [shown(236, 730, "Guests") + shown(396, 730, "Nights") + table(714, (72, 260, 310, 420, 470), YEARS)],
        ),
        "How many nights did the Hill house have in 2023?",
        r"\b955\b",
        r"\b390\b",
    ),
    Case(
        "headings over years in a PDF: beside another column",
        pdf(
            "c.pdf",
            [
                middle(275, 730, "Guests")
                + table(
                    714,
                    (72, 260, 310, 420),
                    (("House", "2022", "2023", "Rooms"), ("Harbour", "410", "455", "30"), ("Hill", "380", "390", "25")),
                )
            ],
        ),
        "How many guests did the Hill house have in 2023?",
        r"\b390\b",
        r"\b380\b|\b25\b",
    ),
    Case(
        "headings over years in a PDF: years over names",
        pdf(
            "e.pdf",
            [
                middle(288, 730, "2022")
                + middle(448, 730, "2021")
                + table(
                    712,
                    (72, 260, 340, 420, 500),
                    (
                        ("Fund", "Cost", "Value", "Cost", "Value"),
                        ("Bonds", "64", "54", "106", "111"),
                        ("Shares", "13", "12", "17", "18"),
                    ),
                )
            ],
        ),
        "What was the cost of the bonds in 2021?",
        r"\b106\b",
        r"\b64\b|\b54\b|\b111\b",
    ),
    Case(
        "headings over years in a PDF: over one or over both",
        pdf("d.pdf", [shown(238, 730, "Guests") + table(714, (72, 260, 310), [row[:3] for row in YEARS])]),
        "How many guests did the Harbour house have in 2023?",
        "455",
        doubt=True,
    ),
)

DUES = (("Adult", "40", "12"), ("Child", "15", "9"), ("Senior", "25", "6"))
CLOSE = (
    Case(
        "headings close together in a PDF: two words",
        pdf(
            "a.pdf",
            [
                shown(72, 720, "Member")
                + shown(300, 720, "Dues Term")
                + table(702, (72, 300 + width("Dues"), 300 + width("Dues Term")), DUES)
            ],
        ),
        "What are the dues of a child?",
        r"\b15\b",
        r"\b9\b",
    ),
    Case(
        "headings close together in a PDF: three words",
        pdf(
            "b.pdf",
            [
                shown(72, 720, "Boat")
                + shown(300, 720, "Length Beam Draught")
                + table(
                    702,
                    (72, 300 + width("Length"), 300 + width("Length Beam"), 300 + width("Length Beam Draught")),
                    (("Gull", "12.5", "4.1", "2.0"), ("Tern", "9.0", "3.2", "1.4"), ("Skua", "10.5", "3.6", "1.5")),
                )
            ],
        ),
        "What is the draught of the Skua?",
        r"1\.5",
        r"10\.5|3\.6",
    ),
    Case(
        "headings close together in a PDF: right behind the label",
        pdf(
            "c.pdf",
            [
                shown(220, 720, "Member Dues Term")
                + table(702, (220, 220 + width("Member Dues"), 220 + width("Member Dues Term")), DUES)
            ],
        ),
        "What is the term of a senior?",
        r"\b6\b",
        r"\b25\b",
    ),
    Case(
        "headings close together in a PDF: a word that may be of either",
        pdf("d.pdf", [shown(72, 720, "Member") + shown(296, 720, "Dues per Term") + table(702, (72, 325, 350), DUES)]),
        "What are the dues of an adult?",
        r"\b40\b",
        doubt=True,
    ),
)

DRINKS = (("Hot drinks",), ("Tea", "1.60"), ("Coffee", "2.20"), ("Cold drinks",), ("Tea", "2.10"), ("Juice", "2.50"))
SIZES = (
    ("Drink", "Small", "Large"),
    ("Hot drinks",),
    ("Tea", "1.60", "2.00"),
    ("Coffee", "2.20", "2.90"),
    ("Cold drinks",),
    ("Tea", "2.10", "2.60"),
    ("Juice", "2.50", "3.10"),
)
TEA = "What is the price of the tea in the section Cold drinks?"
WHERE = "In which section is the juice?"
GROUPS = (
    Case(
        "groups of a price list in a PDF: alone in their rows",
        pdf("a.pdf", [table(714, (72, 400), DRINKS)]),
        TEA,
        r"2\.10",
        r"1\.60",
    ),
    Case(
        "groups of a price list in a PDF: with dots that lead",
        pdf("b.pdf", [led(714, DRINKS)]),
        WHERE,
        "cold drinks",
        "hot drinks",
    ),
    Case(
        "groups of a price list in a PDF: bold",
        pdf("c.pdf", [table(714, (72, 400), DRINKS, bold=True)]),
        TEA,
        r"2\.10",
        r"1\.60",
    ),
    Case(
        "groups of a price list in a PDF: below headings",
        pdf("d.pdf", [table(714, (72, 330, 400), SIZES)]),
        "What is the price of the large tea in the section Cold drinks?",
        r"2\.60",
        r"2\.00|2\.10",
    ),
)

SIDE = (
    "<div class=row><{0}>Harbour soup</{0}><{0}>£7.50</{0}></div>"
    "<div class=row><{0}>Crab roll</{0}><{0}>£9.20</{0}></div>"
)
SIDES = (
    Case(
        "parts side by side in HTML: a style of the element",
        page("a.html", "<h1>Menu</h1>" + SIDE.replace("class=row", "style='display:flex'").format("span")),
        "What does the harbour soup cost?",
        r"Harbour soup\W+£7\.50",
        r"9\.20",
    ),
    Case(
        "parts side by side in HTML: a class of the style sheet",
        page("b.html", "<style>.row { display: flex; gap: 1em }</style><h1>Menu</h1>" + SIDE.format("div")),
        "What does the crab roll cost?",
        r"Crab roll\W+£9\.20",
        r"7\.50",
    ),
    Case(
        "parts side by side in HTML: of a list",
        page(
            "c.html",
            "<h1>Menu</h1><ul><li><b>Harbour soup</b><span>£7.50</span><li><b>Crab roll</b><span>£9.20</span></ul>",
        ),
        "What does the crab roll cost?",
        r"Crab roll\W+£9\.20",
        r"7\.50",
    ),
)


def prices(x: float, top: float, groups: Sequence[tuple[str, Sequence[Row]]], step: float = 15) -> str:
    """Price lists below one another in a column that begins at `x`; each has a heading and two prices a row."""
    drawn = ""
    for heading, rows in groups:
        drawn += shown(x, top, heading, 14, "F2")
        top -= 22
        for row in rows:
            for edge, words in zip((0, 160, 215), row, strict=True):
                drawn += shown(round(x + edge - width(words) * (edge > 0), 2), top, words)
            top -= step
        top -= 10
    return drawn


def lines(x: float, top: float, texts: Sequence[str], step: float = 13.5, size: float = 11) -> str:
    """Lines of a column of text; one that begins with a star is a heading, an empty one leaves half a line free."""
    drawn = ""
    for text in texts:
        head = text.startswith("*")
        drawn += shown(x, round(top, 2), text.strip("*"), size + 2 * head, "F2" if head else "F1")
        top -= step * (1 if text else 0.5)
    return drawn


BOATS = (
    ("Boats", (("", "Hour", "Day"), ("Canoe for two", "14.00", "52.00"), ("Rowing boat", "11.00", "43.00"))),
    ("Bicycles", (("", "Hour", "Day"), ("City bicycle", "4.00", "16.00"), ("Tandem", "7.50", "29.00"))),
    ("Extras", (("", "Hour", "Day"), ("Child seat", "1.00", "4.00"), ("Dry bag", "0.80", "3.00"))),
)
ADDED = (
    ("Boats", (("", "Hour", "Day"), ("Canoe for two", "14.00", "52.00"), ("Rowing boat", "11.00", "43.00"))),
    ("", (("with paddles", "add", "add"), ("", "2.00", "6.00"), ("City bicycle", "4.00", "16.00"))),
)
CAMP = (
    (
        "Pitches",
        (("", "Hour", "Day"), ("Tent", "2.00", "19.00"), ("Motor home", "3.00", "31.00"), ("Hammock", "1.00", "8.00")),
    ),
    ("Cabins", (("", "Hour", "Day"), ("Lake cabin", "9.00", "88.00"), ("Forest cabin", "8.00", "74.00"))),
    (
        "Sauna",
        (
            ("", "Hour", "Day"),
            ("Whole sauna", "25.00", "120.00"),
        ),
    ),
)
WEAVER = (
    "*The weaver retires",
    "",
    "After forty years Greta Holm has put",
    "down her shuttle. She joined the mill",
    "in 1985 and taught",
    "eleven apprentices. Her loom goes to",
    "the museum in the spring.",
    "",
    "*A new dye house",
    "",
    "The dye house by the weir was ready",
    "in October and cost 410,000 crowns.",
    "Its boilers burn wood chips alone.",
)
SHOP = (
    "",
    "The mill shop opens on Fridays from",
    "ten to four. Remnants are sold by",
    "weight, at 60 crowns for a kilogram.",
    "",
    "*Visitors",
    "",
    "Last year 2,300 people came to see",
    "the looms, a third of them from other",
    "countries. Guided tours last",
    "fifty minutes.",
)
LAMBS = (
    "*Lambs and wool",
    "",
    "The flock on the island has grown to",
    "84 ewes. The shearing takes place on",
    "the second Saturday of June, in the",
    "barn of the ferryman.",
    "",
    "*Thanks",
    "",
    "The bakery gave all the bread for the",
    "summer party, as it has done since",
    "the mill was founded.",
)
TERMS = (
    "Payment within 30 days of the invoice",
    "date. From 20 May on we charge the",
    "usual interest for late payment.",
    "Bank: Harbour Savings, sort code 20-11-22",
)
BILL = "".join(
    shown(330, 700 - 20 * n, label, 12) + shown(round(540 - width(sum_, 12), 2), 700 - 20 * n, sum_, 12)
    for n, (label, sum_) in enumerate(
        (("Goods net", "418.00"), ("Carriage", "9.50"), ("VAT", "85.50"), ("Total due", "513.00"))
    )
)
COLUMNS = (
    Case(
        "columns of a page in a PDF: two columns of price lists",
        pdf("a.pdf", [prices(50, 740, BOATS) + prices(310, 743, CAMP)]),
        "What does the tandem cost for a day?",
        r"Tandem \| Hour: 7\.50 \| Day: 29\.00",
        r"88\.00|31\.00",
    ),
    Case(
        "columns of a page in a PDF: price lists of other steps",
        pdf("b.pdf", [prices(50, 740, BOATS, 16) + prices(310, 736, CAMP[::-1], 17)]),
        "What does the forest cabin cost for a day?",
        r"Forest cabin \| Hour: 8\.00 \| Day: 74\.00|Day for the forest cabin: 74\.00",
        r"29\.00|16\.00",
    ),
    Case(
        "columns of a page in a PDF: three columns of a newsletter",
        pdf("c.pdf", [lines(40, 740, WEAVER) + lines(234, 746, SHOP) + lines(428, 738, LAMBS)]),
        "When does the shearing take place?",
        "second Saturday of June, in the barn of the ferryman",
    ),
    Case(
        "columns of a page in a PDF: two columns of a newsletter",
        pdf("d.pdf", [lines(60, 740, WEAVER) + lines(320, 736, SHOP)]),
        "How much did the dye house cost?",
        "410,000",
        "2,300",
    ),
    Case(
        "columns of a page in a PDF: terms beside sums",
        pdf("e.pdf", [lines(60, 702, TERMS, 15, 9) + BILL]),
        "What is the total due?",
        r"513\.00",
        r"85\.50|418|20-11-22",
    ),
    Case(
        "columns of a page in a PDF: one word in every column",
        pdf("f.pdf", [prices(50, 740, ADDED)]),
        "What does a city bicycle cost for a day?",
        r"Hour: 4\.00 \| Day: 16\.00|Day for .*bicycle: 16\.00",
        "add",
    ),
)

CASES: tuple[Case, ...] = (*TITLES, *OVER_YEARS, *CLOSE, *GROUPS, *SIDES, *COLUMNS)
