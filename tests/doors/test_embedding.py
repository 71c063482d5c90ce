"""cragraph inside somebody else's program, run as that program would be: in a process and a folder of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PASSAGES = ["The sea is salt because rivers carry minerals into it.", "Lakes are mostly fresh water."]

RUN = """
import asyncio, json
import graph, nodes, prompts          # the program's own modules, which must stay its own
from cragraph import Context, create_graph, load_settings

assert graph.MINE and nodes.MINE and prompts.MINE
compiled = create_graph(load_settings(store=None)).compile()
inputs = {"question": "Why is the sea salt?", "passages": %(passages)r}
plain = compiled.invoke(inputs)
options = compiled.invoke(inputs, context=Context(show_claims=True))
later = asyncio.run(compiled.ainvoke(inputs, context={"mode": "low"}))
steps = [node for event in compiled.stream(inputs, stream_mode="updates") for node in event]
print(json.dumps([plain["answer"], options["verification"]["claims"][0]["verdict"], later["confidence"], steps]))
"""

CHECKPOINTED = """
import json, os, signal, sys
from langgraph.checkpoint.sqlite import SqliteSaver
from cragraph import create_graph, load_settings

class Killer:
    name = "killer"
    def __call__(self, claims, passages, notes, *, question=""):
        os.kill(os.getpid(), signal.SIGKILL)

first = sys.argv[1] == "first"
with SqliteSaver.from_conn_string("runs.sqlite") as saver:
    builder = create_graph(load_settings(store=None), judge=Killer() if first else None)
    compiled = builder.compile(checkpointer=saver)
    thread = {"configurable": {"thread_id": "1"}}
    if not first:
        assert compiled.get_state(thread).next == ("verify",), compiled.get_state(thread).next
    inputs = {"question": "Why is the sea salt?", "passages": %(passages)r} if first else None
    response = compiled.invoke(inputs, thread, durability="sync")
    print(json.dumps([response["answer"], response["confidence"], response["models"]["judge"]]))
"""


def run(script: str, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "main.py").write_text(script % {"passages": PASSAGES})
    for name in ("graph", "nodes", "prompts"):
        (folder / f"{name}.py").write_text("MINE = True\n")
    return subprocess.run(
        [sys.executable, "main.py", *arguments],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_runs_beside_modules_of_the_same_names_sync_async_and_streamed(tmp_path: Path) -> None:
    done = run(RUN, tmp_path)
    assert done.returncode == 0, done.stderr
    answer, verdict, unverified, steps = json.loads(done.stdout)
    assert answer == "The sea is salt because rivers carry minerals into it. [1]"
    assert (verdict, unverified) == ("supported", None)
    assert steps == ["retrieve", "rerank", "generate", "verify", "finalize"]


def test_a_run_killed_between_nodes_is_resumed_by_another_process(tmp_path: Path) -> None:
    killed = run(CHECKPOINTED, tmp_path, "first", LANGGRAPH_STRICT_MSGPACK="true")
    assert killed.returncode == -9, killed.stderr
    resumed = run(CHECKPOINTED, tmp_path, "second", LANGGRAPH_STRICT_MSGPACK="true")
    assert resumed.returncode == 0, resumed.stderr
    answer, confidence, judge = json.loads(resumed.stdout)
    assert answer == "The sea is salt because rivers carry minerals into it. [1]"
    assert confidence > 0.8
    assert judge == "encoder"
