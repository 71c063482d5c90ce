"""Models of servers that speak OpenAI's protocol, through LangChain."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from pydantic import BaseModel

from cragraph.models.chat import ChatCaller, ask
from cragraph.models.servers import chat_model
from cragraph.protocols import Notes

pytest.importorskip("langchain_openai")
pytestmark = [pytest.mark.server, pytest.mark.enable_socket]


class Server(BaseHTTPRequestHandler):
    """Answers as llama.cpp's server does, and remembers what it was asked."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, body))  # type: ignore[attr-defined]
        if self.path.endswith("/embeddings"):
            vectors = [[float(len(text)), 1.0] for text in body["input"]]
            rows = [{"index": i, "object": "embedding", "embedding": vector} for i, vector in enumerate(vectors)]
            self._send("application/json", json.dumps({"data": rows, "model": "m", "object": "list", "usage": {}}))
            return
        text = self.server.reply  # type: ignore[attr-defined]
        chunks = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": c}}]} for c in text]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        whole = [{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"} | chunk for chunk in chunks]
        lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in whole)
        self._send("text/event-stream", f"{lines}data: [DONE]\n\n")

    def _send(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(reply: str) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.reply, server.asked = reply, []
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1", server.asked
    server.shutdown()
    server.server_close()


class Record(BaseModel):
    score: float


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_server_that_speaks_openai_writes_and_is_held_to_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving('{"score": 0.5}') as (url, asked):
        caller = ChatCaller(chat_model("openai:local", base_url=url, num_predict=77), "openai:local")
        assert ask(caller, [("human", "Rate it.")], Record, Notes()).score == 0.5
        path, body = asked[0]
        assert path == "/v1/chat/completions"
        assert body["response_format"]["json_schema"]["schema"]["required"] == ["score"]
        assert 77 in (body.get("max_tokens"), body.get("max_completion_tokens"))
