"""Rows are found by the values of their cells."""

import pytest

from cragraph.generation.candidates import candidates
from cragraph.generation.questions import read_question
from cragraph.generation.rows import cells, matching
from cragraph.passages import as_passages

ROWS = """order: A1 | customer: Ada Long | item: Lamp | status: open | in_stock: 0
order: A2 | customer: Ben Hay | item: Desk | status: delivered | in_stock: 4
order: A3 | customer: Ada Long | item: Chair | status: open | in_stock: 2
order: A4 | customer: Cy Poe | item: Shelf | status: cancelled | in_stock: 0"""


@pytest.mark.parametrize(
    ("question", "orders"),
    [
        ("Which orders are open?", ["A1", "A3"]),
        ("Which orders are not open?", ["A2", "A4"]),
        ("What did Ada Long order?", ["A1", "A3"]),
        ("Which items are sold out?", ["A1", "A4"]),
        ("Which orders of Ada Long are open?", ["A1", "A3"]),
        ("Which orders are late?", []),
        ("How many orders are open?", []),
    ],
)
def test_every_row_with_the_value_that_is_asked_for(question: str, orders: list[str]) -> None:
    passages = as_passages([ROWS])
    found = matching(read_question(question), candidates(passages), passages)
    assert [cells(row.text)["order"] for row in found] == orders
