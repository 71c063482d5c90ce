"""The shape of the loop. Nodes are arguments, so that it is tested with plain functions."""

import re
import time
from asyncio import get_running_loop, to_thread
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Final, Literal, cast

from langchain_core.callbacks.manager import CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import get_callback_manager_for_config
from langgraph.channels import EphemeralValue
from langgraph.config import get_config
from langgraph.constants import TAG_NOSTREAM
from langgraph.errors import NodeError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from cragraph.errors import InputError
from cragraph.graph import routing
from cragraph.graph.context import MAX_ATTEMPTS, OTHER_NAMES, Context, options_of
from cragraph.graph.state import CragInput, CragOutput, Response, State, VerifyInput, VerifyOutput, VerifyState
from cragraph.passages import place_of
from cragraph.protocols import CALLERS_LOOP, Notes, deadline
from cragraph.types import doubt_of

Act = Callable[[Any, Context, Notes], dict[str, Any]]
"""One step of the loop: reads state and resolved options, writes notes, and returns the changed fields."""

Node = Callable[[Any, Runtime[Context]], dict[str, Any]]

UNRESCUED: Final = ("review", "finalize")  # nodes whose failure cannot be rescued: the end must be reached

MOST_STEPS: Final = 5 * (MAX_ATTEMPTS + 1) + 2  # retrieve, rerank, generate, verify and requery in every pass

HANDLER: Final = "__error_handler__"  # LangGraph's name for a handler of failures
WAYS: Final = {
    ("rerank", "generate"): "enough passages",
    ("rerank", "finalize"): "too few passages",
    ("rerank", "review"): "ask a person",
    ("verify", "requery"): "below the threshold",
    ("verify", "finalize"): "accepted, or nothing is left to try",
    ("verify", "review"): "ask a person",
    ("requery", "retrieve"): "new queries",
    ("requery", "generate"): "nothing to search for, a claim to mend",
    ("requery", "finalize"): "nothing is left to try",
    ("requery", "review"): "ask a person",
    ("review", "finalize"): "accept or abstain",
    ("review", "verify"): "edit",
    ("review", "retrieve"): "search with queries",
    ("review", "requery"): "search",
}
"""The conditions of the loop's edges in words, for its drawing."""

LEFT_OUT: Final = ("attempts", "timings_ms", "messages")
"""Fields of a response that a message does not carry, because a thread keeps every message."""

TAKES: Final = ("question", "messages", "passages")
"""The inputs that the loop takes from a parent graph's state by default: never an answer, which would be verified at
every turn of a thread."""


@dataclass
class Channels(State):
    """The state in LangGraph's form: a channel per field."""

    answer: Annotated[str | None, EphemeralValue] = None
    passages: Annotated[list[Any] | None, EphemeralValue] = None
    messages: Annotated[list[Any] | None, EphemeralValue] = None
    queries: Annotated[list[str] | None, EphemeralValue] = None


class _Open(dict[str, Any]):
    """The properties of a schema that accepts every name."""

    def __contains__(self, name: object) -> bool:
        return True


class CheckedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph that refuses unknown inputs and options by name.

    As a node of another graph it takes its own keys of that graph's state. `max_crag_attempts` bounds the loop: a
    smaller `recursion_limit` would only lose the answer, so it is raised. A checkpointer keeps the end of a run, or
    every step if the caller sets `durability`.
    """

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Stream as usual; `invoke` comes through here too."""
        input, config = self._checked(input, config, kwargs.get("context")), self._bounded(config)
        return super().stream(input, config, **self._kept(config, kwargs))

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Stream as usual; `ainvoke` comes through here too."""
        CALLERS_LOOP.set(get_running_loop())
        input, config = self._checked(input, config, kwargs.get("context")), self._bounded(config)
        async for event in super().astream(input, config, **self._kept(config, kwargs)):
            yield event

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Any:
        """The drawing, without the handlers of failures and with the condition of each edge."""
        drawing = super().get_graph(config, xray=xray)
        drawing.nodes = {name: node for name, node in drawing.nodes.items() if not name.startswith(HANDLER)}
        drawing.edges = [
            edge._replace(data=WAYS.get((edge.source, edge.target), edge.data) if edge.conditional else edge.data)
            for edge in drawing.edges
            if {edge.source, edge.target} <= drawing.nodes.keys()
        ]
        return drawing

    def get_context_jsonschema(self) -> dict[str, Any] | None:
        """The schema of the options. It accepts misspelt names, so that LangGraph's server does not drop them silently
        and `_checked` can refuse them."""
        form = super().get_context_jsonschema()
        return form | {"properties": _Open(form["properties"])} if form and "properties" in form else form

    def _checked(self, input: Any, config: RunnableConfig | None, context: Any) -> Any:
        known = getattr(self.builder.input_schema, "model_fields", None)  # None for messages: their channel reads them
        if known is not None and is_node(config) and not isinstance(input, Command) and input is not None:
            input = self._taken(input, known)
        if isinstance(input, Mapping) and known is not None:
            if unknown := sorted(set(map(str, input)) - set(known)):
                raise InputError(f"There is no input {', '.join(unknown)}: give {', '.join(known)}.")
            if missing := [name for name, info in known.items() if info.is_required() and input.get(name) is None]:
                raise InputError(f"The input lacks {', '.join(missing)}: give {', '.join(missing)}.")
        schema = cast(type[Context], self.builder.context_schema)
        if isinstance(context, Mapping):
            options_of(context, schema)
        given = {} if config is None or is_node(config) else config.get("configurable", {})
        for name in given.keys() - (context if isinstance(context, Mapping) else {}).keys():
            meant = get_close_matches(name, schema.model_fields, n=1, cutoff=0.85)
            if meant and (name not in schema.model_fields or context is None):
                raise InputError(
                    f"{name!r} came in `configurable`, where it does nothing: give the option {meant[0]} as "
                    f"context={{{meant[0]!r}: …}}."
                )
        return input

    def _taken(self, state: Any, known: Collection[str]) -> dict[str, Any]:
        """The inputs from a parent graph's state."""
        takes = getattr(self.builder, "takes", None) or {name: name for name in known}
        read = state.get if isinstance(state, Mapping) else partial(getattr, state)
        found = {name: read(theirs, None) for name, theirs in takes.items()}
        *before, last = found.get("messages") or [None]
        asked = (getattr(one, "additional_kwargs", {}).get("question") for one in reversed(before))
        if getattr(last, "type", "") == "human" and found.get("question") == next(filter(None, asked), None):
            found["question"] = None  # left over from the response before
        return {name: value for name, value in found.items() if value is not None}

    def _bounded(self, config: RunnableConfig | None) -> RunnableConfig:
        limit = max((config or {}).get("recursion_limit", MOST_STEPS), MOST_STEPS)
        return RunnableConfig(**{**(config or {}), "recursion_limit": limit})

    def _kept(self, config: RunnableConfig, given: dict[str, Any]) -> dict[str, Any]:
        inherited = config.get("configurable", {})
        saver = self.checkpointer or inherited.get("__pregel_checkpointer")
        chosen = given.get("durability") or inherited.get("__pregel_durability") or "checkpoint_during" in given
        context, name = given.get("context"), "on_low_confidence"
        low = context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)
        if low is None or (isinstance(context, Context) and name not in context.model_fields_set):
            low = cast(type[Context], self.builder.context_schema).model_fields[name].default
        # A run that may wait for a person is saved before its stream ends, because the reader resumes it then.
        return given if chosen or low == "ask" or not saver else given | {"durability": "exit"}


