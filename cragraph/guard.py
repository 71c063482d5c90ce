"""Guards of our servers: allowed callers, sizes of requests, and listening addresses."""

import hmac
import os
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from secrets import token_urlsafe
from socket import AF_INET, AF_INET6, create_server
from threading import Timer
from types import FrameType
from typing import Any, Final
from urllib.parse import quote, urlsplit

from dotenv import dotenv_values
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from cragraph import trust
from cragraph.errors import SettingsError
from cragraph.models.chat import stop_all_calls

BODY: Final = 2 * 1024 * 1024  # bytes of a JSON request at most
COOKIE: Final = "cragraph_token"
VARIABLE: Final = "CRAG_TOKEN"
LOCAL: Final = ("127.0.0.1", "localhost", "::1")
LEAVES_S: Final = 1.5  # seconds after Ctrl-C within which a server ends; the store survives any kill
SHORTEST: Final = 16  # least characters of a token: a shorter one could be guessed by trying
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


# -- tokens ----------------------------------------------------------------------------------------------------------


def checked_token(token: str, name: str = "the token") -> str:
    """A valid token. Raises SettingsError for a token that is empty, short, or not allowed in a header."""
    if len(token.strip()) < SHORTEST or not re.fullmatch(r"[A-Za-z0-9._~+/=-]+", token):
        came = f"with {len(token)} characters" if token.strip() else "empty"
        raise SettingsError(
            f"{name} came {came}; wanted at least {SHORTEST} letters, digits or -._~+/=: give a longer one, or leave "
            "it out, and one is made up where others can reach the server."
        )
    return token


def token_for(host: str, token: str | None) -> str | None:
    """The token of a server at this address: the given one, else a random one if others can reach the address."""
    if token is not None:
        return checked_token(token, "--token")
    of_folder = {"token": dotenv_values(".env").get(VARIABLE)}
    if (found := os.environ.get(VARIABLE, trust.allowed(Path(".env"), of_folder).get("token"))) is not None:
        return checked_token(found, VARIABLE)
    return None if host in LOCAL else token_urlsafe(24)


# -- what comes in ---------------------------------------------------------------------------------------------------

