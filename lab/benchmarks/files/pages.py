"""Pages: HTML, Markdown, EPUB and PDF, and figures and sentences in any text."""

from lab.benchmarks.files.case import Case, text_file
from lab.benchmarks.files.kit import book, page, pdf, shown

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
        r"830\^\(b\)",
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
        text_file("f.md", "# Fares\n\n| ticket | price |\n| --- | --- |\n| day | ~~€14~~ €19 |\n| week | €45 |\n"),
        DAY,
        "19",
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

CASES: tuple[Case, ...] = (*RAISED, *FORMULAS, *FORMS, *ASIDES, *STRUCK, *WITHIN)
