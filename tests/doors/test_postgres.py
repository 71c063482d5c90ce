"""Threads in a real PostgreSQL: many at once, and one whose process is killed and that another goes on with."""

import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from cragraph import create_graph, load_settings

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.enable_socket, pytest.mark.filterwarnings("ignore")]

THREADS = 32

KILLED_THREAD: Any = {"configurable": {"thread_id": "killed"}}
KILLED = f"""
import os, signal, sys
from langgraph.checkpoint.postgres import PostgresSaver
from cragraph import create_graph, load_settings

def kill(claims, passages, notes, *, question=""):
    os.kill(os.getpid(), signal.SIGKILL)

with PostgresSaver.from_conn_string(sys.argv[1]) as saver:
    compiled = create_graph(load_settings(store=None), judge=kill).compile(checkpointer=saver)
    inputs = {{"question": "How long is bridge 7?", "passages": ["Bridge 7 is 107 metres long."]}}
    compiled.invoke(inputs, {KILLED_THREAD!r}, durability="sync")
"""
"""A process of its own that is killed while the answer of its run is judged."""


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


def test_a_run_whose_process_was_killed_goes_on_in_another(saver: Any) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, saver.conn.conninfo], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    later = create_graph(load_settings(store=None)).compile(checkpointer=saver)
    assert later.get_state(KILLED_THREAD).next == ("verify",)
    response = later.invoke(None, KILLED_THREAD)
    assert "107" in response["answer"]
    assert response["verification"]["claims_supported"] == 1
