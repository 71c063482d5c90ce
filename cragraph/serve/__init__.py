"""The page and the HTTP interface: `create_app` for a server of your own, `cragraph serve` for the rest."""

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from queue import Queue
from secrets import token_hex
from threading import Thread
from typing import Annotated, Any, Final

from fastapi import FastAPI, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from cragraph import __version__
from cragraph.errors import CragError, InputError, SettingsError, StoreMissingError, encodable, printable
from cragraph.graph.context import OTHER_NAMES
from cragraph.graph.state import CragOutput
from cragraph.guard import Guard, checked_token, listen, with_token
from cragraph.library import LONGEST_ANSWER, MB
from cragraph.log import History
from cragraph.report import style
from cragraph.run import Assistant, Event
from cragraph.serve.dropped import Dropped
from cragraph.settings import Settings, context_schema
from cragraph.store.records import at_home

logger = logging.getLogger(__name__)

FAILED: Final = "The server failed; its log says why."


class Problem(BaseModel):
    """Why a request was not answered."""

    error: str


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

    answer: str = Field(max_length=LONGEST_ANSWER)
    passages: list[str | dict[str, Any]] = Field(max_length=2_000)
    question: str = ""


class Search(Body):
    """A query of the store."""

    query: str = Field(min_length=1, max_length=10_000)
    k: int = Field(default=5, ge=1, le=200)
    where: dict[str, Any] | None = None
    collection: str | list[str] | None = Field(default=None, description="Search these collections alone.")


class Move(Body):
    """A document, and the collection that it is to be in."""

    source: str = Field(min_length=1, description="As GET /documents has it.")
    to: str = Field(min_length=1, max_length=100)


class Rename(Body):
    """What a collection is to be called."""

    name: str = Field(min_length=1, max_length=100)


class Keep(Body):
    """What the answer of a kept question must say; none: what it says now."""

    expect: str | None = Field(default=None, max_length=2_000)