class AnsweringGraph(CheckedGraph):
    """The compiled loop; as a node of another graph it adds its answer once to that graph's messages."""

    def invoke(  # type: ignore[override]  # narrower: version v2, which wraps the response, is not for it
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Response:
        """Run as usual."""
        return cast(Response, self._with_message(super().invoke(input, _quiet(config), **kwargs), input, config))

    async def ainvoke(  # type: ignore[override]
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> Response:
        """Run as usual."""
        response = await super().ainvoke(input, _quiet(config), **kwargs)
        return cast(Response, await to_thread(self._with_message, response, input, config))

    def _with_message(self, response: Any, input: Any, config: RunnableConfig | None) -> Any:
        if not is_node(config) or not isinstance(response, dict) or not isinstance(response.get("answer"), str):
            return response
        held = (input.get if isinstance(input, Mapping) else partial(getattr, input))("messages", None)
        # A list of foreign messages is not kept by a channel that could add one.
        if not all(isinstance(message, BaseMessage) for message in held or ()):
            return response
        doubt = doubt_of(response.get("decision"))
        text = self.message_text(response)
        if getattr(self.builder, "doubt_in_text", False):
            text = f"{doubt}{text}"
        kept = {name: value for name, value in response.items() if name not in LEFT_OUT}
        # A function that calls the graph may return the answer as a message of its own: nothing is streamed before it.
        name = speak(text, config) if _runs_in(config) is self else None
        return response | {"messages": [AIMessage(text, id=name, additional_kwargs=kept | {"doubt": doubt.strip()})]}

    def message_text(self, response: Mapping[str, Any]) -> str:
        """The text of the message."""
        return str(response["answer"])


class ChattingGraph(AnsweringGraph):
    """The loop as the node of a conversation, with the sources below each answer."""

    def message_text(self, response: Mapping[str, Any]) -> str:
        """The answer, with a line for the place of each citation."""
        lines = [
            f"[{c['number']}] {place_of(c['metadata'])}: "
            + " … ".join(f"“{' '.join(quote.split())}”" for quote in c["quotes"] or [c["text"]])
            for c in response["citations"]
        ]
        return "\n\n".join([super().message_text(response), *lines])


class BoundedGraph(StateGraph[Any, Any, Any, Any]):
    """A state graph whose compiled form checks its input and has a recursion limit for its longest loop."""

    compiles_to: type[CheckedGraph] = CheckedGraph

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """Compile as usual, with a recursion limit that follows from the largest number of attempts."""
        compiled = super().compile(*args, **kwargs)
        graph = self.compiles_to(**{name: value for name, value in vars(compiled).items() if name != "__orig_class__"})
        return graph.with_config(recursion_limit=MOST_STEPS)


class LoopGraph(BoundedGraph):
    """The corrective loop, uncompiled."""

    compiles_to: type[CheckedGraph] = AnsweringGraph
    takes: Mapping[str, str] | None = None
    """The inputs that it takes as a node of another graph, each with the key in that graph's state."""
    doubt_in_text: bool = False  # whether a message begins with the doubt, beside `additional_kwargs`

    def compile(self, *args: Any, **kwargs: Any) -> AnsweringGraph:
        """Compile as usual."""
        return cast(AnsweringGraph, super().compile(*args, **kwargs))


def is_node(config: RunnableConfig | None) -> bool:
    """Whether the graph of this configuration is a node of another graph: then it runs under that node's name."""
    return bool(config and config.get("configurable", {}).get("checkpoint_ns"))


def _quiet(config: RunnableConfig | None) -> RunnableConfig | None:
    """The configuration of a run within a node: the run's own messages are not streamed, the node's message is."""
    if config is None or not is_node(config):
        return config
    return RunnableConfig(**{**config, "tags": [*(config.get("tags") or ()), TAG_NOSTREAM]})


def _runs_in(config: RunnableConfig | None) -> Any:
    """The node that LangGraph runs under this configuration: a graph, or a function that may call one."""
    call = (config or {}).get("configurable", {}).get("__pregel_call")
    task = call.args[0]() if isinstance(call, partial) else None
    return next(iter(getattr(getattr(task, "proc", None), "steps", ())), None)


def context_of(runtime: Runtime[Context], defaults: Context) -> Context:
    """The run's options laid over the defaults; LangGraph leaves `runtime.context` None without `context=`.

    If the context is a parent graph's, its other fields are ignored.
    """
    given: Any = runtime.context
    if isinstance(given, Context):
        return given.over(defaults)
    if isinstance(given, str | bytes | int | float | list | set):
        raise InputError(f"The context came as {given!r:.80}; wanted options by name, such as {{'mode': 'high'}}.")
    read = given.get if isinstance(given, Mapping) else partial(getattr, given)
    found = {name: read(name, None) for name in (*Context.model_fields, *OTHER_NAMES)}
    own = {name: value for name, value in found.items() if value is not None and not callable(value)}
    return options_of(own).over(defaults) if own else defaults


def build_graph(
    *,
    defaults: Context | None = None,
    context_schema: type[Context] = Context,
    rescue: Callable[..., Any] | None = None,
    inputs: Mapping[str, str] | Collection[str] = TAKES,
    doubt_in_text: bool = False,
    **nodes: Node,
) -> LoopGraph:
    """Join the seven nodes into the loop; returns it uncompiled, so that the embedder picks the checkpointer.

    `rescue` handles the failure of any node during a correction. `inputs` are the inputs that the loop takes from a
    parent graph's state, by name, or each with its key there. Raises InputError for an unknown name.
    """
    options = defaults or context_schema()

    def by(decide: Callable[[State, Context], str]) -> Callable[[Channels, Runtime[Context]], str]:
        def decided(state: Channels, runtime: Runtime[Context]) -> str:
            return decide(state, context_of(runtime, options))

        decided.__name__ = decide.__name__  # LangGraph names the branch after it
        return decided

    graph = LoopGraph(Channels, input_schema=CragInput, output_schema=CragOutput, context_schema=context_schema)
    graph.doubt_in_text = doubt_in_text
    graph.takes = dict(inputs) if isinstance(inputs, Mapping) else {name: name for name in inputs}
    if unknown := sorted(graph.takes.keys() - CragInput.model_fields.keys()):
        raise InputError(f"There is no input {', '.join(unknown)}: give {', '.join(CragInput.model_fields)}.")
    for name, node in nodes.items():
        graph.add_node(name, cast(Any, node), error_handler=None if name in UNRESCUED else rescue)
    graph.add_edge(START, routing.FIRST)
    for name, edge in routing.EDGES.items():
        if edge.by is not None:
            graph.add_conditional_edges(name, by(edge.by), list(edge.to))
        else:
            graph.add_edge(name, *edge.to or (END,))
    return graph


def build_verifier(*, check: Node, context_schema: type[Context] = Context) -> StateGraph[Any, Any, Any, Any]:
    """A graph of one node that verifies an answer against passages."""
    graph = BoundedGraph(
        VerifyState, input_schema=VerifyInput, output_schema=VerifyOutput, context_schema=context_schema
    )
    graph.add_node("verify", cast(Any, check))
    graph.add_edge(START, "verify")
    graph.add_edge("verify", END)
    return graph


def build_chat(loop: Any, context_schema: type[Context] = Context) -> StateGraph[Any, Any, Any, Any]:
    """A conversation, messages in and out, around the uncompiled loop."""
    loop.compiles_to = ChattingGraph
    graph = BoundedGraph(MessagesState, context_schema=context_schema)
    graph.add_node("answer", loop.compile(name="crag"))
    return graph.add_edge(START, "answer").add_edge("answer", END)


def take(name: str, act: Act, state: Any, context: Context) -> dict[str, Any]:
    """The fields that an act changes, with its time and its notes."""
    notes, begun = Notes(), time.perf_counter()
    context = context.resolved()
    with deadline(seconds_left(name, state, context)):
        update = act(state, context, notes)
    return update | noted(state, update, notes, name, (time.perf_counter() - begun) * 1000)


def stopped(state: State, node: str, error: BaseException) -> dict[str, Any]:
    """The note on a failed correction."""
    sentence = f"The correction stopped in {node}: {error}"
    return {"halted": sentence, "degraded": [*state.degraded, sentence]}


def seconds_left(name: str, state: Any, context: Context) -> float | None:
    """Seconds left for a run's model calls; None without a deadline."""
    if context.deadline_s is None:
        return None
    begins = not isinstance(state, State) or (name == "retrieve" and not state.queries)
    return context.deadline_s if begins else max(context.deadline_s - (time.time() - state.started), 0.0)


def noted(state: Any, update: dict[str, Any], notes: Notes, name: str, ms: float) -> dict[str, Any]:
    """The notes of a step, added to those of the state (or of a fresh run)."""
    base = {**vars(state), **update}
    seen = base["degraded"]
    added: dict[str, Any] = {
        "degraded": seen + [s for s in notes.sentences if s not in seen],
        "models": base["models"] | notes.models,
        "llm_calls": base["llm_calls"] + notes.calls,
        "tokens": {name: base["tokens"].get(name, 0) + notes.tokens[name] for name in base["tokens"] | notes.tokens},
    }
    if "timings_ms" in base:
        taken = base["timings_ms"].get(name, 0.0) + ms
        added["timings_ms"] = base["timings_ms"] | {name: round(taken, 3)}
    return added


def step(name: str, act: Act, defaults: Context) -> Node:
    """A node that runs `act` and adds its time and notes to the state."""

    def node(state: Any, runtime: Runtime[Context]) -> dict[str, Any]:
        return take(name, act, state, context_of(runtime, defaults))

    node.__name__ = name
    node.__doc__ = (act.__doc__ or type(act).__doc__ or "").strip()
    return node


def rescue(state: Channels, error: NodeError) -> Command[str]:
    """End a run after a failed correction with the best attempt so far; without an attempt, raise the error."""
    if not state.attempts:
        raise error.error
    return Command(update=stopped(state, error.node, error.error), goto="finalize")


# -- the decided answer as a stream of messages ----------------------------------------------------------------------


def speak(answer: str, config: RunnableConfig | None = None) -> str | None:
    """Stream an answer word by word into the messages of the running node, if somebody reads them.

    `config` is the node's configuration, by default that of the node around the call. Returns the id of the message, or
    None if nobody reads; a message with that id in the node's update is not streamed again.
    """
    try:
        config = config or get_config()
    except RuntimeError:  # outside of a graph
        return None
    callbacks, name = config.get("callbacks"), None
    handlers: Any = getattr(callbacks, "handlers", callbacks) or []
    if any(type(handler).__name__ == "StreamMessagesHandler" for handler in handlers):
        for run in get_callback_manager_for_config(config).on_chat_model_start({"name": "decided"}, [[]]):
            name = f"run-{run.run_id}"
            _stream(answer, run, name)
    return name


def _stream(answer: str, run: CallbackManagerForLLMRun, name: str) -> None:
    """Send the words as events of a chat model, without importing LangChain's class, which takes long."""
    pieces = re.findall(r"\s*\S+", answer)
    for place, words in enumerate(pieces, start=1):
        position: Literal["last"] | None = "last" if place == len(pieces) else None
        message = AIMessageChunk(content=words, id=name, chunk_position=position)
        run.on_llm_new_token(words, chunk=ChatGenerationChunk(message=message))
    run.on_llm_end(LLMResult(generations=[[ChatGeneration(message=AIMessage(answer, id=name))]]))
