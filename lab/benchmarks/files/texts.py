"""Texts of a desk: lists and notes in the encodings of old programs, mails, letters, pages that were saved."""

from collections.abc import Callable
from pathlib import Path

from lab.benchmarks.files.case import Case, text_file
from lab.benchmarks.files.kit import book, page
from lab.benchmarks.files.office_kit import (
    cell,
    frame,
    numbered,
    numbering,
    opendocument,
    para,
    row,
    shape,
    slides,
    spoken,
    table,
    word,
)  # fmt: skip


def encoded(name: str, encoding: str, text: str) -> Callable[[Path], Path]:
    """A writer of a file of this text in an encoding."""

    def write(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


ENCODED = (
    Case(
        "signs of a currency tell the encoding: £ beside ë and î, CSV",
        encoded(
            "debts.csv",
            "cp1252",
            "Tenant,Notes,Owed £\nRenée Moss,pays £ in cash,240.50\nZoë Hart,“late” – fee £5,61.00\n",
        ),
        "What does Zoë Hart owe, in pounds?",
        r"61\.00 GBP|£61",
        "Ł",
    ),
    Case(
        "signs of a currency tell the encoding: ½ and a quotation mark, text",
        encoded(
            "kiln.txt",
            "cp1252",
            "Siân’s “slow” kiln burns 3½ sacks a day. One sack costs £14.\n\nIt stands in Flà yard.\n",
        ),
        "How much does one sack cost?",
        "£14",
        "Ł",
    ),
    Case(
        "signs of a currency tell the encoding: £ of DOS, CSV",
        encoded("tolls.csv", "cp850", "Bridge,Toll\nUpper,£3.20\nLower,£1.80\n"),
        "What is the toll of the Upper bridge?",
        r"£3\.20",
        "œ|ś",
    ),
    Case(
        "signs of a currency tell the encoding: zł, CSV",
        encoded("tickets.csv", "cp1250", "Ticket,Price\nAdult,12 zł\nChild,5 zł\n"),
        "What is the price of the Adult ticket?",
        "12 zł",
        "z³",
    ),
    Case(
        "signs of a currency tell the encoding: é of a Macintosh, CSV",
        encoded("rents.csv", "mac_roman", "Shop,Rent\nCafé Renée,£310\nBakery,£275\n"),
        "What is the rent of Café Renée?",
        "£310",
        "CafŽ",
    ),
)

SHEET = "<style>.old{display:none} #gone, p.draft {visibility: hidden} @media print{.now{display:none}}</style>"
BERTHS = "<h1>Berths</h1>{}<p class='now'>A berth at the quay costs £12 a night.</p><p>The quay is short.</p>"
BERTH = "What does a berth at the quay cost a night?"
FROM = "From: Ada <ada@example.org>\nSubject: Berths\nMIME-Version: 1.0\nContent-Type: "
MAIL = f"{FROM}text/html; charset=utf-8\n\n"

HIDDEN = (
    Case(
        "hidden by the page's style sheet: a class",
        page("berths.html", SHEET + BERTHS.format("<p class='old'>A berth at the quay costs £99 a night.</p>")),
        BERTH,
        "£12",
        "£99",
    ),
    Case(
        "hidden by the page's style sheet: a name, in a mail",
        text_file(
            "berths.eml", MAIL + SHEET + BERTHS.format("<p id='gone'>A berth at the quay costs £99 a night.</p>")
        ),
        BERTH,
        "£12",
        "£99",
    ),
    Case(
        "hidden by the page's style sheet: until it is clicked",
        page(
            "asked.html",
            "<style>.answer{display:none} .open .answer{display:block}</style>"
            + BERTHS.format("<h2>Is there water?</h2><p class='answer'>Water costs £3 a night.</p>"),
        ),
        "What does water cost a night?",
        "£3",
    ),
    Case(
        "hidden by the page's style sheet: a book",
        book("berths.epub", SHEET + BERTHS.format("<p class='draft'>A berth at the quay costs £99 a night.</p>")),
        BERTH,
        "£12",
        "£99",
    ),
)

LINKS = "<ul><li><a href='/'>Home</a></li><li><a href='/berths'>Berths 2027</a></li></ul>"
LICENCE = "<p>© 2026 Quay Ltd · Licence no. Q 0231, valid to 30 September 2028</p>"
VALID, UNTIL = "Until when is the licence valid?", "30 September 2028"

FOOTERS = (
    Case(
        "a page's footer: beside main",
        page("a.html", f"<main>{BERTHS.format('')}</main><footer>{LINKS}{LICENCE}</footer>"),
        VALID,
        UNTIL,
    ),
    Case(
        "a page's footer: by its role",
        page("b.html", f"{BERTHS.format('')}<div role='contentinfo'>{LICENCE}<nav>{LINKS}</nav></div>"),
        VALID,
        UNTIL,
    ),
    Case(
        "a page's footer: a telephone as a link",
        page(
            "c.html", f"{BERTHS.format('')}<footer><p>Telephone <a href='tel:01632960455'>01632 960455</a></p></footer>"
        ),
        "What is the telephone number?",
        "01632 960455",
    ),
)


def rich(name: str, text: str, fonts: str = "") -> Callable[[Path], Path]:
    """A rich text."""
    return text_file(name, f"{{\\rtf1\\ansi\\ansicpg1252{{\\fonttbl{{\\f0\\fcharset0 Arial;}}{fonts}}}{text}}}")


def filled_row(*cells: str) -> str:
    """A row of a table of an OpenDocument text."""
    inner = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in cells)
    return f"<table:table-row>{inner}</table:table-row>"