_ESCAPES: Final = re.compile(
    r"\\(?:(u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def whole_json(text: str) -> str:
    """A JSON text with every escaped lone surrogate replaced by U+FFFD, because parsers refuse it or pass it on."""
    return _ESCAPES.sub(lambda escape: r"\ufffd" if escape[2] else escape[0], text)


class Guard:
    """Refuses requests for other hosts, from other sites, without the token, or too large, before anything reads them.

    A foreign page can make a browser call this server; the `Host` and `Origin` headers show it. `large` are requests
    (method, path) with a separate limit in bytes, which are passed on unread; all others are JSON.
    """

    def __init__(
        self, app: Any, *, token: str | None, hosts: tuple[str, ...], large: dict[tuple[str, str], int] | None = None
    ) -> None:
        self.app, self.hosts, self.large = app, hosts, large or {}
        self.token = None if token is None else checked_token(token)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass on allowed requests."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif answer := self._answer(Request(scope), at_home=scope["path"] == "/"):
            await answer(scope, receive, send)
        else:
            most = self.large.get((scope["method"], scope["path"]))
            limit, told = most or BODY, Headers(scope=scope).get("content-length", "")
            # A request that announces too much is refused before it is received.
            late = told.isdecimal() and int(told) > limit
            if late or not await self._passed(scope, receive, send, limit, as_json=most is None):
                why = f"The request is larger than {limit} bytes."
                await JSONResponse({"error": why}, 413)(scope, receive, send)

    def _answer(self, request: Request, *, at_home: bool) -> Response | None:
        """A refusal, or the cookie for a caller that opens the address with the token; None for an allowed request."""
        headers = request.headers
        if not self._ours(_at(f"//{headers.get('host', '')}")[1]):
            why = "This server does not answer for that host name: use the address that it printed."
            return JSONResponse({"error": why}, 421)
        elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site") and not at_home
        if elsewhere or ("origin" in headers and _at(headers["origin"])[0] != headers["host"]):
            return JSONResponse({"error": "Calls from other sites are refused."}, 403)
        if self.token is None:
            return None
        if at_home and self._right(*request.query_params.getlist("token")):
            moved = Response(status_code=303, headers={"location": "/"})
            moved.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return moved
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if self._right(given if scheme.casefold() == "bearer" else "", request.cookies.get(COOKIE, "")):
            return None
        why = "A token is wanted: open the address that the server printed, or send Authorization: Bearer TOKEN."
        return JSONResponse({"error": why}, 401)

    def _ours(self, host: str) -> bool:
        with suppress(ValueError):  # a foreign site reaches this server by a name that resolves here, not by an address
            return host in ("localhost", *self.hosts) or ip_address(host).is_loopback or bool(self.hosts)
        return False

    def _right(self, *given: str) -> bool:
        return any(hmac.compare_digest(value.encode(), (self.token or "").encode()) for value in given)

    async def _passed(
        self, scope: MutableMapping[str, Any], receive: Receive, send: Send, most: int, *, as_json: bool
    ) -> bool:
        seen, begun, late, read = 0, False, False, not as_json

        async def counted() -> MutableMapping[str, Any]:
            nonlocal seen, late
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                late = True
                raise _TooLargeError
            return message

        async def whole() -> MutableMapping[str, Any]:
            nonlocal read
            body = bytearray()
            while not read:
                message = await counted()
                if message["type"] != "http.request":
                    return message
                body += message.get("body", b"")
                if not message.get("more_body"):
                    read = True
                    mended = whole_json(body.decode("utf-8", "replace")).encode()
                    return {"type": "http.request", "body": mended, "more_body": False}
            return await counted()

        async def headed(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if late and not begun:
                raise _TooLargeError
            begun = True
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            await self.app(scope, whole, headed)
        except _TooLargeError:
            return False
        return True


class _TooLargeError(Exception):
    """A request beyond its limit."""


def _at(url: str) -> tuple[str, str]:
    """Host with port, and host name, of a URL; empty if it is none."""
    try:
        parts = urlsplit(url)
        return parts.netloc, parts.hostname or ""
    except ValueError:
        return "", ""


# -- where it listens ------------------------------------------------------------------------------------------------


def listen(
    app_for: Callable[[str | None, tuple[str, ...]], Any],
    *,
    host: str,
    port: int,
    token: str | None,
    tell: Callable[[str, str | None], None],
) -> None:
    """Serve an application until interrupted; `app_for` makes it from a token and the names of a reachable host.

    `tell` gets the address, without a path, and the token. Raises SettingsError if it cannot listen there.
    """
    import uvicorn

    if not host.strip():
        raise SettingsError("--host came empty; wanted an address of this machine, such as 127.0.0.1: give one.")
    token = token_for(host, token)
    try:
        listening = create_server((host, port), family=AF_INET6 if ":" in host else AF_INET)
    except OSError as error:
        raise SettingsError(f"{host}:{port} is taken, or not this machine's: give another --port or --host.") from error
    with listening:
        at = f"[{host}]" if ":" in host else host
        app = app_for(token, () if host in LOCAL else (host,))
        tell(f"http://{at}:{listening.getsockname()[1]}", token)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)

        class Server(uvicorn.Server):
            """Cancels waiting runs at the signal to end, and ends in time in any case."""

            def handle_exit(self, sig: int, frame: FrameType | None) -> None:
                stop_all_calls()
                timer = Timer(LEAVES_S, os._exit, [0])
                timer.daemon = True
                timer.start()
                super().handle_exit(sig, frame)

        with suppress(KeyboardInterrupt):
            Server(config).run(sockets=[listening])


def with_token(address: str, token: str | None) -> str:
    """The address to open in a browser."""
    return f"{address}/?token={quote(token, safe='')}" if token else f"{address}/"
