"""The routes of the page and the HTTP interface, by concern: asking, the library, the log, the page."""

import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from importlib.resources import files
from pathlib import Path
from queue import Queue
from secrets import token_hex
from threading import Thread
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, UploadFile
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, model_validator
from starlette.concurrency import run_in_threadpool

from cragraph.errors import CragError, InputError, StoreMissingError
from cragraph.graph.context import OTHER_NAMES
from cragraph.graph.state import CragOutput
from cragraph.library import LONGEST_ANSWER
from cragraph.log import History
from cragraph.report import style
from cragraph.run import Assistant, Event
from cragraph.serve.desk import Desk, Events
from cragraph.serve.dropped import Dropped
from cragraph.settings import Settings, context_schema
from cragraph.types import Mode

logger = logging.getLogger(__name__)

FAILED: Final = "The server failed; its log says why."


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
    enable_verification: bool | None = Field(default=None, description="Another name of the option `verify`.")
    inference_mode: Mode | None = Field(default=None, description="Another name of the option `mode`.")
    query: str | None = Field(
        default=None,
        description="Another name of `question`. The response then has its citations as `sources` too, and, unless "
        "`options` choose another policy, the `weighted` one's fields under `verification`.",
    )

    @model_validator(mode="before")
    @classmethod
    def _query_is_the_question(cls, data: Any) -> Any:
        return {"question": data["query"], **data} if isinstance(data, Mapping) and "query" in data else data

    def chosen(self) -> dict[str, Any]:
        """The options of the run under either name; those in `options` go first."""
        named = {"enable_verification": self.enable_verification, "inference_mode": self.inference_mode}
        policy = {"policy": "weighted"} if self.query is not None else {}
        return policy | {name: value for name, value in named.items() if value is not None} | self.options


class Decide(Body):
    """A person's choice for the answer of a waiting run."""

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
    """A document and its new collection."""

    source: str = Field(min_length=1, description="As GET /documents has it.")
    to: str = Field(min_length=1, max_length=100)


class Rename(Body):
    """The new name of a collection."""

    name: str = Field(min_length=1, max_length=100)


class Keep(Body):
    """The text that the answer of a kept question must have; by default the present answer."""

    expect: str | None = Field(default=None, max_length=2_000)


def asking(assistant: Assistant, desk: Desk) -> APIRouter:
    """Routes for questions, verification and searches, which run at the desk."""
    routes = APIRouter()

    async def begun(body: Ask, *, person: bool = False, **defaults: Any) -> Iterator[Event]:
        given: Any = {"messages": body.messages, "context": defaults | body.chosen(), "person": person}
        return await run_in_threadpool(assistant.ask, body.question, **given)

    def sse_of(run: Iterator[Event], *, html: bool = True) -> Events:
        for event in run:
            if event.kind not in ("done", "review"):
                yield event.kind, {"node": event.node, "text": event.text}
                continue
            shown = {"html": assistant.report(event, f"m{token_hex(4)}-").fragment} if html else {}
            yield event.kind, {"response": event.response} | shown | ({"run": event.text} if event.text else {})

    @routes.post("/ask", response_model=CragOutput)
    async def ask(body: Ask, request: Request) -> Any:
        """Answer a question, with citations and a confidence; with the verdict on each claim under `show_claims`."""
        run = await begun(body, show_claims=assistant.settings.show_claims)
        response = (await desk.last(request, lambda: sse_of(run, html=False)))["response"]
        return JSONResponse(response | ({} if body.query is None else {"sources": response["citations"]}))

    @routes.post("/ask/stream", response_class=StreamingResponse)
    async def ask_stream(body: Ask, request: Request) -> StreamingResponse:
        """The same as server-sent events: `begin`, `node` and `token` while it runs, then `done` or `error`.

        `waiting` comes first if other runs go before, with their number. `done` has the `response` and its report as
        `html`. With `on_low_confidence` ask the last event may be `review`, with the data for a person's
        decision as the `response`, and the name of the waiting `run`.
        """
        run = await begun(body, person=True)
        return streamed(desk.events(request, lambda: sse_of(run)))

    @routes.post("/ask/resume", response_class=StreamingResponse)
    async def ask_resume(body: Decide, request: Request) -> StreamingResponse:
        """Go on with a waiting run by a person's choice; the same events."""
        run = await run_in_threadpool(assistant.resume, body.run, body.decision)
        return streamed(desk.events(request, lambda: sse_of(run)))

    @routes.post("/verify")
    async def verify(body: ToVerify, request: Request) -> dict[str, Any]:
        """Judge each claim of an answer against passages."""
        given = body.answer, body.passages, body.question
        found: dict[str, Any] = await desk.done(request, lambda: assistant.verify(*given).to_dict())
        return found

    @routes.post("/search")
    async def search(body: Search, request: Request) -> list[dict[str, Any]]:
        """The best passages for a query, without answering."""
        given = body.query, body.k, body.where, body.collection
        found: list[dict[str, Any]] = await desk.done(request, lambda: assistant.search(*given))
        return found

    return routes


