"""The wire side of the test server: routes, streams and faults."""

import json
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle, islice
from socket import SO_LINGER, SOL_SOCKET
from time import monotonic
from typing import TYPE_CHECKING, Any

from tests.support.ollama_replies import Reply, Request
from tests.support.ollama_tokens import embedding, fitted, tokens_of

if TYPE_CHECKING:
    from tests.support.ollama import OllamaServer


class Listener(ThreadingHTTPServer):
    """The listening socket, with a way back to the server it belongs to."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], handler: type["Handler"], owner: "OllamaServer") -> None:
        self.owner = owner
        super().__init__(address, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay quiet: callers that hang up are part of the tests."""


class HungUpError(Exception):
    """The connection is to be dropped, or the caller dropped it."""


class Handler(BaseHTTPRequestHandler):
    """One connection; HTTP/1.1 with keep-alive and chunked streams."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener

    def setup(self) -> None:
        """Register the connection, so that a dying server can break it."""
        super().setup()
        self.owner = self.server.owner
        self.owner.connected(self.connection)

    def finish(self) -> None:
        """Forget the connection."""
        self.owner.disconnected(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        """Answer `/`, `/api/version` and `/api/tags`."""
        self.owner.remember(self.path, {})
        if self.path in self.owner.wild:
            self._run_wild()
        elif self.path == "/api/version":
            self._json(200, {"version": "0.13.0"})
        elif self.path == "/api/tags":
            self._json(200, {"models": [_tag(name) for name in self.owner.models]})
        elif self.path == "/":
            self._send(200, b"Ollama is running", "text/plain")
        else:
            self._json(404, {"error": "not found"})

    def do_POST(self) -> None:
        """Answer `/api/chat`, `/api/embed` and `/api/show`."""
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        routes: dict[str, Callable[[Request], None]] = {
            "/api/chat": self._chat,
            "/api/embed": self._embed,
            "/api/show": self._show,
        }
        try:
            body = json.loads(raw)
        except ValueError:
            self._json(400, {"error": "invalid character in request body"})
            return
        request = self.owner.remember(self.path, body)
        if self.path in self.owner.wild:
            self._run_wild()
        elif self.path not in routes:
            self._json(404, {"error": "not found"})
        elif self.owner.info(request.model) is None:
            self._json(404, {"error": f"model '{request.model}' not found"})
        elif not self.owner.enter():
            self._json(503, {"error": "server busy, please try again.  maximum pending requests exceeded"})
        else:
            request.started = monotonic()
            try:
                routes[self.path](request)
            except (HungUpError, OSError):
                request.broken = True
                self.close_connection = True
            finally:
                request.ended = monotonic()
                self.owner.leave()

    def _run_wild(self) -> None:
        self.close_connection = True
        with suppress(HungUpError, OSError):
            self.owner.wild[self.path](self)

    def _show(self, request: Request) -> None:
        info = self.owner.info(request.model)
        assert info is not None
        self._json(
            200,
            {
                "modelfile": f"FROM {request.model}",
                "parameters": info.parameters,
                "template": "{{ .Prompt }}",
                "details": {"format": "gguf", "family": "llama", "parameter_size": info.parameter_size},
                "model_info": {
                    "general.architecture": "llama",
                    "llama.context_length": info.context_length,
                    "llama.embedding_length": info.embedding_length,
                },
                "capabilities": list(info.capabilities),
            },
        )

    def _embed(self, request: Request) -> None:
        info = self.owner.info(request.model)
        assert info is not None
        texts = request.body.get("input", [])
        texts = [texts] if isinstance(texts, str) else texts
        size = request.body.get("dimensions") or info.embedding_length
        count = sum(len(tokens_of(text)) for text in texts)
        self._wait(count * self.owner.ms_per_prompt_token / 1000)
        self._json(
            200,
            {
                "model": request.model,
                "embeddings": [embedding(text, size) for text in texts],
                "prompt_eval_count": count,
            },
        )

    def _chat(self, request: Request) -> None:
        info = self.owner.info(request.model)
        assert info is not None
        if request.body.get("think") and "thinking" not in info.capabilities:
            self._json(400, {"error": f'"{request.model}" does not support thinking'})
            return
        if isinstance(request.format, str) and request.format not in ("", "json"):
            self._json(400, {"error": f'invalid format: "{request.format}"; expected "json" or a valid JSON Schema'})
            return
        num_ctx = min(int(request.options.get("num_ctx") or self.owner.num_ctx), info.context_length)
        request.seen, request.prompt_tokens, request.truncated = fitted(request.messages, num_ctx)
        reply = self.owner.reply_to(request)
        self._wait(reply.delay_s + request.prompt_tokens * self.owner.ms_per_prompt_token / 1000)
        if reply.status >= 400:
            self._json(reply.status, {"error": reply.error or "an unknown error was encountered"})
        elif request.body.get("stream", True):
            self._stream(request, reply)
        else:
            self._whole(request, reply)

    def _whole(self, request: Request, reply: Reply) -> None:
        written, thought, reason = self._tokens(request, reply)
        self._pace(monotonic(), len(written))
        if reply.fault in ("reset", "stall"):
            self._strike(reply)
        if reply.error:
            self._json(500, {"error": reply.error})
            return
        message = {
            "role": "assistant",
            "content": "".join(written),
            **({"thinking": thought} if thought else {}),
        }
        told = {"logprobs": reply.logprobs} if reply.logprobs and request.body.get("logprobs") else {}
        self._json(200, {**_line(request, message), **_last(request, len(written), reason), **told})

    def _stream(self, request: Request, reply: Reply) -> None:
        written, thought, reason = self._tokens(request, reply)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._cut = reply.cut
        if thought:
            self._chunk(_line(request, _message("", thinking=thought)))
        begun, count = monotonic(), 0
        endless = cycle(written or ["la "]) if reply.fault == "endless" else None
        limit = int(request.options.get("num_predict") or -1)
        asked = reply.logprobs and request.body.get("logprobs")
        for token in endless if endless else written:
            if (reply.fault not in (None, "endless") or reply.error) and count == reply.after:
                break
            if endless and 0 <= limit <= count:
                reason = "length"
                break
            count += 1
            self._pace(begun, count)
            told = {"logprobs": [reply.logprobs[(count - 1) % len(reply.logprobs)]]} if asked else {}
            self._chunk(_line(request, _message(token)) | told)
        if reply.fault not in (None, "endless", "unfinished"):
            self._strike(reply)
        if reply.error:
            self._chunk({"error": reply.error})
        elif reply.fault != "unfinished":
            self._chunk({**_line(request, _message("")), **_last(request, count, reason)})
        self._write(b"0\r\n\r\n")

    def _tokens(self, request: Request, reply: Reply) -> tuple[list[str], str, str]:
        """What is written, what was thought aloud, and why it ends."""
        written = tokens_of(reply.text(request.format))
        think = request.body.get("think")
        thought = reply.thinking if think is not False else ""
        if thought and think is None:
            # Without `think`, models that Ollama does not know to reason put their thoughts into the content.
            written, thought = tokens_of(f"<think>\n{thought}\n</think>\n\n{reply.text(request.format)}"), ""
        limit = int(request.options.get("num_predict") or -1)
        if reply.fault != "endless" and 0 <= limit < len(written):
            return list(islice(written, limit)), thought, "length"
        return written, thought, "stop"

    def _strike(self, reply: Reply) -> None:
        if reply.fault == "garbage":
            self._write(b"c\r\n\xff\xfe\x00not json\n\r\n")
            raise HungUpError
        if reply.fault == "stall":
            self.owner.stopping.wait()
        if reply.fault == "reset":
            self.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
        raise HungUpError

    def _pace(self, begun: float, count: int) -> None:
        if self.owner.tokens_per_s > 0:
            self._wait(begun + count / self.owner.tokens_per_s - monotonic())

    def _wait(self, seconds: float) -> None:
        if seconds > 0 and self.owner.stopping.wait(seconds):
            raise HungUpError

    def _chunk(self, line: Mapping[str, Any]) -> None:
        data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        size = self._cut or len(data)
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            self._write(b"%x\r\n%b\r\n" % (len(piece), piece))

    def _write(self, data: bytes) -> None:
        if self.owner.stopping.is_set():
            raise HungUpError
        self.wfile.write(data)
        self.wfile.flush()

    def _json(self, status: int, body: Mapping[str, Any]) -> None:
        self._send(status, json.dumps(body, ensure_ascii=False).encode(), "application/json; charset=utf-8")

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _message(content: str, **more: str) -> dict[str, str]:
    return {"role": "assistant", "content": content, **more}


def _line(request: Request, message: Mapping[str, Any]) -> dict[str, Any]:
    return {"model": request.model, "created_at": _now(), "message": message, "done": False}


def _last(request: Request, count: int, reason: str) -> dict[str, Any]:
    spent = int((monotonic() - request.started) * 1e9)
    return {
        "done": True,
        "done_reason": reason,
        "total_duration": spent,
        "load_duration": 1_000_000,
        "prompt_eval_count": request.prompt_tokens,
        "prompt_eval_duration": spent // 2,
        "eval_count": count,
        "eval_duration": spent - spent // 2,
    }


def _tag(name: str) -> dict[str, Any]:
    full = name if ":" in name else f"{name}:latest"
    details = {"format": "gguf", "family": "llama", "parameter_size": "3B", "quantization_level": "Q4_K_M"}
    known = {"name": full, "model": full, "modified_at": _now(), "size": 2_000_000_000}
    return {**known, "digest": sha256(full.encode()).hexdigest(), "details": details}


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
