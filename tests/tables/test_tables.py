"""Rows are read back from passages with their cells, and figures are computed of them exactly."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest

from cragraph import load_settings
from cragraph.documents import load, split
from cragraph.documents.tables import Table, read_column, tables_of
from cragraph.errors import InputError
from cragraph.language.cells import number_of
from cragraph.run import Assistant
from cragraph.tables.engine import compute
from cragraph.types import Condition, Query
from tests.support.cases import cases

COSTS = """ref,place,injury,cost_gbp,day
I-1,Yard,yes,0.10,2025-01-14
I-2,Yard,no,0.20,2025-02-03
I-3,Workshop,yes,"1,240.50",2025-02-21
I-4,Counter,no,n/a,2025-03-01
"""


def table(tmp_path: Path, text: str, name: str = "costs.csv") -> Table:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    [found] = tables_of(passage for document in load(path) for passage in split(document))
    return found


def query(operation: str, column: str = "", where: Sequence[Condition] = (), **more: Any) -> Query:
    given = {"source": "", "table": "", "operation": operation, "column": column, "where": [*where]}
    return cast(Query, given | more)


@pytest.mark.parametrize(("text", "value", "unit"), cases("tables/tables", "a cell is read"))
def test_a_cell_is_read_as_the_figure_that_it_is(text: str, value: str | None, unit: str) -> None:
    read = number_of(text)
    assert (read and (read.value, read.unit)) == (value and (Decimal(value), unit))


@pytest.mark.parametrize(("values", "kind", "unit"), cases("tables/tables", "a column holds what"))
def test_a_column_holds_what_all_of_its_cells_are(values: list[str], kind: str, unit: str) -> None:
    column = read_column("amount", values)
    assert (column.kind, column.unit) == (kind, unit)


def test_a_sum_is_exact_and_says_what_it_left_out(tmp_path: Path) -> None:
    made = compute(query("sum", "cost_gbp"), table(tmp_path, COSTS))
    assert (made["value"], made["unit"], made["rows"], made["missing"]) == ("1240.80", "GBP", 3, 1)
    assert made["answer"] == "The three rows of costs.csv cost £1,240.80 in all; one more without a figure"
    assert not made["rounded"]
    assert [cited["quote"][:10] for cited in made["cited"]] == ["ref: I-1 |", "ref: I-2 |", "ref: I-3 |"]


@pytest.mark.parametrize(
    ("asked", "value", "labels"),
    cases("tables/tables", "each operation"))  # fmt: skip
def test_each_operation(tmp_path: Path, asked: Query, value: str, labels: list[str]) -> None:
    made = compute(asked, table(tmp_path, COSTS))
    assert (made["value"], made["labels"]) == (value, labels)


@pytest.mark.parametrize(
    ("asked", "says"),
    cases("tables/tables", "a query that does"))  # fmt: skip
def test_a_query_that_does_not_fit_the_table_is_refused(tmp_path: Path, asked: Query, says: str) -> None:
    with pytest.raises(InputError, match=says):
        compute(asked, table(tmp_path, COSTS))


@pytest.mark.parametrize(("asked", "said"), cases("tables/tables", "a figure is said"))
def test_a_figure_is_said_as_a_person_says_it(tmp_path: Path, asked: Query, said: str) -> None:
    rows = "I-1,Yard,10,1,2020\nI-2,Desk,20,2,2021\nI-3,Desk,30,3,2018\nI-4,Yard,15,4,2022\n"
    rows += "I-5,Desk,64,3,2023\nI-6,Gate,120,2,2024\n"
    made = compute(asked, table(tmp_path, f"ref,place,cost_gbp,days_off,bought\n{rows}", "incidents.csv"))
    assert made["answer"] == said


def test_total_rows_are_added_to_nothing_and_a_total_that_differs_is_a_doubt(tmp_path: Path) -> None:
    totals = ("Total,,30", 0), (",Total,31", 1), ("All,total,30", 0), ("All takings,,30", 0), ("in all,,30", 0)
    for total, doubts in totals:
        rows = f"Item,Room,Amount GBP\nBar,A,10\nHall,B,20\n{total}\n"
        made = compute(query("sum", "Amount GBP"), table(tmp_path, rows))
        assert (made["value"], made["rows"], len(made.get("doubts", ()))) == ("30", 2, doubts)
        assert compute(query("count"), table(tmp_path, rows))["value"] == "2"
    parts = "Part,Item,£ 2024\nIn,Bar,10\nIn,Hall,20\nIn,All receipts,30\nOut,Rent,7\nOut,Heat,4\nOut,All payments,11\n"
    made = compute(query("sum", "£ 2024"), table(tmp_path, parts))
    assert (made["rows"], made["doubts"]) == (4, ["The table itself states a total of 11 or 30."])


def test_a_line_above_the_heading_is_no_row_and_the_number_of_a_thing_is_not_added_up(tmp_path: Path) -> None:
    rows = "Boxes,as of 3 May 2025,,\nbox,wood,height_m\n1,oak,3\n2,oak,4\n3,ash,5\n4,oak,2\n"
    (tmp_path / "nest-boxes.csv").write_text(rows, encoding="utf-8")
    assistant = Assistant(load_settings(store=str(tmp_path / "store")))
    assistant.ingest([tmp_path / "nest-boxes.csv"])
    response = [event for event in assistant.ask("How many of our boxes are in oak?") if event.kind == "done"][
        -1
    ].response
    assert response["answer"].startswith("Three of the four rows of nest-boxes.csv have the wood oak")


def test_the_offsets_of_a_cell_are_those_in_its_chunk(tmp_path: Path) -> None:
    rows = "| Job | Price GBP | Wait |\n|---|---|---|\n| New chain | 7.00 | 3 |\n| Puncture | 5.50 | 1 |\n"
    text = f"# Fees\n\nIntro.\n\n{rows}"
    fees = table(tmp_path, text, "fees.md")
    assert [fees.cite(number)["quote"] for number in range(fees.size)] == [
        "New chain | Price GBP: 7.00 | Wait: 3",
        "Puncture | Price GBP: 5.50 | Wait: 1",
    ]
    assert [*fees.columns] == ["Job", "Price GBP", "Wait"]


def test_a_row_longer_than_a_chunk_is_one_row(tmp_path: Path) -> None:
    rows = f"order,note,amount\nA-1,{'long words ' * 200},4\nA-2,short,7\n"
    orders = table(tmp_path, rows, "orders.csv")
    assert orders.size == 2
    assert compute(query("sum", "amount"), orders)["value"] == "11"