MARK = 'w:id="1" w:author="Ada" w:date="2026-01-01T00:00:00Z"'
BEGIN, END = '<text:change-start text:change-id="c2"/>', '<text:change-end text:change-id="c2"/>'
TOLL = "What is the toll of the Lower bridge?"

TRACKED = (
    Case(
        "tracked changes: a row of a table, Word",
        word(
            "tolls.docx",
            table(row("Bridge", "Toll"), row("Upper", "£3"), row("Lower", "£4", about=f"<w:ins {MARK}/>"))
            + para("Tolls are paid at the gate."),
        ),
        TOLL,
        "£4",
        doubt=True,
    ),
    Case(
        "tracked changes: rich text",
        rich(
            "tolls.rtf",
            "The toll of the Lower bridge is {\\deleted 3}{\\revised 4} pounds.\\par It is paid at the gate.\\par",
        ),
        TOLL,
        "£4",
        doubt=True,
    ),
    Case(
        "tracked changes: over several paragraphs, OpenDocument",
        opendocument(
            "tolls.odt",
            "text",
            f"<text:p>Tolls are paid {BEGIN}at the gate.</text:p><text:p>The toll of the Lower bridge is £4.</text:p>"
            f"<text:p>Cattle{END} pay none.</text:p>",
        ),
        TOLL,
        "£4",
        doubt=True,
    ),
    Case(
        "tracked changes: a cell, OpenDocument",
        opendocument(
            "cell.odt",
            "text",
            f"<table:table>{filled_row('Bridge', 'Toll')}{filled_row('Upper', '£3')}"
            f"{filled_row('Lower', f'{BEGIN}£4{END}')}</table:table>",
        ),
        TOLL,
        "£4",
        doubt=True,
    ),
)

