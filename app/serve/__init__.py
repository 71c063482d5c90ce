"""The page and the HTTP interface: `create_app` for a server of your own, `cragraph serve` for the rest."""

import hmac
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import suppress
from importlib.resources import files
from ipaddress import ip_address
from pathlib import Path
from queue import Queue
from secrets import token_hex, token_urlsafe
from shutil import copyfileobj
from socket import AF_INET, AF_INET6, create_server
from tempfile import NamedTemporaryFile
from threading import Thread
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from fastapi import FastAPI, Query, Request, UploadFile
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.datastructures import MutableHeaders

from cragraph import __version__
from cragraph.errors import CragError, InputError, SettingsError, StoreMissingError, plain
from cragraph.graph.context import OTHER_NAMES
from cragraph.graph.state import CragOutput
from cragraph.report import style
from cragraph.run import MB, Assistant, Event
from cragraph.settings import Settings, context_schema

BODY: Final = 2 * 1024 * 1024  # bytes of a JSON request at most
COOKIE: Final = "cragraph_token"
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Body(BaseModel):
    """A request; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


class Ask(Body):
    """A question to the documents."""

    question: str = Field(min_length=1, max_length=10_000)
    messages: list[dict[str, Any]] = Field(
        default=[], max_length=200, description="The conversation so far, as {role: user or assistant, content}."
    )
    options: dict[str, Any] = Field(default={}, description="Options of the run: see GET /options.")


class Decide(Body):
    """What a person chose to do with an answer that a run waits with."""

    run: str = Field(max_length=64, description="As the event `review` had it.")
    decision: str | dict[str, Any] = Field(description="accept, search, abstain, or an object as Studio takes it.")


class ToVerify(Body):
    """An answer, and the passages that it must be supported by."""

    answer: str = Field(max_length=200_000)
    passages: list[str | dict[str, Any]] = Field(max_length=2_000)
    question: str = ""


class Search(Body):
    """A query of the store."""

    query: str = Field(min_length=1, max_length=10_000)
    k: int = Field(default=5, ge=1, le=200)
    where: dict[str, Any] | None = None


def create_app(settings: Settings, *, token: str | None = None, hosts: tuple[str, ...] = (), files_in: Path) -> FastAPI:
    """The application: `token` is asked of every request where it is set, dropped files are kept under `files_in`."""
    app = FastAPI(
        title="cragraph",
        version=__version__,
        description="Cited answers from your own documents, every claim checked.",
        docs_url=None,
        redoc_url=None,
        responses={400: {"description": "What was asked cannot be done; `error` says why."}},
    )
    app.add_middleware(Guard, token=token, hosts=hosts, most=int(settings.max_file_mb * MB))
    assistant, schema = Assistant(settings), context_schema(settings)
    page = files("cragraph.serve")

    @app.exception_handler(CragError)
    async def explained(request: Request, error: CragError) -> JSONResponse:
        codes = {InputError: 400, SettingsError: 400, StoreMissingError: 404}
        return JSONResponse({"error": str(error)}, codes.get(type(error), 503))

    def checked(options: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return dict(schema(**options).model_dump(exclude_unset=True))
        except ValueError as error:
            raise InputError(f"The options cannot be used: {error}") from None

    def sse_of(run: Iterator[Event]) -> Iterator[tuple[str, dict[str, Any]]]:
        for event in run:
            if event.kind not in ("done", "review"):
                yield event.kind, {"node": event.node, "text": event.text}
                continue
            html = assistant.report(event, f"m{token_hex(4)}-").fragment
            yield event.kind, {"response": event.response, "html": html} | ({"run": event.text} if event.text else {})

    @app.post("/ask", response_model=CragOutput)
    def ask(body: Ask) -> Any:
        """Answer a question, with citations, verdicts and a confidence."""
        return [*assistant.ask(body.question, messages=body.messages, context=checked(body.options))][-1].response

    @app.post("/ask/stream", response_class=StreamingResponse)
    def ask_stream(body: Ask) -> StreamingResponse:
        """The same as server-sent events: `begin`, `node` and `token` while it runs, then `done` or `error`.

        `done` has the `response` and its report as `html`. With the option `ask_on_low_confidence` it may be `review`
        instead, with what a person needs to decide as the `response`, and the `run` to go on with.
        """
        options = checked(body.options)
        return streamed(sse_of(assistant.ask(body.question, messages=body.messages, context=options, person=True)))

    @app.post("/ask/resume", response_class=StreamingResponse)
    def ask_resume(body: Decide) -> StreamingResponse:
        """Go on with a run that waits, as a person chose; the same events."""
        return streamed(sse_of(assistant.resume(body.run, body.decision)))

    @app.post("/verify")
    def verify(body: ToVerify) -> dict[str, Any]:
        """Judge every claim of an answer against passages."""
        return assistant.verify(body.answer, body.passages, body.question).to_dict()

    @app.post("/search")
    def search(body: Search) -> list[dict[str, Any]]:
        """The best passages for a query, without answering."""
        return assistant.search(body.query, body.k, body.where)

    @app.get("/documents")
    def documents() -> list[dict[str, Any]]:
        """What is in the store."""
        rows = [(d, Path(d.source)) for d in assistant.documents()]
        times = Counter(path.name for _, path in rows)  # of two with one name the folder says which
        return [
            {"source": d.source, "chunks": d.chunks, "name": "/".join(path.parts[-min(times[path.name], 2) :])}
            for d, path in rows
        ]

    @app.post("/documents", response_class=StreamingResponse)
    def ingest(file: UploadFile) -> StreamingResponse:
        """Read a file into the store; server-sent events: `progress`, then `done` with the report, or `error`."""
        name = Path((file.filename or "").replace("\\", "/")).name
        if not name or name.startswith("."):
            raise InputError(f"The file came as {file.filename!r}; wanted a name such as report.pdf.")
        files_in.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=files_in, prefix=".", delete=False) as kept:
            copyfileobj(file.file, kept)
        path = Path(kept.name).replace(files_in / name)

        def ingest_events() -> Iterator[tuple[str, dict[str, Any]]]:
            steps: Queue[Any] = Queue()

            def work() -> None:
                try:
                    steps.put(assistant.ingest([path], progress=steps.put))
                except Exception as error:
                    steps.put(error)

            Thread(target=work, daemon=True, name="cragraph-ingest").start()
            while not hasattr(step := steps.get(), "to_dict"):
                if isinstance(step, Exception):
                    raise step
                yield "progress", {"text": plain(str(step.source)), "chunks": step.chunks}
            yield "done", step.to_dict()

        return streamed(ingest_events())

    @app.delete("/documents")
    def forget(source: Annotated[str, Query(min_length=1)]) -> dict[str, list[str]]:
        """Take a document out of the store; a dropped file is deleted as well."""
        removed = assistant.forget(source)
        for path in map(Path, removed):
            if path.parent == files_in.resolve():
                path.unlink(missing_ok=True)
        return {"removed": removed}

    @app.get("/options")
    def options() -> dict[str, Any]:
        """The options of a run, as a JSON schema."""
        form = schema.model_json_schema()
        for name in OTHER_NAMES:  # each option stands once
            del form["properties"][name]
        form["properties"]["show_claims"]["default"] = True
        return form

    for path, name, kind, before in (
        ("/", "page.html", "text/html", ""),
        ("/page.js", "page.js", "text/javascript", ""),
        ("/page.css", "page.css", "text/css", style()),
    ):
        content = before + page.joinpath(name).read_text(encoding="utf-8")
        app.get(path, include_in_schema=False)(_fixed(content, kind))
    return app


def _fixed(content: str, kind: str) -> Callable[[], Response]:
    return lambda: Response(content, media_type=kind)


def streamed(events: Iterator[tuple[str, dict[str, Any]]]) -> StreamingResponse:
    """Server-sent events; what goes wrong is the last of them."""

    def lines() -> Iterator[str]:
        try:
            for kind, data in events:
                yield f"event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
        except Exception as error:  # the stream has begun: a status code is too late
            why = str(error) if isinstance(error, CragError) else f"{type(error).__name__}: {plain(str(error))}"
            yield f"event: error\ndata: {json.dumps({'error': why})}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"cache-control": "no-store"})


class Guard:
    """Refuses requests for other hosts, from other sites, without the token, or too large, before anything reads them.

    A page elsewhere can make a browser call this server; the `Host` and `Origin` headers tell.
    """

    def __init__(self, app: Any, *, token: str | None, hosts: tuple[str, ...], most: int) -> None:
        self.app, self.token, self.hosts, self.most = app, token, hosts, most

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Pass on what is allowed."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif answer := self._answer(Request(scope), at_home=scope["path"] == "/"):
            await answer(scope, receive, send)
        else:
            most = self.most if (scope["method"], scope["path"]) == ("POST", "/documents") else BODY
            if not await self._passed(scope, receive, send, most):
                await JSONResponse({"error": f"The request is larger than {most} bytes."}, 413)(scope, receive, send)

    def _answer(self, request: Request, *, at_home: bool) -> Response | None:
        """A refusal, or the cookie for who opens the address with the token; None for what may pass."""
        headers = request.headers
        if not self._ours(urlsplit(f"//{headers.get('host', '')}").hostname or ""):
            why = "This server does not answer for that host name: use the address that it printed."
            return JSONResponse({"error": why}, 421)
        elsewhere = headers.get("sec-fetch-site") in ("cross-site", "same-site") and not at_home
        if elsewhere or ("origin" in headers and urlsplit(headers["origin"]).netloc != headers["host"]):
            return JSONResponse({"error": "Calls from other sites are refused."}, 403)
        if self.token is None:
            return None
        if at_home and self._right(*request.query_params.getlist("token")):
            moved = Response(status_code=303, headers={"location": "/"})
            moved.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return moved
        if self._right(headers.get("authorization", "").removeprefix("Bearer "), request.cookies.get(COOKIE, "")):
            return None
        why = "A token is wanted: open the address that the server printed, or send Authorization: Bearer TOKEN."
        return JSONResponse({"error": why}, 401)

    def _ours(self, host: str) -> bool:
        with suppress(ValueError):  # another site gets past a browser by a name that leads here, not by an address
            return host in ("localhost", *self.hosts) or ip_address(host).is_loopback or bool(self.hosts)
        return False

    def _right(self, *given: str) -> bool:
        return any(hmac.compare_digest(value.encode(), (self.token or "").encode()) for value in given)

    async def _passed(self, scope: MutableMapping[str, Any], receive: Receive, send: Send, most: int) -> bool:
        seen, begun, late = 0, False, False

        async def counted() -> MutableMapping[str, Any]:
            nonlocal seen, late
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > most:
                late = True
                raise _TooLargeError
            return message

        async def headed(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if late and not begun:
                raise _TooLargeError
            begun = True
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        try:
            await self.app(scope, counted, headed)
        except _TooLargeError:
            return False
        return True


class _TooLargeError(Exception):
    """A request that goes on beyond its limit."""


def run(
    settings: Settings, *, host: str, port: int, token: str | None, files_in: Path, tell: Callable[[str], None]
) -> None:
    """Serve until interrupted; `tell` gets the address. Where others can reach it, a token is made up."""
    import uvicorn

    if token is None and host not in LOCAL:
        token = token_urlsafe(24)
    try:
        listening = create_server((host, port), family=AF_INET6 if ":" in host else AF_INET)
    except OSError as error:
        raise SettingsError(f"{host}:{port} is taken, or not this machine's: give another --port or --host.") from error
    at = f"[{host}]" if ":" in host else host
    tell(f"http://{at}:{listening.getsockname()[1]}/{f'?token={token}' if token else ''}")
    app = create_app(settings, token=token, hosts=() if host in LOCAL else (host,), files_in=files_in)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])


LOCAL: Final = ("127.0.0.1", "localhost", "::1")
