"""Forms, statements and exports: what offices and programs write in and around a table."""

import json

from lab.benchmarks.files.case import Case, text_file
from lab.benchmarks.files.grids import html
from lab.benchmarks.files.office_kit import (
    Write,
    cell,
    data_file,
    filled,
    filled_rows,
    formats,
    merged,
    opendocument,
    para,
    row,
    table,
    word,
    workbook,
)


def _form(name: str, *rows: str) -> Write:
    """A Word file of a heading and a table."""
    return word(name, para("Office", style="Heading1") + table(*rows))


_INVOICE = (
    ("Invoice no.", "2024-117", "Date", "14 May 2024"),
    ("Customer", "Hotel Ahl", "Due", "28 May 2024"),
    ("Order", "A 77", "Terms", "30 days"),
)
_FORMS = (
    Case(
        "heads of letters as a table: an invoice, Word",
        _form("a.docx", *(row(*one) for one in _INVOICE)),
        "Who is the customer?",
        r"Hotel Ahl",
        r"2024-117: ",
    ),
    Case(
        "heads of letters as a table: the first row, HTML",
        html("b.html", _INVOICE, "<h1>Office</h1>"),
        "What is the invoice no.?",
        r"2024-117",
    ),
    Case(
        "heads of letters as a table: numbered labels, OpenDocument",
        opendocument("c.odt", "text", "<text:h>Office</text:h>" + filled_rows(
            "Form", *([filled(c) for c in one] for one in (
            ("1. Name", "Ida Holm", "2. Born", "3 May 1990"), ("3. Address 1", "Mill Lane 3", "4. Address 2", "Arden"),
            ("5. Telephone", "555 0134", "6. Mail", "ida@example.org"))))),
        "What is the telephone number?",
        r"555 0134",
    ),
    Case(
        "heads of letters as a table: a cell over three columns",
        _form("d.docx", row("Name", "Ida Holm", "Born", "3 May 1990"), row("Street", "Mill Lane 3", "Town", "Arden"),
              row("Remarks", cell("Needs a vegetarian lunch", '<w:gridSpan w:val="3"/>'))),
        "What kind of lunch is needed?",
        r"vegetarian lunch",
        r"lunch.*lunch",
    ),
    Case(
        "heads of letters as a table: words alone",
        _form("e.docx", row("Name", "Ida Holm", "Team", "Blue"), row("Coach", "Bo Juhl", "Club", "Arden")),
        "What is the name?",
        r"Ida Holm",
        doubt=True,
    ),
    Case(
        "heads of letters as a table: a workbook",
        workbook("f.xlsx", _INVOICE),
        "What are the terms of the order?",
        r"30 days",
        r"14 May",
    ),
)  # fmt: skip

_STATEMENT = (
    "Konto 123;;;\nInhaber;Ida Holm;;\nZeitraum;01.01.2024 - 31.01.2024;;\nDatum;Text;Betrag;Saldo\n"
    "02.01.2024;Miete;-800,00;1200,00\n03.01.2024;Beitrag;25,00;1225,00\n"
)
_LEDGER: tuple[tuple[object, ...], ...] = (
    ("Club accounts",), ("Exported on", "2024-05-02"), ("Account holder", "Ida Holm"), (),
    ("Date", "Text", "Amount"), ("2024-01-02", "Rent", -800), ("2024-01-03", "Member fee", 25),
)  # fmt: skip
_ABOVE = (
    Case(
        "statements with lines above the headings: a bank, CSV",
        text_file("a.csv", _STATEMENT),
        "What is the Betrag of Miete?",
        r"-800",
        r"1200",
    ),
    Case(
        "statements with lines above the headings: the holder, CSV",
        text_file("b.csv", "Account holder,Ida Holm\nExported on,2024-05-02\nDate,Text,Amount\n"
                           "2024-01-02,Rent,-800\n2024-01-03,Member fee,25\n"),
        "Who is the account holder?",
        r"Ida Holm",
    ),
    Case(
        "statements with lines above the headings: a workbook, a blank row",
        workbook("c.xlsx", _LEDGER),
        "What is the amount of the member fee?",
        r"\b25\b",
        r"800",
    ),
    Case(
        "statements with lines above the headings: a workbook, none",
        workbook("d.xlsx", [one for one in _LEDGER if one]),
        "What is the amount of the rent?",
        r"-800",
        r"\b25\b",
    ),
    Case(
        "statements with lines above the headings: ten lines, tabs",
        text_file("e.tsv", "".join(f"{label}\t{value}\n" for label, value in (
            ("Station", "North pier"), ("Serial", "B-77"), ("Firmware", "2.4"), ("Start", "2024-05-02"),
            ("Interval", "5"),
            ("Operator", "Ida Holm"), ("Unit", "metric"))) + "Time\tLevel\tSalt\n10:00\t3.2\t14\n10:05\t3.7\t15\n"),
        "What is the level at 10:05?",
        r"3\.7",
        r"3\.2",
    ),
)  # fmt: skip