RICH = (
    Case(
        "what stands apart in rich text: header",
        rich("a.rtf", "{\\header\\pard Telephone 01632 960455\\par}Dear Ada,\\par The quay is short.\\par"),
        "What is the telephone number?",
        "01632 960455",
    ),
    Case(
        "what stands apart in rich text: a footer with a table",
        rich(
            "b.rtf",
            "The quay is short.\\par{\\footer\\trowd\\pard\\intbl Telephone\\cell 01632 960455\\cell\\row}",
        ),
        "What is the telephone number?",
        "01632 960455",
    ),
    Case(
        "what stands apart in rich text: a box",
        rich(
            "c.rtf",
            "The quay is short.{\\shp{\\*\\shpinst{\\sp x}{\\shptxt The quay is 42 metres long.\\par}}}\\par",
        ),
        "How long is the quay?",
        "42 metres",
    ),
    Case(
        "letters of a font in rich text: Polish",
        rich(
            "d.rtf", "\\f0 The sign reads \\f1 \\'a3\\'f3d\\'9f\\f0  at the gate.\\par", "{\\f1\\fcharset238 Arial CE;}"
        ),
        "What does the sign read?",
        "Łódź",
    ),
    Case(
        "letters of a font in rich text: Cyrillic",
        rich(
            "e.rtf",
            "The sign reads {\\f1 \\'d1\\'f2\\'ee\\'ef} at the gate.\\par",
            "{\\f1\\fswiss\\fprq2\\fcharset204{\\*\\panose 02}Arial CYR;}",
        ),
        "What does the sign read?",
        "Стоп",
    ),
    Case(
        "letters of a font in rich text: plain again",
        rich("f.rtf", "\\f1 Z\\'b3oty\\plain  is served in the caf\\'e9 at 8.\\par", "{\\f1\\fcharset238 Arial CE;}"),
        "When is Złoty served in the café?",
        "Złoty is served in the café at 8",
    ),
)

PLAIN = f"{FROM}text/plain; charset=utf-8\n\n"
ASKED = "A berth at the quay costs £30 a night."

QUOTED = (
    Case(
        "an earlier mail quoted: with marks",
        text_file(
            "a.eml",
            f"{PLAIN}Dear Ben,\n\nno, it is £40 now.\n\nAda\n\nOn 3 March, Ben wrote:\n> {ASKED}\n>> It rains.\n",
        ),
        BERTH,
        "£40",
        doubt=True,
    ),
    Case(
        "an earlier mail quoted: below its header",
        text_file(
            "b.eml",
            f"{PLAIN}It is £40 now.\n\nFrom: Ben\nSent: 3 March 2026\nSubject: Berths\n\nDear Ada,\n\n{ASKED}\n",
        ),
        BERTH,
        "£40",
        doubt=True,
    ),
    Case(
        "an earlier mail quoted: HTML",
        text_file("c.eml", f"{MAIL}<p>That is not so any more.</p><div>Am 3. März schrieb Ben:</div><p>{ASKED}</p>"),
        BERTH,
        "£40",
        doubt=True,
    ),
    Case(
        "an earlier mail quoted: thanked for",
        text_file("d.eml", f"{PLAIN}Thanks, Ben.\n\nOn 3 March, Ben wrote:\n> {ASKED}\n> It rains.\n"),
        BERTH,
        "£30",
    ),
)

EVENT = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Inspection of the quay\nDTSTART:20260414T131500\nLOCATION:Berth 9\n"
FEES = "Berth,Fee\nQuay,£12\nMole,£17\n"


def with_part(kind: str, about: str, text: str) -> str:
    """A mail of two parts, the second of this kind."""
    head = f'{FROM}multipart/{kind}; boundary="B"\n\n--B\nContent-Type: text/plain\n\nSee below.\n'
    return f"{head}--B\nContent-Type: {about}\n\n{text}--B--\n"


SHOWN = (
    Case(
        "files within a mail: shown in it",
        text_file(
            "a.eml",
            with_part("mixed", "text/csv; charset=utf-8\nContent-Disposition: inline; filename=fees.csv", FEES),
        ),
        "What is the fee of the Mole berth?",
        "£17",
    ),
    Case(
        "files within a mail: named by their kind alone",
        text_file("b.eml", with_part("mixed", "text/csv; charset=utf-8; name=fees.csv", FEES)),
        "What is the fee of the Mole berth?",
        "£17",
    ),
    Case(
        "files within a mail: an invitation",
        text_file(
            "c.eml",
            with_part(
                "alternative", "text/calendar; charset=utf-8; method=REQUEST", f"{EVENT}END:VEVENT\nEND:VCALENDAR\n"
            ),
        ),
        "Where is the inspection of the quay?",
        "Berth 9",
    ),
)


def dates(name: str, *events: str, about: str = "") -> Callable[[Path], Path]:
    """A calendar of these events."""
    told = "".join(f"BEGIN:VEVENT\n{event}\nEND:VEVENT\n" for event in events)
    return text_file(name, f"BEGIN:VCALENDAR\n{about}{told}END:VCALENDAR\n")


