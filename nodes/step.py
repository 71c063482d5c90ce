"""Turn a part of the loop into a LangGraph node: options resolved, time taken, notes kept."""

import time
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from langgraph.errors import NodeError
from langgraph.runtime import Runtime
from langgraph.types import Command

from cragraph.errors import DeadlineError, ModelError
from cragraph.graph.build import Node, context_of
from cragraph.graph.context import Context
from cragraph.graph.state import State
from cragraph.models.chat import deadline
from cragraph.protocols import Notes

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
    """End a run whose model failed for good with the best attempt so far; without one, raise the error."""
    if not state.attempts or not isinstance(error.error, ModelError | DeadlineError):
        raise error.error
    sentence = f"The correction stopped in {error.node}: {error.error}"
    return Command(update={"halted": sentence, "degraded": [*state.degraded, sentence]}, goto="finalize")


Rescue = Callable[[State, NodeError], Command[str]]
