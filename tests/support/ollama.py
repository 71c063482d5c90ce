"""A real HTTP server on loopback that speaks Ollama's protocol, programmable and fault-injecting.

    with OllamaServer(["Paris [1]."]) as server:
        model = ChatOllama(model="llama3.2", base_url=server.url)
        assert model.invoke("What is the capital of France?").content == "Paris [1]."
        assert server.chats[0].options["num_ctx"] == 8192

No model runs: replies come from a script (see `tests.support.ollama_replies`). Speeds are simulated
(`tokens_per_s`, `ms_per_prompt_token`), `max_parallel` requests run at once and the rest queue, and every
request is remembered. In pytest, mark a test that uses it with `enable_socket` where sockets are off.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from socket import SHUT_RDWR, socket
from threading import Event, Lock, Semaphore, Thread
from types import TracebackType
from typing import Any, Self

from tests.support.ollama_http import Handler, Listener
from tests.support.ollama_replies import Reply, Request, Script, by_fields, by_pattern, player

__all__ = ["ModelInfo", "OllamaServer", "Reply", "Request", "by_fields", "by_pattern"]


@dataclass(frozen=True)
class ModelInfo:
    """What `/api/show` says of a pulled model."""

    context_length: int = 131_072
    embedding_length: int = 64
    capabilities: tuple[str, ...] = ("completion", "tools", "embedding")
    parameters: str = ""
    parameter_size: str = "3B"


class OllamaServer:
    """A context manager around a server on a free port of 127.0.0.1.

    `models` are the pulled ones (`llama3.2` and `llama3.2:latest` are the same). `max_queue` waiting
    requests beyond `max_parallel` answer 503, as Ollama does. `stop()` and `start()` may be called again and
    again: the port stays.
    """

    def __init__(
        self,
        script: Script = None,
        *,
        models: Sequence[str] | Mapping[str, ModelInfo] = ("llama3.2", "nomic-embed-text"),
        tokens_per_s: float = 0.0,
        ms_per_prompt_token: float = 0.0,
        max_parallel: int = 4,
        max_queue: int = 512,
        num_ctx: int = 4096,
    ) -> None:
        self.models = dict(models) if isinstance(models, Mapping) else {name: ModelInfo() for name in models}
        self.tokens_per_s = tokens_per_s
        self.ms_per_prompt_token = ms_per_prompt_token
        self.num_ctx = num_ctx
        self.requests: list[Request] = []
        self.wild: dict[str, Callable[[Handler], None]] = {}  # by path, what answers in place of the protocol
        self.peak = 0
        self.stopping = Event()
        self._play = player(script)
        self._slots = Semaphore(max_parallel)
        self._capacity = max_parallel + max_queue
        self._lock = Lock()
        self._waiting = self._running = 0
        self._port = 0
        self._open: set[socket] = set()
        self._listener: Listener | None = None
        self._thread: Thread | None = None

    @property
    def url(self) -> str:
        """The base URL, e.g. ``http://127.0.0.1:40913``."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def chats(self) -> list[Request]:
        """The chat requests so far, in order of arrival."""
        return [request for request in self.requests if request.path == "/api/chat"]

    def play(self, script: Script | Callable[[Request], Reply]) -> None:
        """Change the script; requests that arrive from now on follow it."""
        self._play = player(script)

    def reply_to(self, request: Request) -> Reply:
        """What the script answers to a request."""
        return self._play(request)

    def start(self) -> Self:
        """Listen; on the port of the first start when started again."""
        self.stopping.clear()
        self._listener = Listener(("127.0.0.1", self._port), Handler, self)
        self._port = self._listener.server_address[1]
        self._thread = Thread(target=self._listener.serve_forever, args=(0.02,), daemon=True, name="ollama-test")
        self._thread.start()
        return self

    def stop(self) -> None:
        """Die: refuse new connections and break the open ones."""
        if self._listener is None or self._thread is None:
            return
        self.stopping.set()
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()
        self._listener = self._thread = None
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            _hang_up(connection)

    def info(self, name: str) -> ModelInfo | None:
        """The pulled model of that name, with or without its ``:latest`` tag."""
        plain = name.removesuffix(":latest")
        return next((info for known, info in self.models.items() if known.removesuffix(":latest") == plain), None)

    def connected(self, connection: socket) -> None:
        """Remember an open connection (called by the handler)."""
        with self._lock:
            self._open.add(connection)

    def disconnected(self, connection: socket) -> None:
        """Forget a closed connection (called by the handler)."""
        with self._lock:
            self._open.discard(connection)

    def enter(self) -> bool:
        """Wait for one of the `max_parallel` places; False when the queue is full."""
        with self._lock:
            if self._waiting + self._running >= self._capacity:
                return False
            self._waiting += 1
        self._slots.acquire()
        with self._lock:
            self._waiting -= 1
            self._running += 1
            self.peak = max(self.peak, self._running)
        return True

    def leave(self) -> None:
        """Give the place back."""
        with self._lock:
            self._running -= 1
        self._slots.release()

    def remember(self, path: str, body: Mapping[str, Any]) -> Request:
        """Keep a request (called by the handler)."""
        request = Request(path, body, str(body.get("model", "")), messages=list(body.get("messages") or []))
        with self._lock:
            self.requests.append(request)
        return request

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _hang_up(connection: socket) -> None:
    try:
        connection.shutdown(SHUT_RDWR)
    except OSError:
        return  # the handler closed it meanwhile