ALARM = "SUMMARY:Alarm test\nDTSTART:20260227T173000\nRRULE:FREQ=MONTHLY;BYDAY="
CHOIR = "UID:c1\nSUMMARY:Choir\nLOCATION:Old school\nDTSTART:20260105T140000\nRRULE:FREQ=WEEKLY;BYDAY=MO"
MOVED = "UID:c1\nRECURRENCE-ID:20260420T140000\nSUMMARY:Choir (moved)\nLOCATION:Village hall\nDTSTART:20260421T093000"
CALL = "SUMMARY:Call about the plate\nDTSTART:20260422T160000Z\nDTEND:20260422T164500Z"
LONDON = "BEGIN:VTIMEZONE\nTZID:Europe/London\nEND:VTIMEZONE\n"

DATES = (
    Case(
        "repeated events: the last weekday of a month",
        dates("a.ics", f"{ALARM}-1FR"),
        "How often is the alarm test repeated?",
        "every month on the last Friday",
    ),
    Case(
        "repeated events: two weekdays of a month",
        dates("b.ics", f"{ALARM}1MO,3MO;BYMONTH=6,7"),
        "How often is the alarm test repeated?",
        "the first Monday, the third Monday in June, July",
    ),
    Case(
        "repeated events: a place among days",
        dates("c.ics", f"{ALARM}MO,TU,WE,TH,FR;BYSETPOS=-1"),
        "How often is the alarm test repeated?",
        "on the last of Monday",
    ),
    Case(
        "repeated events: another in the place of one",
        dates("d.ics", CHOIR, MOVED),
        "Where is the choir on 21 April 2026?",
        "Village hall",
        "Old school",
    ),
    Case(
        "times in UTC: the calendar's zone",
        dates("e.ics", CALL, about="X-WR-TIMEZONE:Europe/London\n"),
        "When does the call about the plate start?",
        "17:00",
        "16:00",
    ),
    Case(
        "times in UTC: its only zone",
        dates("f.ics", CALL, about=LONDON),
        "When does the call about the plate end?",
        "17:45",
        "16:45",
    ),
    Case(
        "times in UTC: no zone",
        dates("g.ics", CALL),
        "When does the call about the plate start?",
        "16:00 UTC",
    ),
)

SLIDE = shape("Ferry", title=True) + shape("The ferry to Mull leaves at 9.")

COMMENTS = (
    Case(
        "comments on slides: of an old program",
        slides("a.pptx", SLIDE, comments='<p:cm authorId="0"><p:text>A dog travels for £4.</p:text></p:cm>'),
        "For how much does a dog travel?",
        "£4",
    ),
    Case(
        "comments on slides: of a new program",
        slides(
            "b.pptx",
            SLIDE,
            comments="<p:cm><p:txBody><a:p><a:r><a:t>A dog travels for £4.</a:t></a:r></a:p></p:txBody></p:cm>",
        ),
        "For how much does a dog travel?",
        "£4",
    ),
    Case(
        "comments on slides: beside the slide's words",
        slides("c.pptx", SLIDE, comments='<p:cm authorId="0"><p:text>Ask Ida.</p:text></p:cm>'),
        "When does the ferry to Mull leave?",
        r"\b9\b",
    ),
)


def override(inner: str) -> str:
    """A second list that writes its first level in its own way."""
    return f'<w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0">{inner}</w:lvlOverride></w:num>'


def level(kind: str, text: str, start: int = 1) -> str:
    """A level of a list."""
    return f'<w:lvl w:ilvl="0"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'


def clauses(name: str, own: str) -> Callable[[Path], Path]:
    """A Word file of two lists of one numbering, of which the second is written in its own way."""
    body = numbered("The quay is swept on Mondays.", 0) + numbered("The crane lifts 2 tonnes.", 0)
    body += numbered("Dogs are kept on a lead.", 0, 2) + numbered("Bicycles are pushed along the quay.", 0, 2)
    return word(name, body, {"numbering": numbering(("decimal", "%1."), more=override(own))})


RULE = "Which rule says that bicycles are pushed?"

