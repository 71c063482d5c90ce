"""Pages: HTML, Markdown, EPUB and PDF, and figures and sentences in any text."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from lab.benchmarks.files.case import Case, text_file
from lab.benchmarks.files.kit import Write, book, coded, glyphs, page, pdf, shown

CATCH = (
    "<h1>Catch report</h1><p>The fleet landed 830<sup>2</sup> tonnes of herring in 2023.</p><p>The quay is short.</p>"
)
STARS = "<h1>Survey</h1><p>The survey counted 10<sup>6</sup> stars in one night.</p><p>The dome was open.</p>"
LANDED, COUNTED = "How many tonnes of herring did the fleet land in 2023?", "How many stars did the survey count?"

RAISED = (
    Case(
        "raised marks and exponents: footnote mark, HTML",
        page("catch.html", CATCH),
        LANDED,
        "830², tonnes|830² tonnes",
        "8302",
    ),
    Case("raised marks and exponents: exponent, HTML", page("stars.html", STARS), COUNTED, "10⁶", r"\b106"),
    Case("raised marks and exponents: footnote mark, EPUB", book("catch.epub", CATCH), LANDED, "830²", "8302"),
    Case("raised marks and exponents: exponent, EPUB", book("stars.epub", STARS), COUNTED, "10⁶", r"\b106"),
    Case(
        "raised marks and exponents: set by a style, HTML",
        page(
            "style.html",
            CATCH.replace("<sup>", "<span style='vertical-align: super; font-size: 60%'>").replace("</sup>", "</span>"),
        ),
        LANDED,
        "830²",
        "8302",
    ),
    Case(
        "raised marks and exponents: a letter as mark, HTML",
        page("letter.html", CATCH.replace("<sup>2", "<sup>b")),
        LANDED,
        "830ᵇ",
        "830b",
    ),
    Case(
        "raised marks and exponents: in a table, HTML",
        page(
            "table.html",
            "<table><tr><th>Port</th><th>Tonnes<sup>1</sup></th></tr><tr><td>Hanstholm</td><td>415"
            "<sup>2</sup></td></tr><tr><td>Skagen</td><td>377</td></tr></table>",
        ),
        "How many tonnes does Hanstholm have?",
        "415",
        "4152",
    ),
    Case(
        "raised marks and exponents: HTML in Markdown",
        text_file("catch.md", "# Catch report\n\nThe fleet landed 830<sup>2</sup> tonnes of herring in 2023.\n"),
        LANDED,
        "830²",
        "8302",
    ),
    Case(
        "raised marks and exponents: carets in Markdown",
        text_file("stars.md", "# Survey\n\nThe survey counted 10^6^ stars in one night. The dome was open.\n"),
        COUNTED,
        "10⁶",
        r"\b106",
    ),
    Case(
        "raised marks and exponents: footnote mark, PDF",
        pdf(
            "catch.pdf",
            [
                shown(72, 720, "The fleet landed 830", 11)
                + shown(173.2, 724, "2", 7)
                + shown(180, 720, "tonnes of herring in 2023.")
                + shown(72, 700, "The quay at the northern end is short and narrow.")
            ],
        ),
        LANDED,
        "830²",
        "8302",
    ),
    Case(
        "raised marks and exponents: exponent by rise, PDF",
        pdf(
            "stars.pdf",
            [
                shown(72, 720, "The survey counted 10")
                + shown(179.4, 720, "6", 7, rise=4)
                + shown(186, 720, "stars in one night.")
                + shown(72, 700, "The dome was open from dusk until dawn.")
            ],
        ),
        COUNTED,
        "10⁶",
        r"\b106",
    ),
    Case(
        "raised marks and exponents: a role in reStructuredText",
        text_file("stars.rst", "Survey\n======\n\nThe survey counted 10\\ :sup:`6` stars in one night.\n"),
        COUNTED,
        "10⁶",
        r"\b106",
    ),
)


def katex(tex: str, mathml: str, drawn: str, *, aloud: bool = True) -> str:
    """A formula as KaTeX sets it."""
    spoken = (
        "<span class='katex-mathml'><math xmlns='http://www.w3.org/1998/Math/MathML'><semantics><mrow>"
        f"{mathml}</mrow><annotation encoding='application/x-tex'>{tex}</annotation></semantics></math></span>"
    )
    return f"<span class='katex'>{spoken * aloud}<span class='katex-html' aria-hidden='true'>{drawn}</span></span>"


FOCAL = "<mi>f</mi><mo>=</mo><mn>85</mn>"
LENS = "<h1>Lens sheet</h1><p>The focal length of the lens is {} mm.</p><p>The hood is of metal.</p>"
LENGTH, F85 = "What is the focal length of the lens?", r"f\s?=\s?85\s?mm"
SPEED = "<msup><mn>10</mn><mn>8</mn></msup>"

FORMULAS = (
    Case(
        "formulas: KaTeX",
        page("a.html", LENS.format(katex("f = 85", FOCAL, "<span class='mord'>f=85</span>"))),
        LENGTH,
        F85,
        "85.*85",
    ),
    Case(
        "formulas: KaTeX, drawn only",
        page("b.html", LENS.format(katex("", "", "<span class='mord'>f=85</span>", aloud=False))),
        LENGTH,
        F85,
    ),
    Case(
        "formulas: MathJax 2, source in a script",
        page("c.html", LENS.format("<script type='math/tex'>f = 85</script>")),
        LENGTH,
        F85,
    ),
    Case(
        "formulas: MathJax 3",
        page(
            "d.html",
            LENS.format(
                "<mjx-container class='MathJax'><mjx-math aria-hidden='true'><mjx-mi></mjx-mi></mjx-math>"
                f"<mjx-assistive-mml><math>{FOCAL}</math></mjx-assistive-mml></mjx-container>"
            ),
        ),
        LENGTH,
        F85,
    ),
    Case("formulas: MathML", page("e.html", LENS.format(f"<math>{FOCAL}</math>")), LENGTH, F85),
    Case(
        "formulas: MediaWiki",
        page(
            "f.html",
            LENS.format(
                f"<span><span class='mwe-math-mathml-a11y' style='display: none'><math>{FOCAL}</math></span>"
                "<img class='mwe-math-fallback-image-inline' alt='{\\displaystyle f=85}'></span>"
            ),
        ),
        LENGTH,
        F85,
        "display",
    ),
    Case(
        "formulas: a power in KaTeX",
        page(
            "g.html",
            "<h1>Light</h1><p>The signal travels at 3 × "
            + katex("10^8", SPEED, "10<span class='msupsub'>8</span>")
            + " metres a second.</p><p>The cable is slower.</p>",
        ),
        "How fast does the signal travel?",
        "10⁸",
        r"\b108",
    ),
    Case(
        "formulas: TeX in Markdown",
        text_file("lens.md", "# Lens sheet\n\nThe focal length of the lens is $f = 85$ mm.\n"),
        LENGTH,
        F85,
        r"\$",
    ),
    Case(
        "formulas: a figure in dollar signs, Markdown",
        text_file("lens.md", "# Lens sheet\n\nThe lens weighs $640$ grams. The hood costs $25 and the cap $8.\n"),
        "What does the lens weigh?",
        "640 grams",
        r"\$\s?640",
    ),
    Case(
        "formulas: EPUB",
        book("lens.epub", LENS.format(f"<math xmlns='http://www.w3.org/1998/Math/MathML'>{FOCAL}</math>")),
        LENGTH,
        F85,
    ),
)

BINS = "<h1>Waste collection</h1><p>Garden waste is collected on Fridays.</p><p>A brown bin costs 38 pounds a year.</p>"
BIN = "What does a brown bin cost a year?"

FORMS = (
    Case(
        "a page within a form: ASP.NET",
        page("a.html", f"<form id='aspnetForm'><input type='hidden' value='x'>{BINS}</form>"),
        BIN,
        "38 pounds",
    ),
    Case(
        "a page within a form: form in main",
        page("b.html", f"<main><form><div>{BINS}</div><button>Go</button></form></main>"),
        BIN,
        "38 pounds",
    ),
    Case("a page within a form: EPUB", book("c.epub", f"<form action='x'>{BINS}</form>"), BIN, "38 pounds"),
    Case(
        "a page within a form: values of its fields",
        page(
            "d.html",
            "<h1>Lease application</h1><form><p>Name of applicant: <input type='text' value='Ottilie Brandt'></p>"
            "<p>Monthly rent: <input value='1,275 euros'></p><p>Payment: <select><option>cash</option><option selected>"
            "bank transfer</option></select></p></form>",
        ),
        "What is the monthly rent?",
        "1,275 euros",
    ),
)

PRESS = "<h1>Press manual</h1><p>Close the lid before starting.</p>{}<p>Oil it weekly.</p>"
WARNING = "<p>Warning: never run the press above 85 bar.</p>"
ABOVE = "Above which pressure must the press never be run?"
ASIDES = (
    Case(
        "asides: warning in main",
        page("a.html", f"<main>{PRESS.format(f'<aside class=warning>{WARNING}</aside>')}</main>"),
        ABOVE,
        "85 bar",
    ),
    Case("asides: warning without main", page("b.html", PRESS.format(f"<aside>{WARNING}</aside>")), ABOVE, "85 bar"),
    Case("asides: note in an EPUB", book("c.epub", PRESS.format(f"<aside>{WARNING}</aside>")), ABOVE, "85 bar"),
    Case(
        "asides: footer of an article",
        page("d.html", f"<article>{PRESS.format('')}<footer>{WARNING}</footer></article>"),
        ABOVE,
        "85 bar",
    ),
)

FARES = "<h1>Fares</h1><p>The day ticket costs {}.</p><p>Dogs travel free.</p>"
DAY = "What does the day ticket cost?"
STRUCK = (
    Case(
        "words struck out: HTML",
        page("a.html", FARES.format("<del>14 euros</del> <ins>19 euros</ins>")),
        DAY,
        "19 euros",
        "14",
    ),
    Case(
        "words struck out: by a style, HTML",
        page("b.html", FARES.format("<span style='text-decoration: line-through'>14</span> 19 euros")),
        DAY,
        "19 euros",
        "14",
    ),
    Case("words struck out: EPUB", book("c.epub", FARES.format("<s>14 euros</s> 19 euros")), DAY, "19 euros", "14"),
    Case(
        "words struck out: Markdown",
        text_file("d.md", "# Fares\n\nThe day ticket costs ~~14~~ 19 euros. Dogs travel free.\n"),
        DAY,
        "19 euros",
        "14",
    ),
    Case(
        "words struck out: none in their place",
        page("e.html", FARES.format("<s>14 euros</s>")),
        DAY,
        "struck out",
        "14",
    ),
    Case(
        "words struck out: in a table, Markdown",
        text_file(
            "f.md",
            "# Fares\n\n| ticket | price |\n| --- | --- |\n| Day ticket | ~~€14~~ €19 |\n| Week ticket | €45 |\n",
        ),
        DAY,
        "19",
        "14",
    ),
    Case(
        "words struck out: a line drawn through them, PDF",
        pdf(
            "g.pdf",
            [
                shown(72, 700, "The day ticket costs")
                + shown(176, 700, "14")
                + shown(190, 700, "19 euros. Dogs travel free on all lines.")
                + "0.8 w 175 703.5 m 188 703.5 l S 72 698 m 170 698 l S\n"
                + shown(72, 680, "The week ticket is sold at the counter alone.")
            ],
        ),
        DAY,
        "costs 19 euros",
        "14",
    ),
)

OVENS = (
    "<table>\n<tr><th>Model</th><th>Watts</th><th>Price</th></tr>\n\n"
    "<tr><td>Ember</td><td>2100</td><td>340 euros</td></tr>\n"
    "<tr><td>Cinder</td><td>1800</td><td>290 euros</td></tr>\n</table>\n"
)
WITHIN = (
    Case(
        "HTML within Markdown: a table",
        text_file("a.md", f"# Ovens\n\n{OVENS}"),
        "What is the price of the Cinder?",
        "290",
        "<t",
    ),
    Case(
        "HTML within Markdown: another column",
        text_file("b.md", f"# Ovens\n\nBoth are new.\n\n{OVENS}"),
        "How many watts does the Ember have?",
        "2,?100",
        "<t",
    ),
    Case(
        "HTML within Markdown: details",
        text_file(
            "c.md",
            "# Ovens\n\n<details><summary>Cleaning</summary>\n\nClean the oven with "
            "<b>warm</b> water&nbsp;only.\n\n</details>\n",
        ),
        "What is the oven cleaned with?",
        "warm water only",
        "<|&",
    ),
)

RESERVOIR = (
    "The reservoir holds nineteen million litres of water when it is full, and",
    "it supplies the four villages below the dam during the whole summer. The",
    "gates are closed in a dry year by the warden on the first of June, and they",
    "are opened again when the level has risen above the second mark. Boats may",
    "use the northern bay until the end of October. Anglers pay six euros a day",
    "for a rod, and children pay nothing. The wardens read the level each",
    "morning and write it into a green book, and a copy of that book is sent to",
)


def marked(name: str, turn: float) -> Case:
    """A page with a watermark across it, turned by so many degrees."""
    lines = "".join(shown(72, 560 - 16 * n, line) for n, line in enumerate(RESERVOIR))
    mark = f"q 0.85 g {shown(150, 380, 'DRAFT NOT VALID', 50, 'F2', turn=turn)} Q\n"
    return Case(
        f"a watermark: {turn:g} degrees",
        pdf(name, [mark + lines]),
        "How much do anglers pay a day?",
        r"Anglers pay six euros a day for a rod",
        "DRAFT",
    )


WATERMARKS = (marked("a.pdf", 30), marked("b.pdf", 35), marked("c.pdf", 45), marked("d.pdf", 55))

LAMBS = (
    "Results of the second trial",
    "",
    "The mean weight of the treated lambs was",
    "31 kilograms after ten weeks, against",
    "27 kilograms in the group that was not",
    "treated. Every animal was weighed on the",
    "same scale by the same two persons.",
    "No lamb was lost during the trial, and",
    "none was taken out of it for illness.",
)


def numbered(first: int, step: int = 1, x: float = 40, leading: float = 24) -> str:
    """A page whose lines are numbered in the margin, each or every so many."""
    page = ""
    for n, line in enumerate(LAMBS, start=first):
        y = 720 - leading * (n - first)
        page += shown(x, y, str(n), 8) * (n % step == 0) + (shown(80, y, line, 12) if line else "")
    return page


WEIGHT, KILOGRAMS = "What was the mean weight of the treated lambs?", r"lambs was 31 kilograms"
NUMBERED = (
    Case("numbers of lines in the margin: left", pdf("a.pdf", [numbered(101)]), WEIGHT, KILOGRAMS, r"\b10\d\b"),
    Case("numbers of lines in the margin: right", pdf("b.pdf", [numbered(1, x=520)]), WEIGHT, KILOGRAMS, r"\b[45]\b"),
    Case(
        "numbers of lines in the margin: close lines",
        pdf("c.pdf", [numbered(1, leading=15)]),
        WEIGHT,
        KILOGRAMS,
        r"\b[45]\b",
    ),
    Case(
        "numbers of lines in the margin: rows of a list keep theirs",
        pdf(
            "d.pdf",
            [
                shown(72, 720, "Prize list", 14, "F2")
                + "".join(
                    shown(72, 700 - 16 * n, str(n)) + shown(110, 700 - 16 * n, name) + shown(260, 700 - 16 * n, town)
                    for n, (name, town) in enumerate(
                        [
                            ("Ada Holm", "Skive"),
                            ("Ben Lund", "Thisted"),
                            ("Cara Friis", "Hobro"),
                            ("Dan Juhl", "Viborg"),
                            ("Eva Krog", "Randers"),
                            ("Finn Lau", "Struer"),
                        ],
                        start=1,
                    )
                )
            ],
        ),
        "Which town is Cara Friis from?",
        "Hobro",
    ),
)

LIBRARY = "הספרייה פתוחה עד שמונה בערב"  # the library is open until eight in the evening
ARABIC = "المكتبة مفتوحة حتى الثامنة مساء"


def leftward(name: str, sentence: str) -> Callable[[Path], Path]:
    """A PDF of one sentence from right to left, drawn glyph by glyph from the left, as most programs do."""
    letters = "".join(sorted(set(sentence)))
    codes = [letters.index(letter) + 1 for letter in reversed(sentence)]
    return pdf(name, [coded(200, 700, codes, 12)], glyphs(letters), fonts="/F9 10 0 R")


LEFTWARDS = (
    Case("right to left: Hebrew", leftward("a.pdf", LIBRARY), "הספרייה פתוחה עד", LIBRARY),
    Case("right to left: Arabic", leftward("b.pdf", ARABIC), "المكتبة مفتوحة حتى", ARABIC),
    Case(
        "right to left: Hebrew with a time",
        leftward("c.pdf", "הספרייה נסגרת בשעה שמונה וחצי"),
        "הספרייה נסגרת בשעה",
        "הספרייה נסגרת בשעה שמונה וחצי",
    ),
)


def field(box: str, about: str) -> str:
    """A field of a form on a page."""
    return f"<< /Type /Annot /Subtype /Widget /Rect [{box}] /F 4 /DA (/Helv 10 Tf 0 g) {about} >>"


def lease(name: str, *fields: str) -> Callable[[Path], Path]:
    """A form of a lease with these fields filled in."""
    places = [f"{n} 0 R" for n in range(10, 10 + len(fields))]
    form = f"<< /Fields [{' '.join(places)}] /DA (/Helv 10 Tf 0 g) /DR << /Font << /Helv 3 0 R >> >> >>"
    drawing = shown(72, 740, "Lease application", 16, "F2") + shown(72, 700, "Name of applicant:")
    drawing += shown(72, 670, "Monthly rent:") + shown(72, 640, "Way of payment:") + shown(72, 610, "Pets are kept:")
    return pdf(
        name,
        [drawing],
        {**dict(enumerate(fields, start=10)), 30: form},
        about=f"/Annots [{' '.join(places)}]",
        catalog="/AcroForm 30 0 R",
    )


WHO = field("180 696 380 712", "/FT /Tx /T (applicant) /V (Ottilie Brandt)")
RENT = field("180 666 380 682", "/FT /Tx /T (rent) /V (1,275 euros)")
PAID = field("180 636 380 652", "/FT /Ch /Ff 131072 /T (way) /Opt [(cash) (bank transfer)] /V (bank transfer)")
PETS = field("180 606 196 622", "/FT /Btn /T (pets) /V /Yes /AS /Yes /AP << /N << /Yes 3 0 R >> >>")
NOTE = (
    "<< /Type /Annot /Subtype /FreeText /Rect [180 666 380 682] /F 4 /Contents (1,275 euros) /DA (/Helv 10 Tf 0 g) >>"
)
FIELDS = (
    Case("values of PDF fields: a text", lease("a.pdf", WHO, RENT), "What is the monthly rent?", "1,275 euros"),
    Case(
        "values of PDF fields: a name",
        lease("b.pdf", WHO, RENT),
        "What is the name of the applicant?",
        "Ottilie Brandt",
    ),
    Case(
        "values of PDF fields: a choice",
        lease("c.pdf", WHO, PAID),
        "What is the way of payment?",
        "bank transfer",
        "cash",
    ),
    Case("values of PDF fields: typed on the page", lease("d.pdf", NOTE), "What is the monthly rent?", "1,275 euros"),
)


STAY = (
    ("Name of the family", "Ottilie and Jens Brandt"), ("Street and house number", "Mill Lane 3, first floor"),
    ("Phone in the evening", "0117 555 83 after seven"), ("Number of guests wanted", "2 of the same age"),
    ("Pets in the house", "A cat and three hens"), ("Not at home on", "Wednesday 10 June until ten"),
    ("Anything else to know", "Steep stairs to the attic"), ("Can drive the guests", "Only in the morning"),
)  # fmt: skip


def stay(name: str, *fields: str, ticks: bool = False) -> Callable[[Path], Path]:
    """A form with labels of several words on the left, and fields, or else values, on the right."""
    drawing, values = shown(72, 740, "Host family form", 16, "F2"), list[str]()
    for number, (label, value) in enumerate(STAY):
        drawing += shown(72, 700 - 26 * number, label)
        values.append(field(f"260 {696 - 26 * number} 520 {712 - 26 * number}", f"/FT /Tx /T (f{number}) /V ({value})"))
    if not fields:
        drawing += "".join(shown(262, 700 - 26 * number, value) for number, (_, value) in enumerate(STAY))
    for number, meal in enumerate(("vegetarian", "vegan", "halal") if ticks else ()):
        drawing += shown(282 + 90 * number, 480, meal) + (shown(72, 480, "Meals we cannot offer") if not number else "")
    values = [*values, *fields] if fields else []
    places = [f"{n} 0 R" for n in range(10, 10 + len(values))]
    form = f"<< /Fields [{' '.join(places)}] /DA (/Helv 10 Tf 0 g) /DR << /Font << /Helv 3 0 R >> >> >>"
    return pdf(
        name,
        [drawing],
        {**dict(enumerate(values, start=10)), 50: form},
        about=f"/Annots [{' '.join(places)}]",
        catalog="/AcroForm 50 0 R",
    )


def tick(left: int, about: str) -> str:
    """A box to tick."""
    return field(f"{left} 478 {left + 12} 490", f"/FT /Btn /T (t{left}) {about} /AP << /N << /Yes 3 0 R >> >>")


TICKS = (tick(262, "/V /Off /AS /Off"), tick(352, "/V /Yes /AS /Yes"), tick(442, "/V /Off /AS /Off"))
LONG = field("260 430 520 470", "/FT /Tx /Ff 4096 /T (more) /V (Breakfast is at 6.40\\non school days only)")
HOUSE = "Which pets are in the house?"
BESIDE = (
    Case("values beside labels of several words: fields", stay("a.pdf", LONG), HOUSE, "Pets in the house: A cat and"),
    Case("values beside labels of several words: printed", stay("b.pdf"), HOUSE, "Pets in the house: A cat and"),
    Case(
        "values beside labels of several words: boxes to tick",
        stay("c.pdf", *TICKS, ticks=True),
        "Which meals can the family not offer?",
        "Meals we cannot offer: ☐ vegetarian ☒ vegan ☐ halal",
    ),
    Case(
        "values beside labels of several words: two lines in a field",
        stay("d.pdf", LONG),
        "At what time is breakfast on school days?",
        "Breakfast is at 6.40 on school days only",
    ),
)


def prices(name: str, places: Sequence[int], *rows: Sequence[str], head: Sequence[str] = (), step: int = 20) -> Write:
    """A table whose cells begin at these places; a row of one cell names a group, in bold. A label or a heading of two
    lines stands half a line above and below the other cells of its row."""
    drawing = ""
    for x, title in zip(places, head, strict=False):
        upper, _, lower = title.partition("\n")
        drawing += shown(x, 747 if lower else 740, upper, 11, "F2") + (shown(x, 733, lower, 11, "F2") if lower else "")
    for number, row in enumerate(rows):
        y, cells = 740 - step * (number + 1), [*zip(places, row, strict=False)]
        first, _, second = row[0].partition("\n")
        if second:
            drawing += shown(places[0], y + 7, first) + shown(places[0], y - 7, second)
        elif len(row) == 1:
            drawing += shown(places[0], y, first, 11, "F2")
        for x, cell in cells if len(row) > 1 and not second else cells[1:]:
            drawing += shown(x, y, cell)
    return pdf(name, [drawing])


EXAM = (("Autumn session in the Methodist Hall at Lower Hadley",), ("401", "Amelie Bauer", "Piano", "106"),
        ("402", "Evie Lockyer", "Viola", "126"), ("Spring session",), ("423", "Isla March", "Violin", "131"),
        ("424", "George Amos", "Clarinet", "94"))  # fmt: skip
FEES = (("Lessons alone",), ("short", "30 min", "78.00", "97.00"), ("long", "45 min", "112.00", "138.00"),
        ("Lessons in a group",), ("in twos", "45 min", "62.00", "76.00"),
        ("in threes", "45 min", "46.00", "57.00"))  # fmt: skip
LOANS = (("up to 500 €", "8.00", "11.00"), ("500 to 1,500 €", "14.50", "19.00"), ("over 1,500 €", "22.00", "29.00"))
LENT = ("New value", "Children", "Adults")
WIDE = (72, 260, 360, 460)
BANDS = (("Small band\nand strings", "90 min", "14.00", "18.00"), ("Choir of children", "45 min", "8.00", "9.00"),
         ("Mixed choir", "90 min", "11.00", "12.00"),
         ("Brass and\npercussion", "60 min", "15.00", "17.00"))  # fmt: skip
GROUPS = (
    Case(
        "groups of numbered rows in a PDF: numbers in a narrow column",
        prices("a.pdf", (72, 106, 220, 320), *EXAM, head=("No.", "Candidate", "Instrument", "Marks")),
        "Which instrument does Isla March play?",
        r"Candidate: Isla March \| Instrument: Violin|Instrument for Isla March: Violin",
        r"session[^|\n]*: Isla|session 42",
    ),
    Case(
        "groups of numbered rows in a PDF: years in a narrow column",
        prices("b.pdf", (72, 104, 220, 320), *((n.replace("4", "20", 1), *r) if r else (n,) for n, *r in EXAM),
               head=("Year", "Candidate", "Instrument", "Marks")),
        "How many marks did Isla March get?",
        r"Isla March \| Instrument: Violin \| Marks: 131|Marks for Isla March: 131",
        r"session[^|\n]*: Isla|session 20",
    ),
    Case(
        "groups of numbered rows in a PDF: rows in small letters",
        prices("c.pdf", WIDE, *FEES, head=("Offer", "Time", "Children", "Adults")),
        "What do children pay for lessons in twos?",
        r"in twos(?: \| Time: 45 min \| Children)?: 62.00",
        r"group in twos|alone short",
    ),
    Case("a currency sign behind a label's figure in a PDF: up to a value",
         prices("a.pdf", WIDE, *LOANS, head=LENT),
         "What do children pay up to 500 €?", r"up to 500 € \| Children: 8.00", "€8"),
    Case("a currency sign behind a label's figure in a PDF: between two values",
         prices("b.pdf", WIDE, *LOANS, head=LENT),
         "What do adults pay for 500 to 1,500 €?", r"1,500 € \| Children: 14.50 \| Adults: 19.00", "€14"),
    Case("a currency sign behind a label's figure in a PDF: in pounds",
         prices("c.pdf", WIDE, *((n.replace("€", "£"), *r) for n, *r in LOANS), head=LENT),
         "What do adults pay over 1,500 £?", r"over 1,500 £ \| Children: 22.00 \| Adults: 29.00", "£22"),
    Case("labels of two lines beside their row in a PDF: above and below",
         prices("a.pdf", WIDE, *BANDS, head=("Offer", "Time", "Children", "Adults"), step=36),
         "What do children pay for small band and strings?",
         r"Small band and strings \| Time: 90 min \| Children: 14.00", r"strings [^|]"),
    Case("labels of two lines beside their row in a PDF: the last row",
         prices("b.pdf", WIDE, *BANDS, head=("Offer", "Time", "Children", "Adults"), step=36),
         "What do adults pay for brass and percussion?",
         r"Brass and percussion(?: \| Time: 60 min \| Children: 15.00 \| Adults)?: 17.00"),
    Case("labels of two lines beside their row in a PDF: rows close together",
         prices("c.pdf", WIDE, *BANDS, head=("Offer", "Time", "Children", "Adults"), step=28),
         "What does the choir of children cost for children?",
         r"Choir of children \| Time: 45 min \| Children: 8.00"),
)  # fmt: skip

MARKED = (("401", "Amelie Bauer", "106", "Pass", "Mo"), ("402", "Evie Lockyer", "126", "Merit", "Mo"),
          ("403", "Emil Kern", "115", "Pass", "AW"), ("404", "Ruby Tann", "131", "Distinction", "Mo"),
          ("405", "Freya Cott", "119", "Pass", "AW"))  # fmt: skip
TUNED = (("Grand piano", "128", "hours", "64.00"), ("Upright", "110", "days", "96.00"), ("Strings", "240", "m", "2.50"),
         ("Felt", "350", "cm", "0.65"))  # fmt: skip
HALVES = ("Offer", "Time", "Children a.\nyouths", "Adults")
CLOSE = (
    Case("cells close together in a PDF: marks and results",
         prices("a.pdf", (72, 106, 300, 323, 420), *MARKED, head=("No.", "Candidate", "Pts", "Result", "By")),
         "What result did Ruby Tann get?", r"Result: Distinction|Result for Ruby Tann: Distinction", "131 Dist"),
    Case("cells close together in a PDF: numbers and units",
         prices("b.pdf", (72, 300, 323, 420), *TUNED, head=("Item", "Qty", "Unit", "Price")),
         "What is the price of Upright?", r"(?:Qty: 110 \| Unit: days \| Price|Upright): 96.00", "110 days"),
    Case("cells close together in a PDF: numbers of rows and names",
         prices("c.pdf", (72, 95, 300, 420), *((n, name, pts, by) for n, name, pts, _, by in MARKED),
                head=("No.", "Candidate", "Pts", "By")),
         "How many pts does Evie Lockyer have?", r"Candidate: Evie Lockyer \| Pts: 126|Pts for Evie Lockyer: 126",
         "402 Ev"),
    Case("headings of two lines beside others in a PDF: an abbreviation",
         prices("a.pdf", WIDE, *FEES[1:3], *FEES[4:], head=HALVES),
         "What do children a. youths pay for short?", r"(?:Children a. youths|youths for short): 78.00"),
    Case("headings of two lines beside others in a PDF: above a group",
         prices("b.pdf", WIDE, *FEES, head=HALVES),
         "What do adults pay for short?", r"Children a. youths: 78.00 \| Adults: 97.00|Adults for short: 97.00"),
    Case("headings of two lines beside others in a PDF: the last column",
         prices("c.pdf", WIDE, *FEES[1:3], *FEES[4:], head=("Offer", "Time", "Children", "Adults\nabove 18")),
         "What do adults pay for long?", r"(?:Adults above 18|Adults above 18 for long): 138.00"),
)  # fmt: skip

HIDDEN = [ord(letter) - 29 for letter in "The bakery sells forty loaves each morning"]
UNMAPPED = (
    Case(
        "letters without a meaning: the only page",
        pdf("a.pdf", [coded(72, 700, HIDDEN)], glyphs(""), fonts="/F9 10 0 R"),
        "How many loaves does the bakery sell each morning?",
        "",
        doubt=True,
    ),
    Case(
        "letters without a meaning: what such a page holds",
        pdf(
            "b.pdf",
            [shown(72, 700, "The mill is closed on Sundays."), coded(72, 700, HIDDEN)],
            glyphs(""),
            fonts="/F9 10 0 R",
        ),
        "What does 7KH EDNHU sell?",
        "",
        doubt=True,
    ),
    Case(
        "letters without a meaning: the page beside it",
        pdf(
            "c.pdf",
            [shown(72, 700, "The mill is closed on Sundays."), coded(72, 700, HIDDEN)],
            glyphs(""),
            fonts="/F9 10 0 R",
        ),
        "On which day is the mill closed?",
        "Sundays",
    ),
)

KILNS = "Linings of magnesia last 900 firings [12]. Linings of clay last 250 [3, 7]. Both were fired at 1,280 degrees."
LINING, SHOWN_AS_OURS = "How many firings do linings of magnesia last?", r"\[12\]|\[1\]\.? \[1\]"
REFERENCES = (
    Case("references of the document: Markdown", text_file("a.md", f"# Linings\n\n{KILNS}\n"), LINING, "900 firings"),
    Case(
        "references of the document: text",
        text_file("b.txt", f"Linings\n\n{KILNS}\n\n[12] Magnesia trial.\n"),
        LINING,
        "900 firings",
    ),
    Case(
        "references of the document: raised, HTML",
        page(
            "c.html",
            "<h1>Linings</h1><p>Linings of magnesia last 900<sup>[12]</sup> firings.</p><p>Clay is weaker.</p>",
        ),
        LINING,
        r"last 900(?:\[12\])? firings",
    ),
    Case("references of the document: PDF", pdf("d.pdf", [shown(72, 720, KILNS, 9)]), LINING, "900 firings"),
)

TEA = "Tea ............. £1.60\nCoffee .......... £2.20\nHot chocolate ... £2.90\n"
PRICES = (
    Case("dot leaders: text", text_file("a.txt", f"Price list\n\n{TEA}"), "What does tea cost?", r"1\.60", r"2\.[29]0"),
    Case(
        "dot leaders: Markdown",
        text_file("b.md", f"# Price list\n\n{TEA}"),
        "What does hot chocolate cost?",
        r"2\.90",
        r"1\.60",
    ),
    Case(
        "dot leaders: HTML",
        page("c.html", f"<h1>Price list</h1><p>{TEA.replace(chr(10), '<br>')}</p>"),
        "What does coffee cost?",
        r"2\.20",
        r"1\.60",
    ),
    Case(
        "dot leaders: with blanks between",
        text_file("d.txt", "Price list\n\nTea . . . . . . . £1.60\nCoffee . . . . . £2.20\n"),
        "What does tea cost?",
        r"1\.60",
        r"2\.20",
    ),
    Case(
        "dot leaders: PDF",
        pdf(
            "e.pdf",
            [
                shown(72, 740, "Price list", 14, "F2")
                + "".join(
                    shown(72, 710 - 20 * n, line)
                    for n, line in enumerate(["Tea .................... 1.60 GBP", "Coffee ................. 2.20 GBP"])
                )
            ],
        ),
        "What does tea cost?",
        r"1\.60",
        r"2\.20",
    ),
)

POOLS = (
    "| day | morning_c | temp_c | volume_l |\n| - | - | - | - |\n| Monday | 8 | 21 | 900 |\n| Friday | 6 | 19 | 850 |\n"
)
COLUMNS = (
    Case(
        "column names with units of one letter: Markdown",
        text_file("a.md", f"# Pool\n\n{POOLS}"),
        "What was the volume on Friday?",
        "850",
        "900",
    ),
    Case(
        "column names with units of one letter: CSV",
        text_file("b.csv", "day,morning_c,temp_c,volume_l\nMonday,8,21,900\nFriday,6,19,850\n"),
        "What was morning_c on Monday?",
        r"\b8\b",
        "21",
    ),
    Case(
        "column names with units of one letter: HTML",
        page(
            "c.html",
            "<table><tr><th>day</th><th>morning_c</th><th>volume_l</th></tr><tr><td>Monday</td><td>8</td><td>900</td></tr>"
            "<tr><td>Friday</td><td>6</td><td>850</td></tr></table>",
        ),
        "What was the volume on Monday?",
        "900",
        "850",
    ),
)

HALL = "# Hall\n\n{}\n\nThe hall has a kitchen. The piano is tuned in May.\n"
MONEY = (
    Case(
        "figures in other words: £ asked in pounds",
        text_file("a.md", HALL.format("The deposit for the hall is £600.")),
        "How many pounds is the deposit for the hall?",
        "600",
    ),
    Case(
        "figures in other words: pounds asked with £",
        text_file("b.md", HALL.format("The deposit for the hall is 600 pounds.")),
        "How much in £ is the deposit for the hall?",
        "600",
    ),
    Case(
        "figures in other words: German writing",
        text_file("c.md", HALL.format("The grant for the hall is 1.250,50 euros.")),
        "How many euros is the grant for the hall?",
        r"1\.250,50|1,250\.50",
    ),
    Case(
        "figures in other words: a time",
        text_file("d.md", HALL.format("The hall closes at 19:00 on Mondays.")),
        "When in the evening does the hall close on Mondays?",
        "19:00|7 pm",
    ),
    Case(
        "figures in other words: a share",
        text_file("e.md", HALL.format("One in five members is under thirty.")),
        "What share of the members is under thirty?",
        "one in five|20",
    ),
    Case(
        "figures in other words: hours beyond a day",
        text_file("f.md", HALL.format("The wardens worked 26:15 hours in March.")),
        "How long did the wardens work in March?",
        "26:15",
    ),
)


def minutes(name: str, dates: list[str]) -> Callable[[Path], Path]:
    """Minutes whose date stands in the header of each page alone."""
    said = [
        "The committee agreed to repaint the hall.",
        "The committee chose blue for the doors.",
        "The committee thanked the cook.",
    ]
    said += ["The committee will meet again after the summer."]
    return pdf(
        name,
        [
            shown(72, 760, f"Minutes of {date}", 8)
            + shown(500, 760, f"page {n}", 8)
            + shown(72, 700, line)
            + shown(72, 684, "Nobody was against it and the chair closed the matter.")
            for n, (date, line) in enumerate(zip(dates, said, strict=True), 1)
        ],
    )


DATED = (
    Case(
        "a date in the header alone: PDF",
        minutes("a.pdf", ["14 March 2025"] * 4),
        "What did the committee agree on 14 March 2025?",
        "repaint the hall",
    ),
    Case(
        "a date in the header alone: another on each page",
        minutes("b.pdf", [f"{n} March 2025" for n in (14, 21, 28, 30)]),
        "What did the committee choose on 21 March 2025?",
        "blue for the doors",
        "cook|repaint",
    ),
    Case(
        "a date in the header alone: HTML",
        page(
            "c.html",
            "<header><h1>Minutes of 14 March 2025</h1></header><main><p>The committee agreed to repaint the hall.</p>"
            "<p>It thanked the cook.</p></main>",
        ),
        "What did the committee agree on 14 March 2025?",
        "repaint the hall",
    ),
)


def tracked(x: float, y: float, words: str, track: float, size: float = 11, *, spaces: bool = True) -> str:
    """Words with so much room between their letters (a share of the size), each sign drawn alone."""
    drawn = ""
    for sign in words:
        drawn += shown(round(x, 2), y, sign, size) if spaces or sign != " " else ""
        x += size * (HELVETICA.get(sign, 0.556) + track)
    return drawn


HELVETICA = dict.fromkeys(" ,.:/ftI", 0.278) | dict.fromkeys("ijl", 0.222) | dict.fromkeys("ckrsvxyz", 0.5)
HELVETICA |= dict.fromkeys("ABEKPSVXY", 0.667) | dict.fromkeys("CDHNRUw", 0.722) | dict.fromkeys("FTZ", 0.611)
HELVETICA |= {"r": 0.333, "m": 0.833, "M": 0.833, "W": 0.944, "G": 0.778, "O": 0.778, "Q": 0.778, "J": 0.5, "L": 0.556}

_FARES = (("Skagen", "12.50"), ("Hobro", "31.75"), ("Thisted", "24.10"))
TRACKED = (
    Case(
        "letters with room between them: a figure, PDF",
        pdf(
            "a.pdf",
            [
                tracked(72, 720, "Harbour dues of the season", 0.3, 14)
                + tracked(72, 690, "Mooring: 118.80 euros", 0.3)
                + shown(72, 670, "Dues are paid at the office.")
            ],
        ),
        "What does the mooring cost?",
        r"118\.80",
    ),
    Case(
        "letters with room between them: a heading above a table, PDF",
        pdf(
            "b.pdf",
            [
                tracked(72, 720, "WINTER FARES", 0.6, 14, spaces=False)
                + "".join(
                    tracked(72, 690 - 18 * n, name, 0.15) + tracked(300, 690 - 18 * n, fare, 0.15)
                    for n, (name, fare) in enumerate(_FARES)
                )
            ],
        ),
        "What is the fare to Hobro?",
        r"31\.75",
        r"12\.50|24\.10",
    ),
    Case(
        "letters with room between them: a sentence, PDF",
        pdf(
            "c.pdf",
            [
                tracked(72, 720, "The museum opens at 9:45 on Sundays.", 0.4, 10)
                + shown(72, 700, "It stands beside the quay of the town.")
            ],
        ),
        "When does the museum open on Sundays?",
        r"at 9:45 on Sundays",
    ),
)

_ROWING = (
    "The rowing club meets on Mondays at",
    "seven in the boat house. New members",
    "bring a towel and a jacket. The club",
    "has nine boats and a coach, who is",
    "paid by the town. It was founded in",
    "1911 by the owner of the old mill.",
)
_CHESS = (
    "The chess club meets on Thursdays in",
    "the reading room. A chess set costs",
    "31 euros and is paid at the desk. Its",
    "members are of any age, and a child",
    "pays three euros a year. The chess club",
    "won the cup of the county in 2019.",
)


def askew(degrees: float, *, turned: bool) -> str:
    """Two columns as a scanner's program writes them below a page that lay askew: lines that are `turned`, or words."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    drawn = ""
    for left, lines in ((60, _ROWING), (320, _CHESS)):
        for n, line in enumerate(lines):
            x, y = float(left), 700 - 13 * n
            for part in [line] if turned else line.split():
                place = round(x * c - y * s + 8, 2), round(x * s + y * c - 8, 2)
                drawn += shown(*place, part, turn=degrees * turned)
                x += sum(11 * HELVETICA.get(sign, 0.556) for sign in f"{part} ")
    return drawn


ASKEW = (
    Case(
        "two columns of a scan that lay askew, PDF: to the left",
        pdf("a.pdf", [askew(1, turned=True)]),
        "What does a chess set cost?",
        r"chess set costs 31 euros",
    ),
    Case(
        "two columns of a scan that lay askew, PDF: to the right",
        pdf("b.pdf", [askew(-1.5, turned=True)]),
        "How many boats does the rowing club have?",
        r"club has nine boats",
    ),
    Case(
        "two columns of a scan that lay askew, PDF: each word upright",
        pdf("c.pdf", [askew(1.2, turned=False)]),
        "What do new members bring?",
        r"New members bring a towel and a jacket",
    ),
)

CASES: tuple[Case, ...] = (
    *RAISED,
    *FORMULAS,
    *FORMS,
    *ASIDES,
    *STRUCK,
    *WITHIN,
    *WATERMARKS,
    *NUMBERED,
    *LEFTWARDS,
    *FIELDS,
    *BESIDE,
    *GROUPS,
    *CLOSE,
    *UNMAPPED,
    *REFERENCES,
    *PRICES,
    *COLUMNS,
    *MONEY,
    *DATED,
    *TRACKED,
    *ASKEW,
)
