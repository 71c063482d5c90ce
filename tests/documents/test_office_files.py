"""Office files as people have them: what is read of each file that `lab.benchmarks.files` asks about."""

from pathlib import Path

import pytest

from cragraph.documents import load, split
from lab.benchmarks.files.__main__ import ask
from lab.benchmarks.files.office import CASES

READ = {
    "merged cells in a workbook: downwards, a sum": "Region: North | Shop: Cedar | Sales: 60",
    "merged cells in a workbook: across, words": "Desk: Till | Monday: Ines | Tuesday: Ines | Friday: Paul",
    "two heading rows: merged across": "2022 Adults: 205 | 2022 Children: 64 | 2023 Adults: 198 | 2023 Children: 71",
    "two heading rows: not merged": "2022 Adults: 205 | 2022 Children: 64 | 2023 Adults: 198 | 2023 Children: 71",
    "two heading rows: CSV": "Place: Hill | May Days: 11 | May Litres: 62 | June Days: 9 | June Litres: 48",
    "a workbook with a bad colour: in a fill": "Hive: Birch | Honey in kg: 31",
    "a workbook with a bad colour: in a font": "Mill: Lower | Flour in sacks: 52",
    "currency and unit in a format: one price": "Boat: Tern | Price: £9200 | Length: 5.1",
    "currency and unit in a format: a unit": "Boat: Heron | Price: 18500 | Length: 7.4 m",
    "currency and unit in a format: a duration": "Trip: Delta | Hours: 26:15",
    "currency and unit in a format: leading zeros": "Town: Ahl | Postcode: 01234",
    "currency and unit in a format: thousands": "Branch: Pier | Turnover: 1.5 million €",
    "struck-through words: a cell": "Ticket: Day | New price: 19",
    "Strict Open XML: a workbook": "Lake: Long | Fish: 29",
    "CSV variants: a line sep=;": "Town: Arden | Wells: 12 | Pumps: 3",
    "CSV variants: lines above the table": "Lake: Long Lake | Level in cm: 287 | Inflow: 9",
    "CSV variants: two columns of one name": "Shop: West | Sales: 98 / 101 | Returns: 7",
    "CSV variants: columns called 1, 2, 3": "Station: Valley | 1: 31 | 2: 29 | 3: 35",
    "CSV variants: tabs and lines above": "Probe: B2 | pH: 7.3 | Salt: 0.6",
    "CSV variants: pandas split JSON": "Mine: Lower | Ore: 67",
    "CSV variants: pandas columns JSON": "Mine: Lower | Ore: 67",
    "German thousands: beside smaller figures": "Filiale: Nord | Umsatz: 1250",
    "German thousands: with decimals": "Filiale: Nord | Kosten: 1250.50",
    "German thousands: UTF-16 with tabs": "Ort: Köln | Einwohner: 1073096 | ha: 405.0",
    "raised marks and exponents in Word: a mark on a figure": "The farm grew 830² tonnes of barley.",
    "raised marks and exponents in Word: a power of ten": "The sensor counts 10⁶ events per second.",
    "raised marks and exponents in Word: by a style": "The hall has 240 m² of floor and seats 31⁴ rows.",
    "raised marks and exponents in slides: a mark on a figure": "The path is 64³ kilometres long.",
    "clause numbers that Word counts: two levels": (
        "1. Fees\n1.1 The client pays 90 euros an hour.\n1.2 Travel is not charged.\n2. Term\n"
        "2.1 The agreement runs for two years.\n2.2 Either side may end it with six weeks of notice."
    ),
    "clause numbers that Word counts: from the style": "§2 Maps stay in the reading room.",
    "Strict Open XML: a Word file": "The archive is open on Tuesdays from nine to four.",
    "Strict Open XML: a presentation": "The ferry crosses nine times a day.",
    "formulas of Word: within a sentence": "The flow of the pump is Q = 42 l/min at full speed.",
    "formulas of Word: a power and a fraction": "The area of the sail is A = (h · b)/2 = 18 m² in all.",
    "formulas of Word: a paragraph of its own": "flens = 50 mm",
    "containers of Word: rows in a content control": "Hammer | Pieces: 14\nChisel | Pieces: 63\nPlane | Pieces: 9",
    "containers of Word: a custom element": "Bicycles cost four euros extra.",
    "containers of Word: a text box in a sentence": (
        "The curtain rises at eight on every weekday.\nThe box office closes at six."
    ),
    "containers of Word: a page header that holds the only date": "Page header: Minutes of 14 May 2024",
    "forms of Word: a tick in an old form": "☐ Tent\n☒ Cabin",
    "forms of Word: a field that nobody filled in": "Customer: Mill Lane Bakery\nDelivery day:",
    "forms of Word: a choice from a list": "Guide language: Polish",
    "struck-through words: in a sentence of Word": "The loan runs for twelve years.",
    "struck-through words: by a style of Word": "Soup costs 4 euros.\nTrout costs 21 euros.",
    "struck-through words: on a slide": "The day ticket costs 19 euros.",
    "comments and tracked changes: a comment": "The bridge opens in March.\nComment by Ida: Is it not May?",
    "merged cells in Word: downwards": "Kind: Green | Month: June | Sold: 5",
    "merged cells in Word: two heading rows": "Hut | 2022 Summer: 22 | 2022 Winter: 8 | 2023 Summer: 25",
    "merged cells in slides: two heading rows": (
        "Inn | 2022 Summer: 31 | 2022 Winter: 12 | 2023 Summer: 38 | 2023 Winter: 17"
    ),
    "short Windows-1252 texts: a temperature": "The cold store is kept at 8 °C.",
    "short Windows-1252 texts: one pound sign": "A copy costs £12.",
    "short Windows-1252 texts: Spanish": "El curso empieza mañana y cuesta 40 €.",
    "short Windows-1252 texts: French in CSV": "Plat: Crème brûlée | Prix: 7 €",
    "mail: a plain part that points to the page": "The pallets arrive at gate five on Thursday.",
    "mail: both parts say the same": "+0000\nThe pallets arrive at gate five on Thursday.",
    "mail: no charset": "Köln\nFrom: Depot <depot@example.org>\nTo: a@example.org",
    "mail: no charset, Windows-1252": "The café takes £3 for a coffee.",
    "mail: a mark of byte order first": "The spare keys hang behind the door.",
    "mail: a mailbox": "The gate code is 4417.",
    "OpenDocument: a raised mark": "Harvest\nThe farm grew 830² tonnes of barley.",
    "OpenDocument: struck-out words": "A day costs 19 euros.",
    "OpenDocument: clause numbers": "2. Repairs\n2.1 The owner keeps the roof tight.\n2.2 The tenant paints the walls.",
    "OpenDocument: merged cells of a sheet": "Region: North | Shop: Birch | Sales: 75",
    "OpenDocument: two heading rows of a sheet": "House: Hut | 2022 Summer: 22 | 2022 Winter: 8 | 2023 Summer: 25",
    "OpenDocument: a currency and a duration": "Boat: Tern | Price: £9200 | Trip: 26:15",
    "OpenDocument: slides": "Ferry\nThe ferry crosses nine times a day.",
    "rich text: marks, strikes and a table": (
        "Pool rules\nThe pool is 25¹ metres long. A swim costs 6 euros at the café.\n"
        "Lane | Metres\nOne | Metres: 25\nEnd."
    ),
    "rich text: a mark on a figure": "The pool is 25¹ metres long. It is warm.\nWithout the ledge.",
    "rich text: Cyrillic": "The sign reads Стоп at the gate.",
    "old workbooks: merged cells": "Region: North | Mill: Lower | Sacks: 52",
    "calendars and cards: an event": (
        "Summary: Choir practice | Start: 2024-05-14 19:00 | Time zone: Europe/Berlin | End: 2024-05-14 21:00 | "
        "Location: Old school, room 4 | Repeats: every week on Tuesday"
    ),
    "calendars and cards: the last of whole days": (
        "Summary: Summer fair in the long meadow | Start: 2024-07-06 | End: 2024-07-07"
    ),
    "calendars and cards: a telephone number": (
        "Name: Jörg Berg | Organisation: Mill Lane Bakery | Phone (work): 030 1234 | Phone (cell): 0171 555 | "
        "Address (work): Mill Lane 3, Arden, 12345"
    ),
    "captions: what is said": "[0:00:01] The tower was built in 1391 by Anna Lund.\n[0:01:10] It leans four degrees.",
    "captions: a speaker": "[0:01:10] Ida: The gate opens at ten.",
    "notebooks and outlines: what a notebook printed": "The east well is 18 m deep.\n``````\nprint(depth)\n``````",
    "notebooks and outlines: a table of Org": "The saw hangs on hook four.\nTool | Pieces\nSaw | Pieces: 4",
    "notebooks and outlines: a log": "2024-05-14 09:12:44 ERROR pressure fell to 1.2 bar\n2024-05-14 09:12:50",
    "charts: dates as numbers": "2024-02 | Trees felled: 47",
    "charts: year over quarter": "2024 Q1 | Trees felled: 52",
    "charts: a currency in the figures": "Gifts | Income: 340 €",
}
DOUBTED = {
    "merged cells in a workbook: one figure over several rows": ("Digging", "“Euros” is one cell for several rows"),
    "formulas without a kept value: a total": ("Total", "Figures in “Amount” are missing"),
    "formulas without a kept value: a column": ("Saw", "Figures in “Worth” are missing"),
    "comments and tracked changes: a change that is not decided": ("650", "“500” is deleted, “650” is put in"),
    "German thousands: nothing says so": ("Rot", "Figures in “Last” can be read two ways"),
}
BY_NAME = {case.name: case for case in CASES}


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_what_a_person_sees(name: str, tmp_path: Path) -> None:
    lines = [line for document in load(BY_NAME[name].write(tmp_path)) for line in document.text.splitlines()]
    assert READ[name] in "\n".join(filter(None, lines))


@pytest.mark.parametrize("name", DOUBTED)
def test_what_cannot_be_read_for_certain_is_said_with_its_row(name: str, tmp_path: Path) -> None:
    word, doubt = DOUBTED[name]
    passages = [passage for document in load(BY_NAME[name].write(tmp_path)) for passage in split(document)]
    [about] = [passage["metadata"] for passage in passages if word in passage["text"]]
    assert any(doubt in sentence for sentence in about["doubts"])


def test_an_answer_of_a_row_that_was_never_calculated_is_not_accepted(tmp_path: Path) -> None:
    outcome, said = ask(BY_NAME["formulas without a kept value: a total"])
    assert (outcome, said.startswith("accepted")) == ("right", False)


def test_amounts_in_two_currencies_are_not_added_nor_is_another_column(tmp_path: Path) -> None:
    outcome, said = ask(BY_NAME["currency and unit in a format: mixed currencies are not added"])
    assert outcome == "right", said
    outcome, said = ask(BY_NAME["currency and unit in a format: one price"])
    assert outcome == "right", said
