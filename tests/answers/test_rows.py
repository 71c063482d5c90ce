"""Rows are found by the values of their cells, and the cell that answers by the name and the kind of its column."""

import pytest

from cragraph.answers.candidates import candidates
from cragraph.answers.questions import read_question
from cragraph.answers.rows import Lookup, lookup
from cragraph.passages import as_passages

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


@pytest.mark.parametrize(
    ("question", "orders"),
    [
        ("Which orders are open?", ["A1", "A3"]),
        ("Which orders are not open?", ["A2", "A4"]),
        ("What did Ada Long order?", ["A1", "A3"]),
        ("Which items are sold out?", ["A1", "A4"]),
        ("Which orders of Ada Long are open?", ["A1", "A3"]),
        ("Which orders have not been paid?", ["A1", "A3"]),
        ("Which orders are paid?", ["A2", "A4"]),
        ("Which orders are due in April?", ["A3", "A4"]),
        ("Which orders have been called off?", ["A4"]),
        ("Which orders were due in 2019?", []),
        ("Which orders are late?", []),
        ("Which customers live in Leeds?", []),
    ],
)
def test_every_row_with_the_value_that_is_asked_for(question: str, orders: list[str]) -> None:
    looked = look(question)
    assert [row.text[7:9] for row in looked.rows] == orders if looked else orders == []


@pytest.mark.parametrize(
    ("question", "order", "cell"),
    [
        ("What does the desk cost?", "A2", "120.00"),
        ("How much is a chair?", "A3", "45.00"),
        ("How many desks are left?", "A2", "4"),
        ("Who bought the shelf?", "A4", "Hill Road School"),
        ("Which item did the school order?", "A4", "Shelf"),
        ("Who placed the order due on 19 March?", "A2", "Ben Hay"),
        ("When is A4 due?", "A4", "2024-04-09"),
    ],
)
def test_the_cell_that_answers(question: str, order: str, cell: str) -> None:
    looked = look(question)
    assert looked
    assert [row.text[7:9] for row in looked.rows] == [order]
    start, end = looked.cells[0]
    assert looked.rows[0].text[start:end] == cell


@pytest.mark.parametrize(
    "question",
    ["Who designed the lamp in 1920?", "Where was Ben Hay born?", "Why did the board meet Ada Long on Friday?",
     "What colour is the sky?", "Who wrote the handbook?"],
)  # fmt: skip
def test_what_no_cell_answers_is_not_looked_up(question: str) -> None:
    assert look(question) is None


SITES = """
Branch: Jena | Order no: K-6 | Head: Ada Long | Ship to: Leeds | Opening hours: 9 to 5 | Opened: 1927
Branch: Porto | Order no: K-7 | Head: Ben Hay | Ship to: York | Opening hours: 8 to 4 | Opened: 1931
"""


@pytest.mark.parametrize(
    ("question", "cell"),
    [
        ("When was Porto opened?", "1931"),
        ("Which branch is Ben Hay's?", "Porto"),
        ("Which Order no has Head Ada Long?", "K-6"),
        ("Which insurance company covers what the apprentices of Porto do?", None),
    ],
)
def test_the_cell_is_of_the_kind_that_is_asked_for(question: str, cell: str | None) -> None:
    passages = as_passages([{"text": SITES.strip(), "metadata": {"filename": "sites.csv"}}])
    looked = lookup(read_question(question), candidates(passages), passages)
    found = [row.text[start:end] for row, (start, end) in zip(looked.rows, looked.cells, strict=True)] if looked else []
    assert len(found) == bool(cell)
    assert all(cell is not None and cell in value for value in found)


EVENTS = """
event: Spring fair | date: 2025-05-17 | places: 500 | leader: Petra Lind
event: Night walk | date: 2025-08-02 | places: 20 | leader: Ada Long
"""
YEARS = """
year: 2023 | volunteers: 17 | taken_in: 210 | released: 150
year: 2024 | volunteers: 24 | taken_in: 193 | released: 127
"""


@pytest.mark.parametrize(
    ("question", "rows", "cell"),
    [
        ("How many places does the spring fair have?", EVENTS, "500"),
        ("How many people can come to the spring fair?", EVENTS, "500"),
        ("How many people came to the spring fair?", EVENTS, None),
        ("How many dogs were at the spring fair?", EVENTS, None),
        ("How many volunteers were there in 2024?", YEARS, "24"),
        ("Can a 17 year old be a volunteer?", YEARS, None),
        ("What share of those taken in was released in 2024?", YEARS, None),
        ("How many were released from 2023 to 2024?", YEARS, None),
    ],
)
def test_no_cell_stands_for_what_is_of_another_kind(question: str, rows: str, cell: str | None) -> None:
    passages = as_passages([{"text": rows.strip(), "metadata": {"filename": "list.csv"}}])
    looked = lookup(read_question(question), candidates(passages), passages)
    found = [row.text[start:end] for row, (start, end) in zip(looked.rows, looked.cells, strict=True)] if looked else []
    assert found == ([cell] if cell else [])


@pytest.mark.parametrize(("column", "told"), [("mender", "Mender for Edger: Joss Whitlow"), ("by", "")])
def test_a_cell_is_told_alone_only_where_its_column_says_of_what(column: str, told: str) -> None:
    rows = [
        f"date: 2025-10-30 | machine: {machine} | work: engine cleaned | {column}: {who}"
        for machine, who in (("Edger", "Joss Whitlow"), ("Pump", "Ann Lee"))
    ]
    passages = as_passages([{"text": "\n".join(rows), "metadata": {"filename": "repairs.csv"}}])
    found = lookup(read_question("Who worked on the Edger?"), candidates(passages), passages)
    assert found is not None
    assert [row.said for row in found.rows] == [told]
