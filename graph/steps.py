"""One step of the loop, and the loop walked without LangGraph, whose import takes longer than an embedded answer."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from cragraph.graph import routing
from cragraph.graph.context import Context
from cragraph.graph.state import EPHEMERAL, State
from cragraph.protocols import Notes, deadline

UNRESCUED: Final = ("review", "finalize")  # nodes whose failure has nowhere to go: the end must be reached

Act = Callable[[Any, Context, Notes], dict[str, Any]]
"""One verb of the loop: reads the state and the resolved options, notes what it did, returns the fields that change."""


Steps = Iterator[tuple[str, Any]]
"""What a run does as it does it: ("begin", node), ("token", text), ("node", (node, update)), ("state", fields), and
("review", fields) where it waits for a person."""


def take(name: str, act: Act, state: Any, context: Context) -> dict[str, Any]:
    """What an act changes, how long it took and what it noted added."""
    notes, begun = Notes(), time.perf_counter()
    context = context.resolved()
    with deadline(seconds_left(name, state, context)):
        update = act(state, context, notes)
    return update | noted(state, update, notes, name, (time.perf_counter() - begun) * 1000)


def walk(acts: Mapping[str, Act], state: State, context: Context) -> Steps:
    """The loop of `routing.EDGES`, each node told before it runs and after, with the state that it leaves.

    Nobody is asked: a run that waits is LangGraph's.
    """
    name = routing.FIRST
    while name:
        yield "begin", name
        rescued = False
        try:
            update = take(name, acts[name], state, context)
        except Exception as error:
            if name in UNRESCUED or not state.attempts:
                raise
            update, rescued = stopped(state, name, error), True
        changed: dict[str, Any] = dict.fromkeys(EPHEMERAL) | update
        state = replace(state, **changed)
        yield "node", (name, update)
        yield "state", vars(state)
        name = "finalize" if rescued else routing.following(name, state, context)


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
