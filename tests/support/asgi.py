"""An ASGI application called in this process: any bytes as headers and body, and no socket."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Answer:
    """What came back; `raised` is what the application let through after it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    raised: str = ""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        return str(self.json["error"])

    @property
    def events(self) -> list[tuple[str, Any]]:
        """The events of a stream."""
        parts = (part.split("\n") for part in self.body.decode().split("\n\n") if part)
        return [(kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for kind, data in parts]


def call(
    app: Any,
    method: str,
    path: str,
    *,
    body: bytes = b"",
    query: bytes = b"",
    headers: Mapping[str, str | bytes] | None = None,
) -> Answer:
    """One request, answered."""
    given = {"host": "127.0.0.1", **(headers or {})}
    sent: list[Any] = []

    async def run() -> str:
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        stays = asyncio.Event()

        async def receive() -> Any:
            if not waiting:
                await stays.wait()
            return waiting.pop()

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": path, "raw_path": path.encode(), "root_path": "", "query_string": query,
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
            "headers": [(name.encode(), v if isinstance(v, bytes) else v.encode()) for name, v in given.items()],
        }  # fmt: skip
        try:
            await app(scope, receive, send)
        except Exception as error:  # what the server would log
            return f"{type(error).__name__}: {error}"
        return ""

    raised = asyncio.run(run())
    start = next((message for message in sent if message["type"] == "http.response.start"), {"status": 0})
    pairs = {name.decode(): value.decode("latin-1") for name, value in start.get("headers", ())}
    return Answer(start["status"], pairs, b"".join(message.get("body", b"") for message in sent), raised)


def form(filename: bytes, content: bytes) -> dict[str, Any]:
    """A form with one file, as a browser sends it."""
    head = b'--B\r\nContent-Disposition: form-data; name="file"; filename="' + filename + b'"\r\n'
    body = head + b"Content-Type: text/plain\r\n\r\n" + content + b"\r\n--B--\r\n"
    return {"body": body, "headers": {"content-type": "multipart/form-data; boundary=B"}}