_BOATS = (("Boat", "Seats", "Price"), ("Dinghies",), ("Heron", 4, 120), ("Tern", 2, 75), ("Yachts",), ("Gull", 6, 190))
_PADDED = [[str(c) for c in one] + [""] * (3 - len(one)) for one in _BOATS]
_SHARED = (
    ("Boat", "Seats", "Price"), ("Dinghies",), ("Club boat", 4, 120), ("Yachts",), ("Club boat", 6, 190),
)  # fmt: skip
_PARTS = (
    Case(
        "rows under a section: the same name twice, a workbook",
        workbook("a.xlsx", _SHARED),
        "What is the price of the club boat in the section Yachts?",
        r"\b190\b",
        r"\b120\b",
    ),
    Case(
        "rows under a section: how many, a workbook",
        workbook("g.xlsx", _BOATS, merged("A2:C2", "A5:C5")),
        "How many boats are there?",
        r"\b3\b|three",
        r"\b5\b",
    ),
    Case(
        "rows under a section: merged, a workbook",
        workbook("b.xlsx", _BOATS, merged("A2:C2", "A5:C5")),
        "In which section is the Gull?",
        r"Yachts",
        r"Dinghies",
    ),
    Case(
        "rows under a section: sums of sections and of all",
        workbook("f.xlsx", (*_BOATS[:4], ("Subtotal", None, 195), *_BOATS[4:], ("Total", None, 385))),
        "What is the subtotal of the section Dinghies?",
        r"\b195\b",
        r"\b385\b|\b190\b",
    ),
    Case(
        "rows under a section: Word",
        _form("c.docx", *(row(*one) for one in _PADDED)),
        "How many seats does the Tern have?",
        r"\b2\b",
        r"\b4\b",
    ),
    Case(
        "rows under a section: how many, CSV",
        text_file("d.csv", "".join(f"{','.join(one)}\n" for one in _PADDED)),
        "How many boats are there?",
        r"\b3\b|three",
        doubt=True,
    ),
    Case(
        "rows under a section: across, HTML",
        html("e.html", [one if one[1] else [f'<td colspan="3">{one[0]}</td>'] for one in _PADDED], "<h1>Boats</h1>"),
        "In which section is the Heron?",
        r"Dinghies",
        r"Yachts",
    ),
)  # fmt: skip

