"""The shape of the loop. Nodes are arguments, so that it is tested with plain functions."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, cast

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.channels import EphemeralValue
from langgraph.errors import NodeError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from cragraph.errors import InputError
from cragraph.graph import routing
from cragraph.graph.context import MAX_ATTEMPTS, OTHER_NAMES, Context, options_of
from cragraph.graph.state import CragInput, CragOutput, State, VerifyInput, VerifyOutput, VerifyState
from cragraph.passages import place_of
from cragraph.protocols import Notes, deadline
from cragraph.types import doubt_of

Act = Callable[[Any, Context, Notes], dict[str, Any]]
"""One verb of the loop: reads the state and the resolved options, notes what it did, returns the fields that change."""

Node = Callable[[Any, Runtime[Context]], dict[str, Any]]

UNRESCUED: Final = ("review", "finalize")  # nodes whose failure has nowhere to go: the end must be reached

STEPS_A_PASS = 5  # retrieve, rerank, generate, verify, requery


@dataclass
class Channels(State):
    """The state as LangGraph keeps it: a channel per field."""

    answer: Annotated[str | None, EphemeralValue] = None
    passages: Annotated[list[Any] | None, EphemeralValue] = None
    messages: Annotated[list[Any] | None, EphemeralValue] = None
    queries: Annotated[list[str] | None, EphemeralValue] = None


class CheckedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph that refuses inputs and options that it does not know, by their names.

    As a node of another graph it takes its own keys of that graph's state, and leaves the others.
    """

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Stream as usual; `invoke` comes through here too."""
        return super().stream(self._checked(input, config, kwargs.get("context")), config, **kwargs)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Stream as usual; `ainvoke` comes through here too."""
        async for event in super().astream(self._checked(input, config, kwargs.get("context")), config, **kwargs):
            yield event

    def _checked(self, input: Any, config: RunnableConfig | None, context: Any) -> Any:
        known = getattr(self.builder.input_schema, "model_fields", None)  # None for messages: their channel reads them
        if isinstance(input, Mapping) and known is not None:
            if is_node(config):
                input = {name: input[name] for name in known if name in input}
            if unknown := sorted(set(map(str, input)) - set(known)):
                raise InputError(f"There is no input {', '.join(unknown)}: give {', '.join(known)}.")
            if missing := [name for name, info in known.items() if info.is_required() and input.get(name) is None]:
                raise InputError(f"The input lacks {', '.join(missing)}: give {', '.join(missing)}.")
        if isinstance(context, Mapping):
            options_of(context, cast(type[Context], self.builder.context_schema))
        return input


class AnsweringGraph(CheckedGraph):
    """The loop, compiled; as a node of another graph it adds its answer to that graph's messages."""

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run as usual."""
        return self._told(super().invoke(input, config, **kwargs), input, config)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run as usual."""
        return self._told(await super().ainvoke(input, config, **kwargs), input, config)

    def _told(self, response: Any, input: Any, config: RunnableConfig | None) -> Any:
        if not is_node(config) or not isinstance(response, dict) or not isinstance(response.get("answer"), str):
            return response
        held = (input.get if isinstance(input, Mapping) else partial(getattr, input))("messages", None)
        # Messages that are none of LangChain's are kept by no channel that would add one to them.
        if not all(isinstance(message, BaseMessage) for message in held or ()):
            return response
        return response | {"messages": [AIMessage(self.said(response), additional_kwargs=response)]}

    def said(self, response: Mapping[str, Any]) -> str:
        """The text of the message, a doubt first."""
        return f"{doubt_of(response.get('decision'))}{response['answer']}"


class ChattingGraph(AnsweringGraph):
    """The loop as the node of a conversation: the sources stand below each answer."""

    def said(self, response: Mapping[str, Any]) -> str:
        """The answer, and where each of its citations points, in a line each."""
        lines = [
            f"[{c['number']}] {place_of(c['metadata'])}: "
            + " … ".join(f"“{' '.join(quote.split())}”" for quote in c["quotes"] or [c["text"]])
            for c in response["citations"]
        ]
        return "\n\n".join([super().said(response), *lines])


class BoundedGraph(StateGraph[Any, Any, Any, Any]):
    """A state graph whose compiled form checks its input, and stops at the most steps that its loop can need."""

    compiles_to: type[CheckedGraph] = CheckedGraph

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """Compile as usual, with a recursion limit that follows from the largest number of attempts."""
        compiled = super().compile(*args, **kwargs)
        graph = self.compiles_to(**{name: value for name, value in vars(compiled).items() if name != "__orig_class__"})
        return graph.with_config(recursion_limit=STEPS_A_PASS * (MAX_ATTEMPTS + 1) + 2)


def is_node(config: RunnableConfig | None) -> bool:
    """Whether a graph that is called with this configuration is a node of another: it runs under that node's name."""
    return bool(config and config.get("configurable", {}).get("checkpoint_ns"))


def context_of(runtime: Runtime[Context], defaults: Context) -> Context:
    """The run's options laid over the defaults; LangGraph leaves `runtime.context` None without `context=`.

    Of the context of another graph, of which this one is a node, the fields that are options here count.
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
    **nodes: Node,
) -> StateGraph[Channels, Context, CragInput, CragOutput]:
    """Join the seven nodes into the loop; returns it uncompiled, so that the embedder picks the checkpointer.

    `rescue` handles the failure of any node that works on a correction.
    """
    options = defaults or context_schema()

    def by(decide: Callable[[State, Context], str]) -> Callable[[Channels, Runtime[Context]], str]:
        def decided(state: Channels, runtime: Runtime[Context]) -> str:
            return decide(state, context_of(runtime, options))

        decided.__name__ = decide.__name__  # LangGraph names the branch after it
        return decided

    graph = BoundedGraph(Channels, input_schema=CragInput, output_schema=CragOutput, context_schema=context_schema)
    graph.compiles_to = AnsweringGraph
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
    """What an act changes, how long it took and what it noted added."""
    notes, begun = Notes(), time.perf_counter()
    context = context.resolved()
    with deadline(seconds_left(name, state, context)):
        update = act(state, context, notes)
    return update | noted(state, update, notes, name, (time.perf_counter() - begun) * 1000)


def stopped(state: State, node: str, error: BaseException) -> dict[str, Any]:
    """What is said of a correction that failed."""
    sentence = f"The correction stopped in {node}: {error}"
    return {"halted": sentence, "degraded": [*state.degraded, sentence]}


def seconds_left(name: str, state: Any, context: Context) -> float | None:
    """How long a run's model calls may still take; None without a deadline."""
    if context.deadline_s is None:
        return None
    begins = not isinstance(state, State) or (name == "retrieve" and not state.queries)
    return context.deadline_s if begins else max(context.deadline_s - (time.time() - state.started), 0.0)


def noted(state: Any, update: dict[str, Any], notes: Notes, name: str, ms: float) -> dict[str, Any]:
    """The part of an update that says what ran, added to what the state (or a fresh run) already says."""
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
    """A node that runs `act` and adds to the state how long it took and what it noted."""

    def node(state: Any, runtime: Runtime[Context]) -> dict[str, Any]:
        return take(name, act, state, context_of(runtime, defaults))

    node.__name__ = name
    node.__doc__ = (act.__doc__ or type(act).__doc__ or "").strip()
    return node


def rescue(state: Channels, error: NodeError) -> Command[str]:
    """End a run whose correction failed, whatever the error, with the best attempt so far; without one, raise it."""
    if not state.attempts:
        raise error.error
    return Command(update=stopped(state, error.node, error.error), goto="finalize")
