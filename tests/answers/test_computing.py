"""A question that a table computes is read as a query; one that no table computes is not."""

from pathlib import Path

import pytest

from cragraph.documents import load, split
from cragraph.documents.tables import Table, tables_of
from cragraph.tables import FLOOR, compute, read_query
from tests.support.cases import cases

FILES = {
    "boats.csv": """boat,kind,berths,price_eur,sold
Anna,sloop,4,12000,yes
Berta,ketch,6,31500,no
Clara,sloop,2,8000,no
Dora,yawl,5,17250,yes
""",
    "sailors.md": """# Sailors

| Year | Sailors | Fees EUR |
|---|---|---|
| 2022 | 40 | 2,000 |
| 2023 | 44 | 2,310 |
| 2024 | 55 | 2,860 |
""",
    "prices.md": """# Prices of the yard

| Job | Price (EUR) |
|---|---|
| Scraping | 120.00 |
| Painting | 300.00 |

Work at the weekend costs 25 % more. Painting takes a week.
""",
    "tackle.csv": "article,shed Qty,shed Min\nHand flare red,24,12\nFog horn,7,2\nShackle size 4,30,9\n",
    "ward.csv": "Room,Thing,Number\nDogs,Infusion pump,4\nCats,Infusion pump,2\nTheatre,Heat mat,2\n",
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    folder: Path = tmp_path_factory.mktemp("files")
    found = []
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
        found += tables_of(p for document in load(folder / name) for p in split(document))
    return found


@pytest.mark.parametrize(("question", "value", "labels"), cases("answers/computing", "what a table computes"))
def test_what_a_table_computes(tables: list[Table], question: str, value: str, labels: list[str]) -> None:
    best = read_query(question, tables)[0]
    assert best.probability >= FLOOR
    made = compute(best.query, best.table, best.probability)
    assert (made["value"], made["labels"]) == (value, labels)


@pytest.mark.parametrize("question", cases("answers/computing", "what no table computes"))
def test_what_no_table_computes_is_left_to_the_passages(tables: list[Table], question: str) -> None:
    assert all(reading.probability < FLOOR for reading in read_query(question, tables))


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    folder: Path = tmp_path_factory.mktemp("lists")
    written = {
        "repairs.jsonl": '{"date": "2026-01-04", "place": "quay", "leak": "yes", "cost_eur": 900}\n'
        '{"date": "2026-02-19", "place": "yard", "leak": "no", "cost_eur": 70}\n'
        '{"date": "2026-03-02", "place": "quay", "leak": "no", "cost_eur": 310}\n',
        "stock.csv": "item,price_eur,left\nrope,40,3\nanchor,120,1\nbuoy,25,9\n",
        "visits.csv": "date,visitors,boats\n2026-05-01,120,14\n2026-05-02,90,11\n",
    }
    found = []
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
        found += tables_of(p for document in load(folder / name) for p in split(document))
    return found


@pytest.mark.parametrize(("question", "file", "value"), cases("answers/computing", "rows that tell"))
def test_rows_that_tell_of_one_thing_each_are_counted_and_what_a_column_names_is_looked_for_there(
    lists: list[Table], question: str, file: str, value: str
) -> None:
    reading = read_query(question, lists)[0]
    assert reading.probability >= FLOOR
    assert reading.table.filename == file
    assert compute(reading.query, reading.table, reading.probability)["value"] == value


@pytest.mark.parametrize(("question", "value"), cases("answers/computing", "a figure whose table"))
def test_a_figure_whose_table_column_and_rows_are_named_has_no_doubts(
    tables: list[Table], lists: list[Table], question: str, value: str
) -> None:
    readings = [one for one in read_query(question, [*tables, *lists]) if one.probability >= FLOOR and not one.doubts]
    assert [compute(one.query, one.table)["value"] for one in readings[:1]] == [value]


@pytest.mark.parametrize("question", cases("answers/computing", "what the question adds"))
def test_what_the_question_adds_or_does_not_name_is_a_doubt(
    tables: list[Table], lists: list[Table], question: str
) -> None:
    assert all(reading.doubts or reading.probability < FLOOR for reading in read_query(question, [*tables, *lists]))


@pytest.fixture(scope="module")
def rota(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    path = tmp_path_factory.mktemp("rota") / "watches-2026-07.csv"
    rows = (
        "date,helm,lookout\n2026-07-04,Ina Ray,Tom Bell\n2026-07-04,Tom Bell,Ina Ray\n"
        "2026-07-18,Ada Moss,Ina Ray\n2026-08-01,Tom Bell,Ina Ray\n"
    )
    path.write_text(rows, encoding="utf-8")
    return tables_of(p for document in load(path) for p in split(document))


def test_a_value_is_looked_for_in_the_column_that_is_named_and_a_month_may_name_the_list(rota: list[Table]) -> None:
    best = read_query("On how many watches of the July rota is Ina the lookout?", rota)[0]
    assert compute(best.query, best.table, best.probability)["value"] == "3"


def test_a_number_that_is_allowed_is_no_number_of_rows(rota: list[Table]) -> None:
    assert read_query("How many watches are there together?", rota)[0].probability >= FLOOR
    asked = "How many watches may one of us keep together?"
    assert all(reading.probability < FLOOR for reading in read_query(asked, rota))
