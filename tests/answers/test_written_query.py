"""A chat model may write the query; what it computes itself, and what no table has, is not taken."""

from pathlib import Path
from typing import Any

import pytest

from cragraph.documents import load, split
from cragraph.documents.tables import Table, tables_of
from cragraph.models.chat import ChatCaller
from cragraph.models.servers import chat_model
from cragraph.protocols import Notes
from cragraph.tables import Plan, compute
from cragraph.tables.written import QueryModel, description_of
from tests.support.cases import cases
from tests.support.fixtures import served
from tests.support.ollama import ModelInfo, OllamaServer

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

BOATS = "boat,kind,berths,price_eur\nAnna,sloop,4,12000\nBerta,ketch,6,31500\nClara,sloop,2,8000\n"
QUESTION = "What is the total of what we asked for the sloops?"
REPLY: dict[str, Any] = {"table": 1, "operation": "sum", "column": "Price_EUR", "filters": ["kind = Sloop"]}


server = served(REPLY)


@pytest.fixture
def tables(tmp_path: Path) -> list[Table]:
    path = tmp_path / "boats.csv"
    path.write_text(BOATS, encoding="utf-8")
    return tables_of(passage for document in load(path) for passage in split(document))


def model(server: OllamaServer) -> QueryModel:
    return QueryModel(ChatCaller(chat_model("ollama:llama3.2", base_url=server.url), backoff_s=0.01))


@pytest.mark.parametrize(("written", "operation", "value"), cases("answers/written_query", "what models call"))
def test_what_models_call_an_operation_is_read(
    server: OllamaServer, tables: list[Table], written: str, operation: str, value: str
) -> None:
    server.play({"table": 1, "operation": written, "column": "price_eur", "filters": []})
    reading = model(server)("What is the total price of all?", tables, None, Notes()).reading
    assert reading is not None
    assert reading.query["operation"] == operation
    assert compute(reading.query, reading.table)["value"] == value
    held = server.chats[0].body["format"]["properties"]["operation"]["enum"]
    assert operation in held
    assert written.casefold() not in held


@pytest.mark.parametrize("reply", cases("answers/written_query", "a query that fits"))
def test_a_query_that_fits_no_table_is_dropped(
    server: OllamaServer, tables: list[Table], reply: dict[str, Any]
) -> None:
    server.play(REPLY | reply)
    assert model(server)(QUESTION, tables, None, Notes()) == Plan(declined=reply.get("table") == 0)


def test_a_query_over_one_of_two_columns_that_are_asked_for_is_declined(tables: list[Table]) -> None:
    with OllamaServer(REPLY, models={"llama3.2": ModelInfo(parameter_size="8.0B")}) as server:
        assert model(server)("What is the total of price and berths of the sloops?", tables, None, Notes()).declined


def test_a_model_is_shown_every_value_of_a_column_up_to_a_few_dozen_and_the_total_rows(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    rows = "".join(f"{n},client {n % 15},{n}\n" for n in range(1, 61))
    path.write_text(f"sale,client,amount\n{rows}Total,,1830\n", encoding="utf-8")
    [sales] = tables_of(passage for document in load(path) for passage in split(document))
    said = description_of(sales)
    assert "sales.csv, 60 rows" in said
    assert all(f"client {n}" in said for n in range(15))
    assert "60 different values" in said
    assert "total row, not among the rows: Total | 1830" in said
