"""The graphs under a real LangGraph server, driven over HTTP."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteGraph

from tests.support.ports import free_port

# LangGraph's server and the graphs in it are started within the first test.
pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.enable_socket, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
STUDIO_PAGE = (ROOT / "docs" / "page.md").read_text(encoding="utf-8")
SALT = ["The sea is salt because rivers carry minerals into it.", "Lakes are mostly fresh."]


class Server:
    """`langgraph dev` on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        self.log = folder / "server.log"
        command = [Path(sys.executable).parent / "langgraph", "dev", "--no-browser", "--no-reload", "--port", str(port)]
        environment = os.environ | {"LANGSMITH_TRACING": "false", "LANGGRAPH_STRICT_MSGPACK": "true"}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                list(map(str, command)), cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )

    def wait(self) -> None:
        while self.process.poll() is None:
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/ok").status_code == 200:
                    return
            time.sleep(0.25)
        raise AssertionError(f"the server did not start:\n{self.log.read_text()[-4000:]}")

    def post(self, path: str, body: dict[str, Any]) -> Any:
        answer = httpx.post(f"{self.url}{path}", json=body, timeout=600)
        assert answer.status_code == 200, answer.text
        return answer

    def assistant(self, graph: str) -> dict[str, Any]:
        found = self.post("/assistants/search", {"graph_id": graph}).json()
        assert len(found) == 1
        return dict(found[0])

    def schemas(self, graph: str) -> dict[str, Any]:
        return dict(httpx.get(f"{self.url}/assistants/{self.assistant(graph)['assistant_id']}/schemas").json())

    def stop(self) -> None:
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(20)
        self.process.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("studio")
    # The repository's own langgraph.json, in a folder without the developer's settings and store.
    shutil.copy(ROOT / "langgraph.json", folder)
    shutil.copy(ROOT / "docs" / "app.md", folder / "notes.md")
    command = [sys.executable, "-m", "cragraph", "ingest", "notes.md", "-q"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    running = Server(folder)
    try:
        running.wait()
        yield running
    finally:
        running.stop()


def test_both_graphs_are_there_with_their_descriptions(server: Server) -> None:
    for graph, word in (("crag", "correct"), ("verify", "verdict")):
        assert word in (server.assistant(graph)["description"] or "")


def test_context_is_a_form_whose_every_field_has_a_default_and_a_description(server: Server) -> None:
    forms = {graph: server.schemas(graph)["context_schema"]["properties"] for graph in ("crag", "verify")}
    assert {"mode", "max_crag_attempts", "judge", "policy", "show_claims"} <= forms["crag"].keys()
    assert all("default" in field and field["description"] for form in forms.values() for field in form.values())


def test_the_form_of_verify_shows_what_acts_there_and_nothing_else(server: Server) -> None:
    assert server.schemas("verify")["context_schema"]["properties"].keys() == {
        "confidence_threshold", "on_low_confidence", "judge", "policy", "known_facts", "deadline_s",
    }  # fmt: skip


def test_input_and_output_schemas_are_narrow_and_real(server: Server) -> None:
    crag, verify = server.schemas("crag"), server.schemas("verify")
    assert crag["input_schema"]["properties"].keys() == {"question", "answer", "passages", "messages"}
    assert verify["input_schema"]["properties"].keys() == {"question", "answer", "passages"}
    assert {"answer", "citations", "confidence", "issues", "degraded"} <= crag["output_schema"]["properties"].keys()
    assert {"held", "drafts", "queries"} & crag["output_schema"]["properties"].keys() == set()
    assert {"confidence", "claims", "signals"} <= verify["output_schema"]["properties"].keys()


@pytest.mark.parametrize("switched_off", [False, None])
def test_a_request_may_switch_verification_off_by_its_founding_name(server: Server, switched_off: bool | None) -> None:
    body = {"assistant_id": "crag", "input": {"question": "When does the loop stop?"}}
    context = {"enable_verification": switched_off, "crag": switched_off}
    response = server.post("/runs/wait", body | {"context": context}).json()
    assert response["answer"]
    assert ("judge" in response["models"]) == (switched_off is None)


@pytest.mark.parametrize("context", [None, {}, {"show_claims": True, "mode": "high"}], ids=str)
def test_crag_runs_with_and_without_context(server: Server, context: Any) -> None:
    body = {"assistant_id": "crag", "input": {"question": "When does the loop stop?"}}
    if context is not None:
        body["context"] = context
    response = server.post("/runs/wait", body).json()
    assert "__error__" not in response, response
    assert response["answer"]
    assert response["models"]["generator"] == "extractive"


@pytest.mark.parametrize("where", ["context", "config"])
def test_an_option_that_is_misspelt_is_refused_by_its_name(server: Server, where: str) -> None:
    options = {"confidence_treshold": 0.9, "mode": "high"}
    given = {"context": options} if where == "context" else {"config": {"configurable": options}}
    body = {"assistant_id": "crag", "input": {"question": "What is a state?"}} | given
    answer = httpx.post(f"{server.url}/runs/wait", json=body, timeout=600)
    assert "'confidence_treshold'" in answer.text
    assert "confidence_threshold" in answer.text


def test_verify_runs(server: Server) -> None:
    body = {"assistant_id": "verify", "input": {"answer": "The sea is salt.", "passages": SALT}}
    response = server.post("/runs/wait", body).json()
    assert [claim["verdict"] for claim in response["claims"]] == ["supported"]


def test_a_run_on_a_thread_streams_its_nodes(server: Server) -> None:
    thread = server.post("/threads", {}).json()["thread_id"]
    body = {
        "assistant_id": "crag",
        "input": {"question": "Why is the sea salt?", "passages": SALT},
        "stream_mode": ["updates"],
    }
    lines = server.post(f"/threads/{thread}/runs/stream", body).text
    nodes = re.findall(r'^data: \{"(\w+)":', lines, re.MULTILINE)
    assert [n for n in nodes if n in ("retrieve", "rerank", "generate", "verify", "finalize")][:3] == [
        "retrieve",
        "rerank",
        "generate",
    ]


def test_a_run_waits_for_a_person_and_does_what_they_choose(server: Server) -> None:
    thread = server.post("/threads", {}).json()["thread_id"]
    asks = {"assistant_id": "crag", "context": {"on_low_confidence": "ask", "max_crag_attempts": 0}}
    given = {"question": "Why is the sea salt?", "answer": "The sea is sweet.", "passages": SALT}
    waiting = server.post(f"/threads/{thread}/runs/wait", asks | {"input": given}).json()["__interrupt__"][0]["value"]
    assert waiting["claims"][0]["text"] == "The sea is sweet."
    state = httpx.get(f"{server.url}/threads/{thread}/state").json()
    assert state["next"] == ["review"]
    wrong = server.post(f"/threads/{thread}/runs/wait", asks | {"command": {"resume": "yes"}}).json()
    assert "'yes'" in wrong["__interrupt__"][0]["value"]["error"]
    decision = {"choice": "edit", "answer": SALT[0]}
    response = server.post(f"/threads/{thread}/runs/wait", asks | {"command": {"resume": decision}}).json()
    assert response["answer"].startswith(SALT[0][:-1])
    assert response["is_grounded"]


def test_a_chat_page_talks_in_messages_and_may_be_asked(server: Server) -> None:
    thread = server.post("/threads", {}).json()["thread_id"]
    path, body = f"/threads/{thread}/runs/wait", {"assistant_id": "chat"}
    ask = {"messages": [{"type": "human", "content": [{"type": "text", "text": "When does the loop stop?"}]}]}
    first = server.post(path, body | {"input": ask}).json()["messages"]
    assert [message["type"] for message in first] == ["human", "ai"]
    assert "(notes.md)" in first[-1]["content"]
    assert first[-1]["additional_kwargs"]["citations"]
    context = {"context": {"on_low_confidence": "ask", "max_crag_attempts": 0, "confidence_threshold": 1.0}}
    waiting = server.post(path, body | context | {"input": ask}).json()["__interrupt__"][0]["value"]
    assert waiting["review_configs"][0]["allowed_decisions"] == ["approve", "edit", "reject"]
    approved = {"command": {"resume": {"decisions": [{"type": "approve"}]}}}
    last = server.post(path, body | context | approved).json()["messages"]
    assert last[-1]["additional_kwargs"]["issues"][0] == "A person accepted this answer."
    assert len(last) == 4


def test_the_graph_is_a_node_of_another_graph(server: Server) -> None:
    code = next(b for b in re.findall(r"```python\n(.*?)```", STUDIO_PAGE, re.DOTALL) if "RemoteGraph" in b)
    known: dict[str, Any] = {}
    exec(code.replace("http://127.0.0.1:2024", server.url), known)
    assert "(notes.md)" in known["asked"]["messages"][-1].content
    crag = RemoteGraph("crag", url=server.url)
    given = {"question": "Why is the sea salt?", "passages": SALT}
    assert crag.invoke(given, context={"show_claims": True})["verification"]["claims"]
    for graph in (crag, known["documents"]):
        graph.sync_client.http.client.close()


def test_no_blocking_call_was_seen(server: Server) -> None:
    log = server.log.read_text()
    assert "BlockingError" not in log
    assert "Blocking call" not in log
