"""What a model's server sends stays bounded in size and time, and goes to nobody but the server that was named."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cragraph.api import create_graph
from cragraph.cli.doctor import _ollama
from cragraph.errors import ModelError
from cragraph.models.chat import ChatCaller
from cragraph.models.embeddings import ServerEncoder
from cragraph.models.servers import billions, chat_model, ollama_hint
from cragraph.protocols import Notes
from cragraph.settings import Settings
from tests.support.fixtures import served
from tests.support.ollama import ModelInfo, OllamaServer, Reply

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

ASK = [("human", "What is the height of the tower?")]
PASSAGE = "The tower of Dunmore is 412 metres high. It was finished in 1931."


server = served("fine")


@pytest.fixture
def elsewhere() -> Iterator[OllamaServer]:
    with OllamaServer("stolen") as running:
        yield running


def sends(head: str, piece: bytes, pause_s: float = 0.0) -> Callable[[Any], None]:
    """An answer that has no end."""

    def forever(handler: Any) -> None:
        handler.wfile.write(f"HTTP/1.1 200 OK\r\n{head}Connection: close\r\n\r\n".encode())
        while not handler.owner.stopping.wait(pause_s):
            handler.wfile.write(piece)
            handler.wfile.flush()

    return forever


def line(content: str) -> bytes:
    return b'{"model": "m", "message": {"role": "assistant", "content": "%s"}, "done": false}\n' % content.encode()


def redirects(url: str) -> Callable[[Any], None]:
    def away(handler: Any) -> None:
        handler.send_response(307)
        handler.send_header("Location", f"{url}{handler.path}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return away


def caller(server: OllamaServer, spec: str = "ollama:llama3.2", path: str = "", **limits: Any) -> ChatCaller:
    built = chat_model(spec, base_url=server.url + path, timeout_s=1)
    return ChatCaller(built, spec, **{"backoff_s": 0.01, "timeout_s": 1.0} | limits)


@pytest.mark.parametrize(("spec", "path"), [("ollama:llama3.2", ""), ("openai:m", "/v1")])
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_redirect_is_told_and_the_prompt_goes_nowhere_else(
    server: OllamaServer, elsewhere: OllamaServer, spec: str, path: str
) -> None:
    server.wild = dict.fromkeys(("/api/chat", "/v1/chat/completions"), redirects(elsewhere.url))
    with pytest.raises(ModelError, match=f"points to {elsewhere.url}"):
        caller(server, spec, path)(ASK, Notes())
    assert elsewhere.requests == []


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_a_server_of_this_machine_is_called_past_every_proxy(
    server: OllamaServer, elsewhere: OllamaServer, monkeypatch: pytest.MonkeyPatch, variable: str, scheme: str
) -> None:
    monkeypatch.setenv(variable, elsewhere.url.replace("http", scheme))
    assert caller(server)(ASK, Notes()).text == "fine"
    assert billions(caller(server).model) == 3.0
    assert "--model ollama:llama3.2" in ollama_hint(server.url)
    assert ServerEncoder("ollama:nomic-embed-text", base_url=server.url).embed_query("x")
    assert elsewhere.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["ollama:m", "openai:m"])
def test_no_kind_of_proxy_is_a_traceback_where_nothing_was_imported_yet(spec: str) -> None:
    code = f"from cragraph.models.servers import chat_model; chat_model({spec!r}, base_url='http://127.0.0.1:9/v1')"
    variables = os.environ | {"ALL_PROXY": "socks5h://127.0.0.1:9", "HTTPS_PROXY": "odd://127.0.0.1:9"}
    ended = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False)


def test_doctor_ends_where_the_server_does_not(server: OllamaServer) -> None:
    server.wild["/api/show"] = sends("", b"[" * 65536)
    [version, shown] = _ollama(["ollama:llama3.2"], Settings(store=None, ollama_host=server.url))
    assert (version.ok, shown.ok) == (True, False)
    assert "more than 1,048,576 bytes" in shown.detail


def test_a_word_now_and_then_ends_after_a_few_timeouts(server: OllamaServer) -> None:
    server.wild["/api/chat"] = sends("Content-Type: application/x-ndjson\r\n", line("word "), 0.3)
    notes = Notes()
    reply = caller(server)(ASK, notes)
    assert reply.cut
    assert reply.text.startswith("word word")
    assert any("wrote for" in sentence for sentence in notes.sentences)


FAULTS: dict[str, Any] = {
    "503": Reply(status=503, error="server busy"),
    "429": Reply(status=429, error="too many requests"),
    "reset": Reply("The tower is", fault="reset", after=2),
    "unfinished": Reply("The tower is", fault="unfinished", after=2),
    "stall": Reply("The tower", fault="stall", after=1),
}


def answered(server: OllamaServer, folder: Path, **context: Any) -> dict[str, Any]:
    settings = Settings(store=None, model="ollama:llama3.2", ollama_host=server.url, timeout_s=1, judge="encoder")
    graph = create_graph(settings).compile()
    given = {"question": "How high is the tower of Dunmore?", "passages": [PASSAGE]}
    response: dict[str, Any] = graph.invoke(given, context={"max_crag_attempts": 0, **context})
    return response


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_fails_ends_in_a_quotation_and_it_is_told(
    server: OllamaServer, fault: str, tmp_path: Path
) -> None:
    server.models["llama3.2"] = ModelInfo(parameter_size="70B")
    server.play(FAULTS[fault])
    response = answered(server, tmp_path)
    assert "412 metres" in response["answer"]
    assert response["models"]["generator"] == "extractive"
    assert any("The passages are quoted instead" in sentence for sentence in response["degraded"])


@pytest.mark.slow
@pytest.mark.parametrize("piece", [line(""), line("word "), b" "], ids=["empty", "words", "bytes"])
def test_a_deadline_holds_and_ends_in_a_quotation(server: OllamaServer, piece: bytes, tmp_path: Path) -> None:
    server.models["llama3.2"] = ModelInfo(parameter_size="70B")
    answered(server, tmp_path, deadline_s=60)  # loads the networks
    server.wild["/api/chat"] = sends("Content-Type: application/x-ndjson\r\n", piece, 0.05)
    response = answered(server, tmp_path, deadline_s=3)
    assert "412 metres" in response["answer"]
    assert any("deadline" in sentence or "sent nothing" in sentence for sentence in response["degraded"])
