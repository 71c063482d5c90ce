"""A question that a table computes is read as a query; one that no table computes is not."""

from pathlib import Path

import pytest

from cragraph.documents import load, split
from cragraph.language.tables import Table, tables_of
from cragraph.passages import as_passages
from cragraph.tables import FLOOR, compute, read_query

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

| Job | Price EUR |
|---|---|
| Scraping | 120.00 |
| Painting | 300.00 |

Work at the weekend costs 25 % more. Painting takes a week.
""",
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Table]:
    folder: Path = tmp_path_factory.mktemp("files")
    found = []
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
        found += tables_of(p for document in load(folder / name) for p in split(document))
    return found


@pytest.mark.parametrize(
    ("question", "value", "labels"),
    [
        ("What do all the boats cost together?", "68750", []),
        ("What is the average price_eur of the sloops?", "10000", []),
        ("How many boats were sold?", "2", []),
        ("How many boats were not sold?", "2", []),
        ("How many boats cost more than 10,000 EUR?", "3", []),
        ("Which boat is the dearest?", "31500", ["Berta"]),
        ("Which two boats have the most berths?", "6", ["Berta", "Dora"]),
        ("Is Anna dearer than Clara?", "yes", []),
        ("How much cheaper is Clara than Dora?", "9250", []),
        ("By how much did the number of sailors grow?", "37.50", []),
        ("By what percentage did the fees rise from 2023 to 2024?", "23.81", []),
        ("How many more sailors were there in 2024 than in 2022?", "15", []),
        ("What share of the berths do the sloops have?", "35.29", []),
        ("Which boats have more than 4 berths?", "2", ["Berta", "Dora"]),
    ],
)
def test_what_a_table_computes(tables: list[Table], question: str, value: str, labels: list[str]) -> None:
    best = read_query(question, tables)[0]
    assert best.chance >= FLOOR
    made = compute(best.query, best.table, best.chance)
    assert (made["value"], made["labels"]) == (value, labels)


@pytest.mark.parametrize(
    "question",
    [
        "How many sailors came from Denmark?",
        "What do the boats weigh together?",
        "How many boats were sold in 2019?",
        "What is the average age of the sailors?",
        "By how much did the fees rise from 2024 to 2026?",
        "By how much will the fees rise?",
        "Is Emma dearer than Clara?",
        "Who paints the boats?",
        "How many boats were sold, and to whom?",
        "How much does Anna cost?",
        "Where is Berta moored?",
        "How many boats cost more than 10,000 GBP?",
    ],
)
def test_what_no_table_computes_is_left_to_the_passages(tables: list[Table], question: str) -> None:
    assert all(reading.chance < FLOOR for reading in read_query(question, tables))


def test_a_price_of_a_row_with_what_a_text_adds_to_it(tables: list[Table], tmp_path: Path) -> None:
    passages = as_passages([{"text": "Work at the weekend costs 25 % more. Painting takes a week."}])
    best = read_query("What would painting cost at the weekend?", tables, passages)[0]
    made = compute(best.query, best.table, best.chance)
    assert best.chance >= FLOOR
    assert made["answer"] == "Painting, price €300, 25 % more: €375"
    assert [cited["quote"] for cited in made["cited"]] == [
        "Painting | Price EUR: 300.00",
        "Work at the weekend costs 25 % more.",
    ]


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


@pytest.mark.parametrize(
    ("question", "file", "value"),
    [
        ("Which are the two dearest items?", "stock.csv", "120"),
        ("What is the dearest item?", "stock.csv", "120"),
        ("How many repairs had a leak?", "repairs.jsonl", "1"),
        ("How many repairs had no leak?", "repairs.jsonl", "2"),
        ("How many repairs were there?", "repairs.jsonl", "3"),
    ],
)
def test_rows_that_tell_of_one_thing_each_are_counted_and_what_a_column_names_is_looked_for_there(
    lists: list[Table], question: str, file: str, value: str
) -> None:
    reading = read_query(question, lists)[0]
    assert reading.chance >= FLOOR
    assert reading.table.filename == file
    assert compute(reading.query, reading.table, reading.chance)["value"] == value


def test_rows_that_sum_up_a_day_are_not_counted_for_what_happened_on_it(lists: list[Table]) -> None:
    days = [table for table in lists if table.filename == "visits.csv"]
    assert all(r.query["operation"] != "count" for r in read_query("How many visits were there?", days))


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("How many two-berth boats are there?", "1"),
        ("Which place has the most repairs?", "2"),
        ("What do the repairs cost in all?", "1280"),
    ],
)
def test_a_figure_whose_table_column_and_rows_are_named_has_no_doubts(
    tables: list[Table], lists: list[Table], question: str, value: str
) -> None:
    readings = [one for one in read_query(question, [*tables, *lists]) if one.chance >= FLOOR and not one.doubts]
    assert [compute(one.query, one.table)["value"] for one in readings[:1]] == [value]


@pytest.mark.parametrize(
    "question",
    [
        "How many berths too narrow are there in all?",  # no cell says so
        "How many sailors pay every month?",  # a rate
        "How many visitors were there last year altogether?",  # a time that no column says
        "How many items were returned in all?",
        "Which skipper has the most berths?",  # rows are boats
        "What is the sum for 2023?",  # the year of a row names no column
    ],
)
def test_what_the_question_adds_or_does_not_name_is_a_doubt(
    tables: list[Table], lists: list[Table], question: str
) -> None:
    assert all(reading.doubts or reading.chance < FLOOR for reading in read_query(question, [*tables, *lists]))