NUMBERED = (
    Case(
        "lists written in their own way: letters",
        clauses("a.docx", level("upperLetter", "Rule %1")),
        RULE,
        "Rule B",
    ),
    Case("lists written in their own way: a start", clauses("b.docx", level("decimal", "Rule %1", 7)), RULE, "Rule 8"),
    Case(
        "lists written in their own way: begun again",
        clauses("c.docx", f'<w:startOverride w:val="3"/>{level("lowerRoman", "Rule %1")}'),
        RULE,
        "Rule iv",
    ),
)

COLD = "2026-03-21 02:45:00 \x1b[1;31mALARM\x1b[0m vault at \x1b[33m9.9\x1b[0m degrees"

COLOURED = (
    Case(
        "colours of a terminal: a log",
        text_file("a.log", f"2026-03-21 02:30:00 \x1b[32mINFO\x1b[0m door shut\n{COLD}\n"),
        "At how many degrees was the vault at the ALARM?",
        r"9\.9 degrees",
        r"\[3\d|\[0m",
    ),
    Case(
        "colours of a terminal: a text",
        text_file("b.txt", "\x1b[1mVault\x1b[22m\n\nThe vault is kept at \x1b[33m4.5\x1b[0m degrees.\n"),
        "At how many degrees is the vault kept?",
        r"at 4\.5 degrees",
        r"\[3\d|\[0m",
    ),
    Case(
        "colours of a terminal: a cell, CSV",
        text_file("c.csv", "Host,State\nalpha,\x1b[32mup\x1b[0m\nbeta,\x1b[31mdown\x1b[0m\n"),
        "What is the state of beta?",
        "down",
        r"\[3\d|\[0m",
    ),
)

PART_FORM = (
    ("1. THE OWNER",), ("Name", "Ada Moss", "Date", "17/02/2026"),
    ("Address", "4 Mill Lane, Ware", "Mobile", "07700 900 418"),
    ("2. THE BOATS",), ("", "Boat 1", "Boat 2", "Boat 3"), ("Name", "Tern", "Heron", "Plover"),
    ("Berth", "12", "none", "31"), ("Hull", "oak, tarred", "steel", "larch"),
)  # fmt: skip
OWNER, BERTHED = "What is the address of the owner?", "What is the hull of Boat 2?"
FOUR = '<w:gridSpan w:val="4"/>'
LINES = "".join(
    f"<tr>{f'<td colspan=4>{cells[0]}</td>' if len(cells) == 1 else ''.join(f'<td>{one}</td>' for one in cells)}</tr>"
    for cells in PART_FORM
)
DRAWN = "".join(
    "<a:tr>"
    + "".join(
        f'<a:tc gridSpan="{4 if len(cells) == 1 else 1}"><a:txBody><a:p>{spoken(one)}</a:p></a:txBody></a:tc>'
        for one in cells
    )
    + "</a:tr>"
    for cells in PART_FORM
)

PARTS = (
    Case(
        "forms in parts: pairs, Word",
        word("a.docx", table(*(row(cell(one[0], FOUR)) if len(one) == 1 else row(*one) for one in PART_FORM))),
        OWNER,
        "4 Mill Lane",
    ),
    Case(
        "forms in parts: a table within, Word",
        word("b.docx", table(*(row(cell(one[0], FOUR)) if len(one) == 1 else row(*one) for one in PART_FORM))),
        BERTHED,
        "steel",
        "oak|larch",
    ),
    Case("forms in parts: pairs, HTML", page("c.html", f"<table>{LINES}</table>"), OWNER, "4 Mill Lane"),
    Case(
        "forms in parts: a table within, HTML", page("d.html", f"<table>{LINES}</table>"), BERTHED, "steel", "oak|larch"
    ),
    Case("forms in parts: pairs, a slide", slides("e.pptx", frame(f"<a:tbl>{DRAWN}</a:tbl>")), OWNER, "4 Mill Lane"),
)

CASES = (*PARTS, *COMMENTS, *NUMBERED, *COLOURED, *DATES, *QUOTED, *SHOWN, *ENCODED, *HIDDEN, *FOOTERS, *TRACKED, *RICH)
