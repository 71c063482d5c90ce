"""Rerank: score the held passages against the question and keep the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cragraph.graph.context import Context
from cragraph.graph.routing import best
from cragraph.graph.state import State
from cragraph.protocols import Notes, Reranker
from cragraph.retrieval.rerankers.gain import rerank_gain
from cragraph.types import Attempt, Passage


@dataclass(frozen=True)
class Rerank:
    """Keep `top_k` passages on the first pass and `second_pass_k` on later ones."""

    reranker: Reranker
    top_k: int = 5

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the kept passages, best first; on later passes, what already proved a claim is kept too."""
        if not state.held:
            return {}
        notes.ran("reranker", self.reranker.name)
        query = " ".join(dict.fromkeys([state.asked or state.question, *state.searched])).strip()
        ranked = self.reranker(query, state.held, notes) if query else list(state.held)
        if not state.attempts:
            # Passages that the caller chose are all kept; what was searched is cut to the best.
            size = (context.top_k or self.top_k) if state.searched else len(ranked)
            return {"held": ranked[:size], "rerank_gain": rerank_gain(state.held, ranked, size)}
        return {"held": pinned(ranked, evidence_ids(best(state.attempts)), context.second_pass_k or self.top_k)}


def pinned(ranked: Sequence[Passage], proven: set[str], size: int) -> list[Passage]:
    """The best `size` passages in rank order, among them every proven one."""
    others = [p["chunk_id"] for p in ranked if p["chunk_id"] not in proven]
    chosen = proven | set(others[: max(size - len(proven), 0)])
    return [p for p in ranked if p["chunk_id"] in chosen]


def evidence_ids(attempt: Attempt) -> set[str]:
    """The chunks that support a claim of an attempt."""
    supported = [v for v in attempt.get("verdicts", []) if v["verdict"] in ("supported", "partially_supported")]
    return {v["evidence"]["chunk_id"] for v in supported if v["evidence"]}
