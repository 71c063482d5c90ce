"""HTTP to model servers: no redirects, no proxy before private names, no endless replies."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, wait
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from threading import Event, Lock, Thread
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from cragraph.errors import ModelError, ModelStalledError, ModelUnavailableError, SettingsError
from cragraph.protocols import current_stop

Result = TypeVar("Result")

LARGEST: Final = 32 * 1024 * 1024  # bytes of a reply at most; a batch of embeddings has a few million
TOLD: Final = 1024 * 1024  # bytes of a description of a server or model at most
SCHEMES: Final = ("http", "https", "socks5", "socks5h")  # kinds of proxies that httpx knows
PRIVATE: Final = (".localhost", ".local", ".lan", ".internal", ".home", ".home.arpa", ".intranet", ".corp")
HELD_UP_S: Final = 20.0  # seconds within which the event loop of the calls must respond

_LOOPS: Final[dict[int, asyncio.AbstractEventLoop]] = {}
_LOCK: Final = Lock()


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in this process's event loop and return its result; an interrupted caller cancels it.

    Raises ModelStalledError if the loop itself is blocked. For example, the garbage collector may close a dropped run
    in the loop's thread, where the run waits for a call that waits for the loop.
    """
    process = os.getpid()
    with _LOCK:
        if process not in _LOOPS:
            _LOOPS[process] = asyncio.new_event_loop()
            Thread(target=_LOOPS[process].run_forever, daemon=True, name="cragraph-chat").start()

    async def stoppable() -> Result:
        task = asyncio.current_task()
        assert task is not None
        with current_stop().over(lambda: _LOOPS[process].call_soon_threadsafe(task.cancel)):
            return await work

    future = asyncio.run_coroutine_threadsafe(stoppable(), _LOOPS[process])
    try:
        while not wait([future], HELD_UP_S).done:
            alive = Event()
            _LOOPS[process].call_soon_threadsafe(alive.set)
            if not alive.wait(HELD_UP_S):
                raise ModelStalledError(
                    f"The thread that calls models has been held up for {HELD_UP_S:g} s, so this call was given up: "
                    "read the streams of graphs to their end, or close() them. Ask again."
                )
        return future.result()
    except CancelledError:
        raise ModelError("the model call was stopped, because the caller left.") from None
    except BaseException:
        future.cancel()
        raise


def is_private(url: str) -> bool:
    """Whether the host of a URL is this machine or, by its form, a host of the private network."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    try:
        address = ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(PRIVATE)
    return address.is_private or address.is_loopback or address.is_link_local


def proxy_of(url: str) -> tuple[str, str]:
    """The environment variable and address of the proxy for a URL; empty without a proxy."""
    parts, proxies = urlsplit(url), getproxies()
    if is_private(url) or proxy_bypass(parts.hostname or ""):
        return "", ""
    name = next((name for name in (parts.scheme, "all") if proxies.get(name)), "")
    return (f"{name.upper()}_PROXY", proxies[name]) if name else ("", "")


def in_the_way(url: str) -> str:
    """A part of a sentence on the proxy before a server; empty without a proxy."""
    variable, proxy = proxy_of(url) if url else ("", "")
    host = urlsplit(url).hostname
    return f"; calls go through the proxy {proxy} of {variable}: NO_PROXY={host} leaves it out" if variable else ""


def check_proxy(url: str) -> None:
    """Raise SettingsError if the proxy before a server is of an unsupported kind."""
    variable, proxy = proxy_of(url)
    scheme = proxy.partition("://")[0].lower() if "://" in proxy else "http"
    if variable and (scheme not in SCHEMES or (scheme.startswith("socks") and find_spec("socksio") is None)):
        wanted = "`pip install 'httpx[socks]'`" if scheme in SCHEMES else f"one of {', '.join(SCHEMES)}"
        host = urlsplit(url).hostname
        raise SettingsError(f"{variable} came as {proxy!r}, which cannot be used: wanted {wanted}, or NO_PROXY={host}.")


def client_options(url: str, timeout_s: float) -> dict[str, Any]:
    """Options of any HTTP client for a server: silence of `timeout_s` is a stall."""
    check_proxy(url)
    return {
        "timeout": httpx.Timeout(timeout_s, connect=min(10.0, timeout_s)),
        # A connection kept to a restarted server costs a failed call.
        "limits": httpx.Limits(max_keepalive_connections=0),
        "verify": url.startswith("https:"),  # loading certificates takes longer than everything else at start-up
        "trust_env": not is_private(url),
        "follow_redirects": False,
        "headers": {"accept-encoding": "identity"},
    }


def langchain_ollama() -> Any:
    """Import the package; its import makes a client, which fails for an unsupported kind of proxy."""
    hidden = {name: os.environ.pop(name) for name in [*os.environ] if name.lower().endswith("_proxy")}
    try:
        return import_module("langchain_ollama")
    finally:
        os.environ.update(hidden)


def ollama_options(url: str, timeout_s: float) -> dict[str, Any]:
    """Client options for LangChain's Ollama classes."""
    return {
        "client_kwargs": client_options(url, timeout_s),
        "sync_client_kwargs": _hooks(partial(_bound, most=LARGEST)),
        "async_client_kwargs": _hooks(partial(_bound_async, most=LARGEST)),
    }


