"""The shape of the loop. Nodes are arguments, so that it is tested with plain functions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

from langgraph.channels import EphemeralValue
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command

from cragraph.errors import InputError
from cragraph.graph import routing
from cragraph.graph.context import MAX_ATTEMPTS, Context, options_of
from cragraph.graph.state import CragInput, CragOutput, State, VerifyInput, VerifyOutput, VerifyState
from cragraph.graph.steps import UNRESCUED, Act, stopped, take

Node = Callable[[Any, Runtime[Context]], dict[str, Any]]

STEPS_A_PASS = 5  # retrieve, rerank, generate, verify, requery


@dataclass
class Channels(State):
    """The state as LangGraph keeps it: a channel per field."""

    answer: Annotated[str | None, EphemeralValue] = None
    passages: Annotated[list[Any] | None, EphemeralValue] = None
    messages: Annotated[list[Any] | None, EphemeralValue] = None
    queries: Annotated[list[str] | None, EphemeralValue] = None


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
            options_of(context, cast(type[Context], self.builder.context_schema))
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
    defaults: Context | None = None,
    context_schema: type[Context] = Context,
    rescue: Callable[..., Any] | None = None,
    **nodes: Node,
) -> StateGraph[Channels, Context, CragInput, CragOutput]:
    """Join the seven nodes into the loop; returns it uncompiled, so that the embedder picks the checkpointer.

    `rescue` handles the failure of any node that works on a correction.
    """
    options = defaults or context_schema()

    def after_rerank(state: Channels, runtime: Runtime[Context]) -> str:
        return routing.after_rerank(state, context_of(runtime, options))

    def after_verify(state: Channels, runtime: Runtime[Context]) -> str:
        return routing.after_verify(state, context_of(runtime, options))

    graph = BoundedGraph(Channels, input_schema=CragInput, output_schema=CragOutput, context_schema=context_schema)
    for name, node in nodes.items():
        graph.add_node(name, cast(Any, node), error_handler=None if name in UNRESCUED else rescue)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "rerank")
    graph.add_conditional_edges("rerank", after_rerank, ["generate", "review", "finalize"])
    graph.add_edge("generate", "verify")
    graph.add_conditional_edges("verify", after_verify, ["requery", "review", "finalize"])
    graph.add_conditional_edges("review", routing.after_review)
    graph.add_edge("requery", "retrieve")
    graph.add_edge("finalize", END)
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