def create_app(settings: Settings, *, token: str | None = None, hosts: tuple[str, ...] = (), files_in: Path) -> FastAPI:
    """The application: `token` is asked of every request where it is set, dropped files are kept under `files_in`.

    Raises SettingsError for a token that keeps nobody out.
    """
    refused: dict[int | str, dict[str, Any]] = {
        code: {"description": text, "model": Problem}
        for code, text in {
            400: "What was asked cannot be done; `error` says why, as it does wherever something is refused.",
            404: "Nothing was ingested yet.",
            413: "The request is too large.",
            422: "The request has the wrong shape.",
            503: "A part is not available at present.",
        }.items()
    }
    app = FastAPI(
        title="cragraph",
        version=__version__,
        description="Cited answers from your own documents, every claim checked.",
        docs_url=None,
        redoc_url=None,
        responses=refused,
    )
    uploads = {("POST", "/documents"): int(settings.max_file_mb * MB)}
    token = None if token is None else checked_token(token)
    app.add_middleware(Guard, token=token, hosts=hosts, large=uploads)
    assistant, schema = Assistant(settings, "page"), context_schema(settings)
    page, dropped = files("cragraph.serve"), Dropped(at_home(files_in).resolve())

    @app.exception_handler(CragError)
    async def explained(request: Request, error: CragError) -> JSONResponse:
        codes = {InputError: 400, SettingsError: 400, StoreMissingError: 404}
        return JSONResponse({"error": str(error)}, codes.get(type(error), 503))

    @app.exception_handler(RequestValidationError)
    async def misshapen(request: Request, error: RequestValidationError) -> JSONResponse:
        # What came is not repeated: it may be long, and of a kind that JSON cannot hold.
        lines = dict.fromkeys(
            f"{'.'.join(map(str, e['loc'][1:])) or e['loc'][0]}: {e['msg'].replace('Input should be', 'wanted')}"
            for e in error.errors()
        )
        return JSONResponse({"error": encodable(printable("; ".join(lines)))}, 422)

    @app.exception_handler(HTTPException)
    async def refused_early(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": error.detail}, error.status_code, headers=error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": FAILED}, 500)

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
        return JSONResponse([*assistant.ask(body.question, messages=body.messages, context=body.options)][-1].response)

    @app.post("/ask/stream", response_class=StreamingResponse)
    def ask_stream(body: Ask) -> StreamingResponse:
        """The same as server-sent events: `begin`, `node` and `token` while it runs, then `done` or `error`.

        `done` has the `response` and its report as `html`. With the option `ask_on_low_confidence` it may be `review`
        instead, with what a person needs to decide as the `response`, and the `run` to go on with.
        """
        run = assistant.ask(body.question, messages=body.messages, context=body.options, person=True)
        return streamed(sse_of(run))

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
        return assistant.search(body.query, body.k, body.where, body.collection)

    @app.get("/documents")
    def documents() -> list[dict[str, Any]]:
        """What is in the store."""
        rows = [(d, Path(d.source)) for d in assistant.documents()]
        times = Counter(path.name for _, path in rows)  # of two with one name the folder says which
        return [
            {
                "source": d.source,
                "chunks": d.chunks,
                "left_out": d.left_out,
                "name": "/".join(path.parts[-min(times[path.name], 2) :]),
                "collection": d.collection,
            }
            for d, path in rows
        ]

    @app.get("/collections")
    def collections() -> list[dict[str, Any]]:
        """The collections of the store, the default one first, each with how many `documents` and `chunks` it has."""
        return [vars(held) for held in assistant.collections()]

    @app.post("/documents/move")
    def move(body: Move) -> dict[str, list[str]]:
        """Put a document into a collection, which is made where it is new."""
        if body.source not in {document.source for document in assistant.documents()}:
            raise InputError(f"There is no document {body.source!r:.200} in the store; see GET /documents.")
        return {"moved": assistant.parts.store.move([body.source], body.to)}

    @app.patch("/collections/{name}")
    def rename(name: str, body: Rename) -> dict[str, str]:
        """Call a collection otherwise."""
        return {"name": assistant.parts.store.rename(name, body.name)}

    @app.delete("/collections/{name}")
    def drop(name: str) -> dict[str, list[str]]:
        """Take a collection with all its documents out of the store; dropped files are deleted too."""
        removed = assistant.parts.store.drop(name)
        for path in map(Path, removed):
            dropped.discard(path)
        return {"removed": removed}

    @app.post("/documents", response_class=StreamingResponse)
    def ingest(
        file: UploadFile, collection: Annotated[str | None, Query(min_length=1, max_length=100)] = None
    ) -> StreamingResponse:
        """Read a file into the store; server-sent events: `progress`, then `done` with the report, or `error`.

        With a `collection` it goes into that one, which is made where it is new.

        A file takes the place of no other: `same_name` lists the documents of its name that are in as well. A file
        that cannot be read is not kept.
        """
        path, new = dropped.keep(file.filename, file.file)

        def ingest_events() -> Iterator[tuple[str, dict[str, Any]]]:
            steps: Queue[Any] = Queue()

            def work() -> None:
                came: Any = None
                try:
                    came = assistant.ingest([path], collection, progress=steps.put)
                except Exception as error:
                    came = error
                finally:
                    if new and not any(getattr(came, kind, ()) for kind in ("added", "changed", "unchanged")):
                        dropped.discard(path)
                    steps.put(came)

            Thread(target=work, daemon=True, name="cragraph-ingest").start()
            while not hasattr(step := steps.get(), "to_dict"):
                if isinstance(step, Exception):
                    raise step
                yield "progress", {"text": path.name, "chunks": step.chunks}
            others = [d.source for d in assistant.documents() if d.filename == path.name and d.source != str(path)]
            yield "done", step.to_dict() | {"same_name": others}

        return streamed(ingest_events())

    @app.delete("/documents")
    def forget(
        source: Annotated[str, Query(min_length=1)], collection: Annotated[str | None, Query(min_length=1)] = None
    ) -> dict[str, list[str]]:
        """Take a document out of the store, by its `source` as `GET /documents` has it; a dropped file is deleted too.

        Never more than that one: what forgets a folder is `cragraph forget`.
        """
        if source not in {document.source for document in assistant.documents()}:
            raise InputError(f"There is no document {source!r:.200} in the store; wanted a `source` of GET /documents.")
        removed = assistant.forget(source, collection)
        for path in map(Path, removed):
            dropped.discard(path)
        return {"removed": removed}

    @app.get("/history")
    def history(
        words: Annotated[str, Query(max_length=1_000)] = "", limit: Annotated[int, Query(ge=1, le=1_000)] = 50
    ) -> dict[str, Any]:
        """What was asked, newest first, that has all the words; `kept` says whether a log is kept at all."""
        log = assistant.history if settings.history else None
        return {
            "kept": settings.history,
            "entries": [entry.to_dict() for entry in log.entries(limit, words)] if log else [],
        }

    @app.delete("/history/{number}")
    def forget_entry(number: int) -> dict[str, int]:
        """Remove an entry from the log."""
        return {"forgotten": _log().forget([number])}

    @app.delete("/history")
    def forget_history() -> dict[str, int]:
        """Remove every entry from the log."""
        return {"forgotten": _log().forget()}

    @app.put("/history/{number}/kept")
    def keep_entry(number: int, body: Keep) -> dict[str, Any]:
        """Keep a question as a test of the documents, with what its answer must say: `cragraph eval mine` asks it."""
        return _log().keep(number, body.expect).to_dict()

    @app.delete("/history/{number}/kept")
    def let_entry_go(number: int) -> dict[str, int]:
        """Keep a question as a test no longer; it stays in the log."""
        _log().let_go(number)
        return {"let_go": number}

    def _log() -> History:
        if (log := assistant.history) is None:
            raise InputError("There is no log: there is no store for it to stand beside yet.")
        return log

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
                yield f"event: {kind}\ndata: {json.dumps(data)}\n\n"
        except Exception as error:  # the stream has begun: a status code is too late
            why = str(error) if isinstance(error, CragError) else FAILED
            if why == FAILED:
                logger.exception("a stream failed")
            told = {"error": why} | ({"missing": True} if isinstance(error, StoreMissingError) else {})
            yield f"event: error\ndata: {json.dumps(told)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"cache-control": "no-store"})


def run(
    settings: Settings, *, host: str, port: int, token: str | None, files_in: Path, tell: Callable[[str], None]
) -> None:
    """Serve until interrupted; `tell` gets the address. Where others can reach it, a token is made up."""
    listen(
        lambda token, hosts: create_app(settings, token=token, hosts=hosts, files_in=files_in),
        host=host,
        port=port,
        token=token,
        tell=lambda address, token: tell(with_token(address, token)),
    )
