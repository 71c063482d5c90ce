"""One question through the graph, event by event, for the shell, the page, the chat and the tools."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from secrets import token_hex
from threading import Thread
from typing import Any, Final, Literal

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cragraph.errors import InputError, StoreError, StoreMissingError
from cragraph.graph.context import Context, options_of
from cragraph.graph.state import CragOutput
from cragraph.library import Library
from cragraph.log import UNWRITTEN, entry_of
from cragraph.loop import graph_of
from cragraph.nodes.finalize import Ways, without_claims
from cragraph.report import Report
from cragraph.types import IDK, Passage, number_of

WAYS: Final = {
    "shell": Ways("a filter (--where, --source)", "a chat model (--model ollama:NAME)"),
    "chat": Ways("a filter", "a chat model (/model ollama:NAME)"),
    "page": Ways("fewer documents", "a chat model, which whoever started this page can choose"),
}
"""Advice after an abstention, in words for the place of the question."""
NARROWS: Final = ("where", "sources", "collection")  # options that limit the sources of an answer
MOST_WAITING: Final = 100  # waiting runs that are kept for a person's decision at most; the oldest are dropped


@dataclass(frozen=True)
class Event:
    """An event of a run. `begin` and `node` name a node, the latter with a line in `text`; `token` is a piece
    of text that a node writes: `finalize` the decided answer, any other node a draft.

    The last event is `done`, with the response and the passages read; or `review`, with the data for a person's
    decision as the response, and the name of the waiting run as `text`.
    """

    kind: Literal["begin", "node", "token", "review", "done"]
    node: str = ""
    text: str = ""
    response: dict[str, Any] = field(default_factory=dict)
    passages: Sequence[Passage] = ()


Steps = Iterator[tuple[str, Any]]
"""The steps of a run: ("begin", node), ("token", (node, text)), ("node", (node, update)), ("state", fields), and
("review", fields) if it waits for a person."""

_OPEN: Final[set[Any]] = set()
"""The open streams of graphs, kept here so that the garbage collector does not close them."""


def streamed(graph: Any, inputs: Any, context: Context, thread: str = "") -> Steps:
    """The steps of a compiled graph.

    If the caller stops reading the stream, a separate thread closes it. Closing waits for the running node, and the
    caller may be the garbage collector in the very thread that the node's model call waits for.
    """
    config = {"configurable": {"thread_id": thread}} if thread else None
    modes = ["tasks", "updates", "values", "messages"]
    stream = graph.stream(inputs, config, context=context, stream_mode=modes)
    _OPEN.add(stream)
    waits = False
    try:
        for kind, event in stream:
            if kind == "tasks" and "input" in event:
                yield "begin", event["name"]
            elif kind == "values":
                yield "state", event
            elif kind == "messages" and isinstance(event[0].content, str) and event[0].content:
                yield "token", (event[1].get("langgraph_node", ""), event[0].content)
            elif kind == "updates" and "__interrupt__" in event:
                waits = True
                yield "review", event["__interrupt__"][0].value
            elif kind == "updates":
                for node, update in event.items():
                    yield "node", (node, update or {})
    except GeneratorExit:
        if not sys.is_finalizing():  # the interpreter is ending: no thread can start
            forget = partial(graph.checkpointer.delete_thread, thread) if thread and not waits else None
            Thread(target=_close, args=(stream, forget), daemon=True, name="cragraph-close").start()
        raise
    except BaseException:
        _OPEN.discard(stream)
        raise
    _OPEN.discard(stream)


def _close(stream: Any, forget: Callable[[], None] | None) -> None:
    """Close a stream; the saved state of a run that cannot be resumed is deleted after it."""
    try:
        stream.close()
        if forget is not None:
            forget()
    finally:
        _OPEN.discard(stream)


def events(steps: Steps, run: str = "", *, hides: bool = False) -> Iterator[Event]:
    """The events of a run. Raises StoreMissingError if there was nothing to search.

    `hides` leaves the claims of an answer that is withheld out of the response.
    """
    response: Mapping[str, Any] = {}
    taken: Mapping[str, float] = {}
    read: dict[str, Passage] = {}
    waits = False
    for kind, what in steps:
        if kind == "begin":
            yield Event("begin", what)
        elif kind == "token":
            yield Event("token", *what)
        elif kind == "state":
            response, taken = what, what.get("timings_ms", {})
            read |= {p["chunk_id"]: p for attempt in what.get("attempts", []) for p in attempt.get("context", [])}
        elif kind == "review":
            yield Event("node", "review", "waits for you")
            yield Event("review", text=run, response=what, passages=[*read.values()])
            waits = True  # the stream is read to its end, so that the state for resuming is saved
        else:
            node, update = what
            if hides and update.get("queries"):  # the failed claims are searched for
                update = update | {"queries": [f"{len(update['queries'])} targeted queries"]}
            yield Event("node", node, described(node, update, taken))
    if waits:
        return
    if response["halted"] and not response["attempts"]:
        raise StoreMissingError(response["halted"])
    shown = {name: response[name] for name in CragOutput.model_fields}
    if hides and shown["abstained"]:
        shown = without_claims(shown)
    yield Event("done", response=shown, passages=[*read.values()])


@dataclass
class Assistant(Library):
    """The graph and the store of some settings, kept open for many questions.

    With a `door` (shell, page, …), its questions go into the log beside the store.
    """

    door: str = ""
    waiting: dict[str, Context] = field(default_factory=dict)  # the options of the runs that wait for a person, by name
    talks: dict[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)  # the conversations before them

    @cached_property
    def builder(self) -> Any:
        """The graph, uncompiled."""
        return graph_of(self.parts, WAYS.get(self.door, Ways()))

    @cached_property
    def graph(self) -> Any:
        """The compiled graph."""
        return self.builder.compile()

    @cached_property
    def memory(self) -> Any:
        """The checkpointer of runs that wait for a person."""
        return InMemorySaver()

    def ask(
        self,
        question: str,
        *,
        messages: Sequence[Mapping[str, Any]] = (),
        context: Mapping[str, Any] | None = None,
        person: bool = False,
    ) -> Iterator[Event]:
        """Answer a question, after the messages of a conversation if there are any, with all claims.

        With `abstain`, the claims of a withheld answer are left out, unless `show_claims` asks for them. `person` says
        that somebody is there to be asked (`on_low_confidence`); then the events may end in `review`, and go on with
        `resume`.
        """
        inputs: dict[str, Any] = {"question": question} | ({"messages": list(messages)} if messages else {})
        nobody = {} if person or not self.settings.asks else {"on_low_confidence": "doubt"}
        given = {"show_claims": True} | nobody | dict(context or {})
        options = options_of(given)
        whole = options.over(self.settings.context())
        return self._logged(self._run(inputs, options, whole, context, person), messages, whole)

    def _run(
        self, inputs: dict[str, Any], options: Context, whole: Context, given: Mapping[str, Any] | None, person: bool
    ) -> Iterator[Event]:
        if not whole.asks:
            asked = "show_claims" in (given or {}) or self.settings.show_claims
            hides = whole.on_low_confidence == "abstain" and not asked
            return events(streamed(self.graph, inputs, options), hides=hides)
        if not person:
            raise InputError(
                "on_low_confidence came as ask where nobody can be asked: use the page of `cragraph serve`, "
                "`cragraph chat --ask`, Studio, or a graph with a checkpointer."
            )
        return self._asked(inputs, token_hex(8), options)

    def resume(self, run: str, decision: Any) -> Iterator[Event]:
        """Go on with a waiting run by a person's choice. Raises InputError for an unknown run."""
        if (options := self.waiting.pop(run, None)) is None:
            raise InputError("There is no waiting run of this name: ask the question again.")
        whole = options.over(self.settings.context())
        return self._logged(self._asked(Command(resume=decision), run, options), self.talks.get(run, ()), whole)

    def _asked(self, inputs: Any, run: str, options: Context) -> Iterator[Event]:
        graph, waits = self.builder.compile(checkpointer=self.memory), False
        try:
            for event in events(streamed(graph, inputs, options, run), run):
                if waits := event.kind == "review":
                    self.waiting[run] = options
                yield event
        finally:
            for gone in [*[*self.waiting][:-MOST_WAITING], *([] if waits else [run])]:
                self.waiting.pop(gone, None)
                self.memory.delete_thread(gone)

    def _logged(self, run: Iterator[Event], messages: Sequence[Mapping[str, Any]], context: Context) -> Iterator[Event]:
        """The events of a run, whose response is logged; a failure to log is noted in the response."""
        for event in run:
            if event.kind == "review":
                self.talks = {name: said for name, said in self.talks.items() if name in self.waiting}
                self.talks[event.text] = messages
            if event.kind == "done" and self.door and self.settings.history and (history := self.history):
                narrowed = {name: getattr(context, name) for name in NARROWS}
                try:
                    history.add(entry_of(event.response, self.door, messages, narrowed))
                except StoreError as error:
                    told = [*event.response["degraded"], UNWRITTEN.format(reason=error)]
                    event = replace(event, response=event.response | {"degraded": told})
            yield event

    def report(self, done: Event, prefix: str = "") -> Report:
        """The report of an answer, with the text around its evidence."""
        if self.parts.foreign:
            return Report(done.response, done.passages, prefix=prefix)
        held = self.parts.store
        beside = partial(held.adjacent, before=1, after=1)
        return Report(done.response, done.passages, neighbours=beside, files=held.files, prefix=prefix)


