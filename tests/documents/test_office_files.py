"""Office files as people have them: what is read of each file that `lab.benchmarks.files` asks about."""

from pathlib import Path

import pytest

from cragraph.documents import load, split
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
}
DOUBTED = {
    "merged cells in a workbook: one figure over several rows": ("Digging", "“Euros” is one cell for several rows"),
    "formulas without a kept value: a total": ("Total", "Figures in “Amount” are missing"),
    "formulas without a kept value: a column": ("Saw", "Figures in “Worth” are missing"),
    "German thousands: nothing says so": ("Rot", "Figures in “Last” can be read two ways"),
}
BY_NAME = {case.name: case for case in CASES}


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_what_a_person_sees(name: str, tmp_path: Path) -> None:
    lines = [line for document in load(BY_NAME[name].write(tmp_path)) for line in document.text.splitlines()]
    assert READ[name] in "\n".join(lines)


@pytest.mark.parametrize("name", DOUBTED)
def test_what_cannot_be_read_for_certain_is_said_with_its_row(name: str, tmp_path: Path) -> None:
    word, doubt = DOUBTED[name]
    passages = [passage for document in load(BY_NAME[name].write(tmp_path)) for passage in split(document)]
    [about] = [passage["metadata"] for passage in passages if word in passage["text"]]
    assert any(doubt in sentence for sentence in about["doubts"])


def test_an_answer_of_a_row_that_was_never_calculated_is_not_accepted(tmp_path: Path) -> None:
    from lab.benchmarks.files.__main__ import ask

    outcome, said = ask(BY_NAME["formulas without a kept value: a total"])
    assert (outcome, said.startswith("accepted")) == ("right", False)
