"""Threads in a real PostgreSQL: many at once, and one that goes on after its process is gone."""

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from cragraph import create_graph, load_settings

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.enable_socket, pytest.mark.filterwarnings("ignore")]

THREADS = 32


@pytest.fixture(scope="module")
def saver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """LangGraph's checkpointer on a server of its own, strict about what it deserialises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pgserver")
        module = pytest.importorskip("langgraph.checkpoint.postgres")
        pool_of = pytest.importorskip("psycopg_pool").ConnectionPool
    from psycopg.rows import dict_row

    server = pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="delete")
    options = {"autocommit": True, "row_factory": dict_row}
    try:
        with pool_of(server.get_uri(), kwargs=options, max_size=8, open=True) as pool:
            saver = module.PostgresSaver(pool, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
            saver.setup()
            yield saver
    finally:
        server.cleanup()


def asked(number: int) -> dict[str, Any]:
    return {
        "question": f"How long is bridge {number}?",
        "passages": [f"Bridge {number} is {number + 100} metres long."],
    }


def test_many_threads_at_once_keep_apart(saver: Any) -> None:
    graph = create_graph(load_settings(store=None)).compile(checkpointer=saver)

    def run(number: int) -> str:
        return str(graph.invoke(asked(number), {"configurable": {"thread_id": str(number)}})["answer"])

    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(run, range(THREADS)))
    assert all(str(number + 100) in answer for number, answer in enumerate(answers))
    again = create_graph(load_settings(store=None)).compile(checkpointer=saver)
    for number in range(THREADS):
        state = again.get_state({"configurable": {"thread_id": str(number)}})
        assert (state.next, state.values["question"]) == ((), asked(number)["question"])


def test_a_run_that_was_cut_off_goes_on_where_it_stopped(saver: Any) -> None:
    thread = {"configurable": {"thread_id": "cut"}}
    first = create_graph(load_settings(store=None)).compile(checkpointer=saver, interrupt_before=["verify"])
    first.invoke(asked(7), thread)
    assert first.get_state(thread).next == ("verify",)
    later = create_graph(load_settings(store=None)).compile(checkpointer=saver)
    response = later.invoke(None, thread)
    assert "107" in response["answer"]
    assert response["verification"]["claims_supported"] == 1
