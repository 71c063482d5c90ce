"""The shape of the loop. Nodes are arguments, so that it is tested with plain functions."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import ValidationError

from cragraph.errors import InputError
from cragraph.graph import routing
from cragraph.graph.context import MAX_ATTEMPTS, Context
from cragraph.graph.state import CragInput, CragOutput, State, VerifyInput, VerifyOutput, VerifyState
from cragraph.models.chat import deadline
from cragraph.protocols import Notes

Node = Callable[[Any, Runtime[Context]], dict[str, Any]]

UNRESCUED = ("finalize",)
"""Nodes whose failure has nowhere to go: the end must be reached."""

STEPS_A_PASS = 5
"""retrieve, rerank, generate, verify, requery."""


class CheckedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph that refuses inputs and options that it does not know, by their names."""

    def stream(self, input: Any, *args: Any, **kwargs: Any) -> Any:
        """Stream as usual; `invoke` comes through here too."""
        return super().stream(self._checked(input, kwargs.get("context")), *args, **kwargs)

    async def astream(self, input: Any, *args: Any, **kwargs: Any) -> Any:
        """Stream as usual; `ainvoke` comes through here too."""
        async for event in super().astream(self._checked(input, kwargs.get("context")), *args, **kwargs):
            yield event

    def _checked(self, input: Any, context: Any) -> Any:
        known = self.builder.input_schema.model_fields
        if isinstance(input, Mapping):
            if unknown := sorted(set(map(str, input)) - set(known)):
                raise InputError(f"There is no input {', '.join(unknown)}: give {', '.join(known)}.")
            if missing := [name for name, info in known.items() if info.is_required() and input.get(name) is None]:
                raise InputError(f"The input lacks {', '.join(missing)}: give {', '.join(missing)}.")
        if isinstance(context, Mapping):
            try:
                cast(type[Context], self.builder.context_schema)(**context)
            except ValidationError as error:
                said = [f"{'.'.join(map(str, e['loc']))} came as {e['input']!r}: {e['msg']}" for e in error.errors()]
                raise InputError(f"The context cannot be used: {'; '.join(said)}.") from None
        return input


class BoundedGraph(StateGraph[Any, Any, Any, Any]):
    """A state graph whose compiled form checks its input, and stops at the most steps that its loop can need."""

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """Compile as usual, with a recursion limit that follows from the largest number of attempts."""
        compiled = super().compile(*args, **kwargs)
        compiled.__class__ = CheckedGraph
        return compiled.with_config(recursion_limit=STEPS_A_PASS * (MAX_ATTEMPTS + 1) + 2)


def context_of(runtime: Runtime[Context], defaults: Context) -> Context:
    """The run's options laid over the defaults; LangGraph leaves `runtime.context` None without `context=`."""
    return runtime.context.over(defaults) if runtime.context else defaults


def build_graph(
    *,
    retrieve: Node,
    rerank: Node,
    generate: Node,
    verify: Node,
    requery: Node,
    finalize: Node,
    defaults: Context | None = None,
    context_schema: type[Context] = Context,
    rescue: Callable[..., Any] | None = None,
) -> StateGraph[State, Context, CragInput, CragOutput]:
    """Join six nodes into the corrective loop; returns it uncompiled, so that the embedder picks the checkpointer.

    `rescue` handles the failure of any node that works on a correction.
    """
    options = defaults or context_schema()

    def after_rerank(state: State, runtime: Runtime[Context]) -> str:
        return routing.after_rerank(state, context_of(runtime, options))

    def after_verify(state: State, runtime: Runtime[Context]) -> str:
        return routing.after_verify(state, context_of(runtime, options))

    graph = BoundedGraph(State, input_schema=CragInput, output_schema=CragOutput, context_schema=context_schema)
    nodes = {
        "retrieve": retrieve,
        "rerank": rerank,
        "generate": generate,
        "verify": verify,
        "requery": requery,
        "finalize": finalize,
    }
    for name, node in nodes.items():
        graph.add_node(name, cast(Any, node), error_handler=None if name in UNRESCUED else rescue)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "rerank")
    graph.add_conditional_edges("rerank", after_rerank, ["generate", "finalize"])
    graph.add_edge("generate", "verify")
    graph.add_conditional_edges("verify", after_verify, ["requery", "finalize"])
    graph.add_edge("requery", "retrieve")
    graph.add_edge("finalize", END)
    return graph


def build_verifier(
    *, check: Node, context_schema: type[Context] = Context
) -> StateGraph[VerifyState, Context, VerifyInput, VerifyOutput]:
    """A graph of one node that verifies an answer against passages."""
    graph = BoundedGraph(
        VerifyState, input_schema=VerifyInput, output_schema=VerifyOutput, context_schema=context_schema
    )
    graph.add_node("verify", cast(Any, check))
    graph.add_edge(START, "verify")
    graph.add_edge("verify", END)
    return graph


StateT = TypeVar("StateT", contravariant=True)


class Act(Protocol[StateT]):
    """One verb of the loop: reads the state and the resolved options, notes what it did, returns an update."""

    def __call__(self, state: StateT, context: Context, notes: Notes, /) -> dict[str, Any]:
        """The fields of the state that change."""


def step(name: str, act: Act[Any], defaults: Context) -> Node:
    """A node that runs `act` and adds to the state how long it took and what it noted."""

    def node(state: Any, runtime: Runtime[Context]) -> dict[str, Any]:
        notes, begun = Notes(), time.perf_counter()
        context = context_of(runtime, defaults).resolved()
        with deadline(seconds_left(name, state, context)):
            update = act(state, context, notes)
        return update | noted(state, update, notes, name, (time.perf_counter() - begun) * 1000)

    node.__name__ = name
    node.__doc__ = (act.__doc__ or type(act).__doc__ or "").strip()
    return node


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
    }
    if "timings_ms" in base:
        taken = base["timings_ms"].get(name, 0.0) + ms
        added["timings_ms"] = base["timings_ms"] | {name: round(taken, 3)}
    return added


def rescue(state: State, error: NodeError) -> Command[str]:
    """End a run whose correction failed, whatever the error, with the best attempt so far; without one, raise it."""
    if not state.attempts:
        raise error.error
    sentence = f"The correction stopped in {error.node}: {error.error}"
    return Command(update={"halted": sentence, "degraded": [*state.degraded, sentence]}, goto="finalize")
