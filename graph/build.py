"""The shape of the loop. Nodes are arguments, so that it is tested with plain functions."""

from collections.abc import Callable
from typing import Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import RetryPolicy

from cragraph.graph import routing
from cragraph.graph.context import MAX_ATTEMPTS, Context
from cragraph.graph.state import CragInput, CragOutput, State, VerifyInput, VerifyOutput, VerifyState

Node = Callable[[Any, Runtime[Context]], dict[str, Any]]

UNRESCUED = ("verify", "finalize")
"""Nodes that deal with their own failures: a judge is stood in for, and the end must be reached."""

STEPS_A_PASS = 5
"""retrieve, rerank, generate, verify, requery."""


class BoundedGraph(StateGraph[State, Context, CragInput, CragOutput]):
    """A state graph whose compiled form stops at the most steps that its loop can need."""

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """Compile as usual, with a recursion limit that follows from the largest number of attempts."""
        return super().compile(*args, **kwargs).with_config(recursion_limit=STEPS_A_PASS * (MAX_ATTEMPTS + 1) + 2)


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
    retry: RetryPolicy | None = None,
    rescue: Callable[..., Any] | None = None,
) -> StateGraph[State, Context, CragInput, CragOutput]:
    """Join six nodes into the corrective loop; returns it uncompiled, so that the embedder picks the checkpointer.

    `retry` is how a node that failed is tried again; `rescue` handles what still fails then, from any node that works
    on a correction.
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
        graph.add_node(name, cast(Any, node), retry_policy=retry, error_handler=None if name in UNRESCUED else rescue)
    graph.add_edge(START, "retrieve")
    graph.add_edge("retrieve", "rerank")
    graph.add_conditional_edges("rerank", after_rerank, ["generate", "finalize"])
    graph.add_edge("generate", "verify")
    graph.add_conditional_edges("verify", after_verify, ["requery", "finalize"])
    graph.add_edge("requery", "retrieve")
    graph.add_edge("finalize", END)
    return graph


def build_verifier(
    *, check: Node, context_schema: type[Context] = Context, retry: RetryPolicy | None = None
) -> StateGraph[VerifyState, Context, VerifyInput, VerifyOutput]:
    """A graph of one node that verifies an answer against passages."""
    graph = StateGraph(VerifyState, input_schema=VerifyInput, output_schema=VerifyOutput, context_schema=context_schema)
    graph.add_node("verify", cast(Any, check), retry_policy=retry)
    graph.add_edge(START, "verify")
    graph.add_edge("verify", END)
    return graph