_LINE = "__________"
_TERMS = para("The tenant pays 400 euros a month.")
_SIGNED = (
    Case(
        "tables for signatures: nobody signed, Word",
        word("a.docx", _TERMS + table(row("Signed", _LINE, "Date", _LINE), row("Name (print)", "", "Position", ""))),
        "How much does the tenant pay a month?",
        r"400 euros",
        r"Signed:",
    ),
    Case(
        "tables for signatures: signed, Word",
        word("b.docx", _TERMS + table(
            row("Signed", "Ida Holm", "Date", "14 May 2024"), row("Position", "Landlord", "Place", "Arden"))),
        "What is the position?",
        r"Landlord",
        r"Ida Holm: ",
    ),
    Case(
        "tables for signatures: dots, HTML",
        html("c.html", (("Signed", ". . . . . . .", "Date", "......"), ("Witness", "......", "Date of it", "......")),
             "<p>The tenant pays 400 euros a month.</p>"),
        "How much does the tenant pay a month?",
        r"400 euros",
    ),
    Case(
        "tables for signatures: lines above the names, OpenDocument",
        opendocument("d.odt", "text", "<text:p>The tenant pays 400 euros a month.</text:p>" + filled_rows(
            "Signatures", [filled(c) for c in (_LINE, "", _LINE)], [filled(c) for c in ("Ida Holm", "", "Bo Juhl")])),
        "How much does the tenant pay a month?",
        r"400 euros",
    ),
)  # fmt: skip

_PRICES = (("Item", "Price"), ("Rope", 64.8), ("Sail", 1234.5), ("Oar", 7))
_CENTS = (
    Case(
        "zeros behind the point: pounds",
        workbook("a.xlsx", _PRICES, formats(B2='"£"#,##0.00', B3='"£"#,##0.00', B4='"£"#,##0.00')),
        "What is the price of the rope?",
        r"£64\.80",
    ),
    Case(
        "zeros behind the point: no currency",
        workbook("b.xlsx", _PRICES, formats(B2="0.00", B3="0.00", B4="0.00")),
        "What is the price of the oar?",
        r"\b7\.00",
    ),
    Case(
        "zeros behind the point: the sum",
        workbook("c.xlsx", _PRICES, formats(B2='#,##0.00 "€"', B3='#,##0.00 "€"', B4='#,##0.00 "€"')),
        "What is the total price of all items?",
        r"1,?306\.30?\b",
    ),
    Case(
        "zeros behind the point: OpenDocument",
        opendocument("d.ods", "spreadsheet", filled_rows("Prices", [filled("Item"), filled("Price")], [filled("Rope"), (
            '<table:table-cell office:value-type="currency" office:currency="GBP" office:value="64.8">'
            "<text:p>£64.80</text:p></table:table-cell>")])),
        "What is the price of the rope?",
        r"£64\.80",
    ),
)  # fmt: skip

_LEAST = (("Part", "Stored", "Min"), ("Bolt", 140, 60), ("Nut", 95, 30))
_MINUTES = (
    Case("a column Min: a workbook", workbook("a.xlsx", _LEAST), "What is the min of the Bolt?", r"\b60\b", r"60 min"),
    Case("a column Min: Word", _form("b.docx", *(row(*map(str, one)) for one in _LEAST)), "What is the min of the Nut?",
         r"\b30\b", r"30 min"),
    Case("a column Min: behind another word, CSV",
         text_file("c.csv", "Room,temp_min,temp_max\nHall,12,19\nAttic,7,31\n"),
         "What is the temp min of the Hall?", r"\b12\b", r"12 min"),
    Case("a column Min: minutes in brackets", text_file("d.csv", "Dish,Time (min)\nStew,90\nSoup,25\n"),
         "What is the time of the Stew?", r"90 (?:min|minutes)"),
)  # fmt: skip


def _event(name: str, *lines: str) -> Write:
    """A calendar with one event."""
    given = "\n".join(("SUMMARY:Harbour meeting", "DTSTART:20240506T100000", *lines))
    return text_file(name, f"BEGIN:VCALENDAR\nBEGIN:VEVENT\n{given}\nEND:VEVENT\nEND:VCALENDAR\n")