# -- what a node did, in one line --------------------------------------------------------------------------------


def described(node: str, update: Mapping[str, Any], before: Mapping[str, float]) -> str:
    """One line on a node's result; `before` has the milliseconds of its earlier passes."""
    passages: list[Passage] = update.get("held") or []
    line = ""
    match node:
        case "retrieve":
            searched = update.get("searched") or []
            line = number_of(len(passages), "passage")
            line += f" for {len(searched)} targeted queries" if len(searched) > 1 else ""
        case "rerank":
            line = f"kept {len(passages)}, {update.get('new_passages', 0)} of them new"
        case "generate":
            line = number_of(len(update.get("drafts") or []), "draft")
        case "verify":
            last = update["attempts"][-1]
            line = "no answer to judge" if last["answer"] == IDK else "off"
            if last["answer"] != IDK and last["confidence"] is not None:
                line = f"{last['claims_supported']}/{last['claims_checked']} claims supported, "
                line += f"confidence {last['confidence']:.2f}, {last['decision']['outcome']}"
        case "requery":
            line = "; ".join(update.get("queries") or ["nothing to search for that was not searched before"])
        case "review":
            line = update.get("decided", "waits for you")
        case "finalize":
            line = (update.get("decision") or {"outcome": "answered"})["outcome"]
            line += "" if update.get("accepted") is not False else f": {update['stopped']}"
    ms = update.get("timings_ms", {}).get(node)
    return line + (f" · {ms - before.get(node, 0.0):.0f} ms" if ms is not None else "")
