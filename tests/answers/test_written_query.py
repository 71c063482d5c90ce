"""A chat model may write the query; what it computes itself, and what no table has, is not taken."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cragraph.documents import load, split
from cragraph.language.tables import Table, tables_of
from cragraph.models.chat import ChatCaller
from cragraph.models.servers import chat_model
from cragraph.protocols import Notes
from cragraph.tables import compute
from cragraph.tables.written import MOST, QueryModel
from tests.support.ollama import ModelInfo, OllamaServer

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

BOATS = "boat,kind,berths,price_eur\nAnna,sloop,4,12000\nBerta,ketch,6,31500\nClara,sloop,2,8000\n"
QUESTION = "What is the total of what we asked for the sloops?"
REPLY: dict[str, Any] = {"table": 1, "operation": "sum", "column": "Price_EUR", "filters": ["kind = Sloop"]}


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer(REPLY) as running:
        yield running


@pytest.fixture
def tables(tmp_path: Path) -> list[Table]:
    path = tmp_path / "boats.csv"
    path.write_text(BOATS, encoding="utf-8")
    return tables_of(passage for document in load(path) for passage in split(document))


def model(server: OllamaServer) -> QueryModel:
    return QueryModel(ChatCaller(chat_model("ollama:llama3.2", base_url=server.url), backoff_s=0.01))


def test_the_query_is_the_models_and_the_figure_is_ours(server: OllamaServer, tables: list[Table]) -> None:
    reading = model(server)(QUESTION, tables, None, Notes())
    assert reading is not None
    assert reading.query["column"] == "price_eur"
    assert reading.query["where"] == [{"column": "kind", "test": "=", "values": ["sloop"]}]
    assert 0 < reading.chance <= MOST
    assert compute(reading.query, reading.table)["value"] == "20000"


@pytest.mark.parametrize(
    ("written", "operation", "value"),
    [
        ("max", "largest", "31500"),
        ("MIN", "smallest", "8000"),
        ("total", "sum", "51500"),
        ("average", "mean", "17166.67"),
    ],
)
def test_what_models_call_an_operation_is_read(
    server: OllamaServer, tables: list[Table], written: str, operation: str, value: str
) -> None:
    server.play({"table": 1, "operation": written, "column": "price_eur", "filters": []})
    reading = model(server)("What is the total price of all?", tables, None, Notes())
    assert reading is not None
    assert reading.query["operation"] == operation
    assert compute(reading.query, reading.table)["value"] == value
    held = server.chats[0].body["format"]["properties"]["operation"]["enum"]
    assert operation in held
    assert written.casefold() not in held


@pytest.mark.parametrize(
    "reply",
    [
        {"table": 0},
        {"table": 7},
        {"operation": "multiply"},
        {"column": "cost"},
        {"filters": ["kind = yawl"]},
        {"filters": ["colour = red"]},
        {"filters": ["sloops only"]},
        {"operation": "growth", "against_column": "price_2019"},
    ],
)
def test_a_query_that_fits_no_table_is_dropped(
    server: OllamaServer, tables: list[Table], reply: dict[str, Any]
) -> None:
    server.play(REPLY | reply)
    assert model(server)(QUESTION, tables, None, Notes()) is None


def test_a_query_that_leaves_a_name_out_is_dropped(server: OllamaServer, tables: list[Table]) -> None:
    asked = "What is the total price of the sloops from Denmark?"
    assert model(server)(asked, tables, None, Notes()) is None


@pytest.mark.parametrize(("size", "asked"), [("1.5B", 0), ("2B", 1), ("", 1)])
def test_a_model_that_is_known_to_be_small_is_not_asked(tables: list[Table], size: str, asked: int) -> None:
    with OllamaServer(REPLY, models={"llama3.2": ModelInfo(parameter_size=size)}) as server:
        caller = ChatCaller(chat_model("ollama:llama3.2", base_url=server.url), backoff_s=0.01)
        reading = QueryModel(caller, smallest=2.0)(QUESTION, tables, None, Notes())
    assert len(server.chats) == asked
    assert (reading is not None) == bool(asked)


def test_nobody_is_asked_where_no_operation_is_wanted(server: OllamaServer, tables: list[Table]) -> None:
    notes = Notes()
    assert model(server)("Who owns Anna?", tables, None, notes) is None
    assert notes.calls == 0


def test_a_model_that_writes_no_record_costs_nothing_but_a_note(server: OllamaServer, tables: list[Table]) -> None:
    server.play("I would rather add it up: 20000.")
    notes = Notes()
    assert model(server)(QUESTION, tables, None, notes) is None
    assert any("No query was written" in sentence for sentence in notes.sentences)