def openai_options(url: str, timeout_s: float) -> dict[str, Any]:
    """HTTP clients for LangChain's classes of OpenAI's protocol."""
    given = client_options(url, timeout_s)
    return {
        "http_client": httpx.Client(**given, **_hooks(partial(_bound, most=LARGEST))),
        "http_async_client": httpx.AsyncClient(**given, **_hooks(partial(_bound_async, most=LARGEST))),
    }


def _hooks(bound: Callable[[httpx.Response], Any]) -> dict[str, Any]:
    return {"event_hooks": {"response": [bound]}}


def _bound(response: httpx.Response, most: int) -> None:
    """Limit a reply to `most` bytes, and refuse redirects."""
    asked = response.request.url
    if response.has_redirect_location:
        there = asked.join(response.headers["location"])
        raise ModelError(
            f"the server at {asked} answered {response.status_code} and points to {str(there)[:200]}; nothing was sent "
            "there: if that is your server, give its address (--base-url, OLLAMA_HOST)."
        )
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ModelError(f"the server at {asked} sent a compressed reply; wanted a plain one, as it was asked for.")
    response.stream = Bounded(response.stream, most, str(asked.copy_with(path="/", query=None)))


async def _bound_async(response: httpx.Response, most: int) -> None:
    _bound(response, most)


class Bounded(httpx.AsyncByteStream, httpx.SyncByteStream):
    """The bytes of a reply; raises ModelUnavailableError beyond the limit."""

    def __init__(self, stream: Any, most: int, server: str) -> None:
        self.stream, self.left, self.most, self.server = stream, most, most, server

    def _counted(self, piece: bytes) -> bytes:
        self.left -= len(piece)
        if self.left < 0:
            raise ModelUnavailableError(
                f"the server at {self.server} sent more than {self.most:,} bytes in one reply: look at its log."
            )
        return piece

    def __iter__(self) -> Iterator[bytes]:
        for piece in self.stream:
            yield self._counted(piece)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self.stream:
            yield self._counted(piece)

    def close(self) -> None:
        """Hang up."""
        self.stream.close()

    async def aclose(self) -> None:
        """Hang up."""
        await self.stream.aclose()


def fetched(url: str, body: Any = None, *, seconds: float, most: int = TOLD) -> httpx.Response:
    """The whole reply to a GET, or to a POST of JSON. Raises TimeoutError after `seconds`."""
    options = client_options(url, seconds) | _hooks(partial(_bound_async, most=most))

    async def whole() -> httpx.Response:
        async with asyncio.timeout(seconds), httpx.AsyncClient(**options) as client:
            return await client.request("GET" if body is None else "POST", url, json=body)

    return run(whole())


def json_of(response: httpx.Response) -> Any:
    """The JSON of a reply. Raises ValueError if it is no JSON, or nested too deeply."""
    try:
        return json.loads(response.content)
    except RecursionError:
        raise ValueError("nested too deeply") from None
