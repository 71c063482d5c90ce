"""The graph with a chat model inside a real LangGraph server: streamed, corrected, and never blocking its loop."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.ollama import OllamaServer, Request, by_fields
from tests.support.ports import free_port

# LangGraph's server and the graphs in it are started within the first test.
pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.enable_socket, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
INPUT = {
    "question": "How long is the Freedonia bridge?",
    "passages": ["The Freedonia bridge is 412 metres long.", "It was opened in 1931."],
}
WRONG, RIGHT = "The Freedonia bridge is 900 metres long [1].", "The Freedonia bridge is 412 metres long [1]."


def write(request: Request) -> str:
    return RIGHT if "This answer was checked" in request.prompt else WRONG


def judge(request: Request) -> dict[str, Any]:
    if f"1. {RIGHT[:-5]}" in request.prompt:
        return {"claims": [{"n": 1, "evidence": RIGHT[:-5], "passage": 1, "status": "SUPPORTED"}]}
    return {"claims": [{"n": 1, "evidence": "", "passage": 0, "status": "UNSUPPORTED"}]}


@dataclass(frozen=True)
class Studio:
    """`langgraph dev` with a chat model."""

    url: str
    log: Path
    ollama: OllamaServer


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    folder = tmp_path_factory.mktemp("studio")
    shutil.copy(ROOT / "langgraph.json", folder)
    log, port = folder / "server.log", free_port()
    script = by_fields({"": write, "claims": judge, "queries": {"queries": ["length of the bridge"]}})
    command = [
        str(Path(sys.executable).parent / "langgraph"),
        "dev",
        "--no-browser",
        "--no-reload",
        "--port",
        str(port),
    ]
    with OllamaServer(script) as ollama, log.open("w") as sink:
        tracing = {"LANGSMITH_TRACING": "false", "CRAG_STORE": ""}
        model = {"CRAG_MODEL": "ollama:llama3.2", "OLLAMA_HOST": ollama.url, "CRAG_EXTRACTIVE_FALLBACK": "false"}
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | tracing | model, stdout=sink, stderr=subprocess.STDOUT
        )
        running = Studio(f"http://127.0.0.1:{port}", log, ollama)
        try:
            while True:
                with suppress(httpx.HTTPError):
                    if httpx.get(f"{running.url}/ok").status_code == 200:
                        break
                assert process.poll() is None, log.read_text()[-4000:]
                time.sleep(0.25)
            yield running
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


def run(studio: Studio) -> dict[str, Any]:
    body = {"assistant_id": "crag", "input": INPUT}
    response: dict[str, Any] = httpx.post(f"{studio.url}/runs/wait", json=body, timeout=600).json()
    return response


def test_a_run_is_corrected_and_says_what_ran(studio: Studio) -> None:
    response = run(studio)
    # It is written, judged and corrected; the corrected answer is firm without the judge.
    assert (response["answer"], response["llm_calls"], len(response["attempts"])) == (RIGHT, 3, 2)
    assert response["models"]["generator"] == "ollama:llama3.2"


def test_the_decided_answer_is_streamed_word_by_word_and_nothing_else_is(studio: Studio) -> None:
    body = {"assistant_id": "crag", "input": INPUT, "stream_mode": ["messages-tuple"]}
    written: dict[str, list[str]] = {}
    with httpx.stream("POST", f"{studio.url}/runs/stream", json=body, timeout=600) as stream:
        for line in stream.iter_lines():
            if line.startswith("data: [{"):
                message, metadata = json.loads(line.removeprefix("data: "))
                assert metadata["langgraph_node"] == "finalize"
                written.setdefault(message["id"], []).append(str(message["content"]))
    assert ["".join(words) for words in written.values()] == [RIGHT]
    assert all(len(words) >= len(RIGHT.split()) for words in written.values())


def test_no_blocking_call_was_seen(studio: Studio) -> None:
    run(studio)
    assert "BlockingError" not in studio.log.read_text()
    assert studio.ollama.chats
