"""Rows are found by the values of their cells, and the cell that answers by the name and the kind of its column."""

import pytest

from cragraph.answers.candidates import candidates
from cragraph.answers.rows import Lookup, lookup
from cragraph.language.questions import read_question
from cragraph.passages import as_passages
from tests.support.cases import cases

COLUMNS = ("order", "customer", "item", "price", "status", "in_stock", "due", "paid")
ORDERS = """
A1, Ada Long, Lamp, 20.50, open, 0, 2024-03-05, no
A2, Ben Hay, Desk, 120.00, delivered, 4, 2024-03-19, yes
A3, Ada Long, Chair, 45.00, open, 2, 2024-04-02, no
A4, Hill Road School, Shelf, 31.00, cancelled, 0, 2024-04-09, yes
"""
ROWS = "\n".join(
    " | ".join(f"{name}: {cell.strip()}" for name, cell in zip(COLUMNS, line.split(","), strict=True))
    for line in ORDERS.strip().splitlines()
)


def look(question: str) -> Lookup | None:
    passages = as_passages([{"text": ROWS, "metadata": {"filename": "orders.csv"}}])
    return lookup(read_question(question), candidates(passages), passages)


@pytest.mark.parametrize(("question", "orders"), cases("answers/rows", "every row"))
def test_every_row_with_the_value_that_is_asked_for(question: str, orders: list[str]) -> None:
    looked = look(question)
    assert [row.text[7:9] for row in looked.rows] == orders if looked else orders == []


@pytest.mark.parametrize(("question", "rows", "cell"), cases("answers/rows", "no cell stands"))
def test_no_cell_stands_for_what_is_of_another_kind(question: str, rows: str, cell: str | None) -> None:
    passages = as_passages([{"text": rows.strip(), "metadata": {"filename": "list.csv"}}])
    looked = lookup(read_question(question), candidates(passages), passages)
    found = [row.text[start:end] for row, (start, end) in zip(looked.rows, looked.cells, strict=True)] if looked else []
    assert found == ([cell] if cell else [])