_CARDS = (
    Case("markup in calendars: a description",
         _event("a.ics", "DESCRIPTION:<p>Bring the <b>blue</b> folder.</p><ul><li>Oars &amp\\; rope</li></ul>"),
         "Which folder is to be brought to the harbour meeting?", r"blue", r"<|&amp"),
    Case("markup in calendars: only as a page",
         _event("b.ics", "X-ALT-DESC;FMTTYPE=text/html:<html><body><p>The room is <b>B12</b>.</p></body></html>"),
         "Which room is the harbour meeting in?", r"B12", r"<"),
    Case("markup in calendars: breaks and a link",
         _event("c.ics", 'DESCRIPTION:The code is 4471.<br>Call <a href="https://a.example">Ida Holm</a>.'),
         "What is the code of the harbour meeting?", r"4471", r"<"),
    Case("names of cards: no full name", text_file("d.vcf", (
        "BEGIN:VCARD\nVERSION:2.1\nN:Ek;Per;;;\nTEL;CELL:0171 99\nEND:VCARD\n"
        "BEGIN:VCARD\nVERSION:2.1\nN:Lund;Mia;;Dr.;\nTEL;CELL:0171 55\nEND:VCARD\n")),
        "What is the cell phone of Per Ek?", r"0171 99", r"0171 55"),
    Case("names of cards: a folded note", text_file("e.vcf", (
        "BEGIN:VCARD\nVERSION:2.1\nN:Juhl;Bo;;;\nNOTE;ENCODING=QUOTED-PRINTABLE:Keys lie under the red=\n"
        " bucket=2E\nEND:VCARD\n")), "Where do the keys lie?", r"red bucket"),
    Case("names of cards: a telephone as a link", text_file("f.vcf", (
        "BEGIN:VCARD\nVERSION:4.0\nN:Holm;Ida;;;\nTEL;VALUE=uri;TYPE=\"voice,home\":tel:+45-555-0134\nEND:VCARD\n")),
        "What is the home phone of Ida Holm?", r"\+45-555-0134", r"tel:"),
)  # fmt: skip


def _json(name: str, value: object) -> Write:
    """A JSON file of a value."""
    return data_file(name, json.dumps(value).encode())


_FLEET = [
    {"name": "Heron", "seats": 4, "owner": {"name": "Ida"}},
    {"name": "Tern", "seats": 2, "owner": {"name": "Bo"}},
]
_EXPORTED = (
    Case("JSON exports: a list beside a page's data", _json("a.json", {"data": {"boats": _FLEET}, "meta": {"page": 1}}),
         "How many seats does the Tern have?", r"\b2\b", r"\b4\b"),
    Case("JSON exports: names and rows",
         _json("b.json", {"columns": ["boat", "seats"], "rows": [["Heron", 4], ["Tern", 2]]}),
         "How many seats does the boat Heron have?", r"\b4\b", r"\b2\b"),
    Case("JSON exports: rows, names first", _json("c.json", [["boat", "seats"], ["Heron", 4], ["Tern", 2]]),
         "How many seats does the boat Tern have?", r"\b2\b", r"\b4\b"),
    Case("JSON exports: a text beside an amount",
         _json("d.json", {"by": "Ida", "rows": [{"text": "Rent", "amount": 800},
                                             {"text": "Member fee", "amount": 25}]}),
         "What is the amount of the member fee?", r"\b25\b", r"800"),
    Case("JSON exports: a message in parts", _json("e.json", {"name": "Crew", "messages": [
        {"id": 1, "date": "2024-05-06T09:14:03", "from": "Ida", "text": "Good morning"},
        {"id": 2, "date": "2024-05-06T09:15:03", "from": "Bo", "text": [
            "The key lies under the ", {"type": "bold", "text": "red bucket"}, "."]}]}),
         "Where does the key lie?", r"under the red bucket"),
)  # fmt: skip

CASES: tuple[Case, ...] = (*_FORMS, *_ABOVE, *_PARTS, *_SIGNED, *_CENTS, *_MINUTES, *_CARDS, *_EXPORTED)