def library(assistant: Assistant, dropped: Dropped, desk: Desk) -> APIRouter:
    """Routes for the documents and collections of the store; files are read at a separate desk."""
    routes = APIRouter()

    @routes.get("/documents")
    def documents() -> list[dict[str, Any]]:
        """The documents in the store."""
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

    @routes.get("/collections")
    def collections() -> list[dict[str, Any]]:
        """The collections of the store, the default one first, each with its number of `documents` and `chunks`."""
        return [vars(held) for held in assistant.collections()]

    @routes.post("/documents/move")
    def move(body: Move) -> dict[str, list[str]]:
        """Move a document into a collection, new or not."""
        if body.source not in {document.source for document in assistant.documents()}:
            raise InputError(f"There is no document {body.source!r:.200} in the store; see GET /documents.")
        return {"moved": assistant.parts.store.move([body.source], body.to)}

    @routes.patch("/collections/{name}")
    def rename(name: str, body: Rename) -> dict[str, str]:
        """Rename a collection."""
        return {"name": assistant.parts.store.rename(name, body.name)}

    @routes.delete("/collections/{name}")
    def drop(name: str) -> dict[str, list[str]]:
        """Remove a collection with all its documents from the store; dropped files are deleted too."""
        removed = assistant.parts.store.drop(name)
        for path in map(Path, removed):
            dropped.discard(path)
        return {"removed": removed}

    @routes.post("/documents", response_class=StreamingResponse)
    def ingest(
        request: Request,
        file: UploadFile,
        collection: Annotated[str | None, Query(min_length=1, max_length=100)] = None,
    ) -> StreamingResponse:
        """Read a file into the store; server-sent events: `progress`, then `done` with the report, or `error`.

        With a `collection`, new or not, the file goes into it.

        A file replaces no other: `same_name` lists the other documents of its name. A file that cannot be read is not
        kept.
        """
        path, new = dropped.keep(file.filename, file.file, lambda: {d.source for d in assistant.documents()})

        def ingest_events() -> Events:
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
                    dropped.settle(path)
                    steps.put(came)

            Thread(target=work, daemon=True, name="cragraph-ingest").start()
            while not hasattr(step := steps.get(), "to_dict"):
                if isinstance(step, Exception):
                    raise step
                yield "progress", {"text": path.name, "chunks": step.chunks}
            others = [d.source for d in assistant.documents() if d.filename == path.name and d.source != str(path)]
            yield "done", step.to_dict() | {"same_name": others}

        return streamed(desk.events(request, ingest_events))

    @routes.delete("/documents")
    def forget(
        source: Annotated[str, Query(min_length=1)], collection: Annotated[str | None, Query(min_length=1)] = None
    ) -> dict[str, list[str]]:
        """Remove a document from the store, by its `source` in `GET /documents`; a dropped file is deleted too.

        Only this one document: `cragraph forget` removes folders.
        """
        if source not in {document.source for document in assistant.documents()}:
            raise InputError(f"There is no document {source!r:.200} in the store; wanted a `source` of GET /documents.")
        removed = assistant.forget(source, collection)
        for path in map(Path, removed):
            dropped.discard(path)
        return {"removed": removed}

    return routes


def history(assistant: Assistant) -> APIRouter:
    """Routes for the log of questions."""
    routes = APIRouter()

    @routes.get("/history")
    def entries(
        words: Annotated[str, Query(max_length=1_000)] = "",
        limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
        skip: Annotated[int, Query(ge=0, le=1_000_000_000, description="Entries to leave out, from the newest.")] = 0,
    ) -> dict[str, Any]:
        """The questions with all these words, newest first; `kept` says whether there is a log."""
        log = assistant.history if assistant.settings.history else None
        return {
            "kept": assistant.settings.history,
            "entries": [entry.to_dict() for entry in log.entries(limit, words, skip=skip)] if log else [],
        }

    @routes.delete("/history/{number}")
    def forget_entry(number: int) -> dict[str, int]:
        """Remove an entry from the log."""
        return {"forgotten": _log().forget([number])}

    @routes.delete("/history")
    def forget_history() -> dict[str, int]:
        """Remove every entry from the log."""
        return {"forgotten": _log().forget()}

    @routes.put("/history/{number}/kept")
    def keep_entry(number: int, body: Keep) -> dict[str, Any]:
        """Keep a question as a test of the documents, with the text of its answer: `cragraph log --check` asks it
        again."""
        return _log().keep(number, body.expect).to_dict()

    @routes.delete("/history/{number}/kept")
    def let_entry_go(number: int) -> dict[str, int]:
        """Stop keeping a question as a test; it stays in the log."""
        _log().let_go(number)
        return {"let_go": number}

    def _log() -> History:
        if (log := assistant.history) is None:
            raise InputError("There is no log yet: no document was ingested.")
        return log

    return routes


def page(settings: Settings) -> APIRouter:
    """The page, its style and script, and the options that it shows."""
    routes, schema, home = APIRouter(), context_schema(settings), files("cragraph.serve")

    @routes.get("/options")
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
        content = before + home.joinpath(name).read_text(encoding="utf-8")
        routes.get(path, include_in_schema=False)(_fixed(content, kind))
    return routes


def _fixed(content: str, kind: str) -> Callable[[], Response]:
    return lambda: Response(content, media_type=kind)


def streamed(events: AsyncIterator[tuple[str, dict[str, Any]]]) -> StreamingResponse:
    """Server-sent events; an error is the last of them."""

    async def lines() -> AsyncIterator[str]:
        try:
            async with aclosing(events) as steps:  # type: ignore[type-var]
                async for kind, data in steps:
                    yield f"event: {kind}\ndata: {json.dumps(data)}\n\n"
        except Exception as error:  # the stream has begun: it is too late for a status code
            why = str(error) if isinstance(error, CragError) else FAILED
            if why == FAILED:
                logger.exception("a stream failed")
            told = {"error": why} | ({"missing": True} if isinstance(error, StoreMissingError) else {})
            yield f"event: error\ndata: {json.dumps(told)}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream", headers={"cache-control": "no-store"})
