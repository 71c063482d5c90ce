"""Rerank: score the held passages against the question and keep the best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cragraph.graph.context import Context
from cragraph.graph.routing import best
from cragraph.graph.state import State
from cragraph.protocols import Notes, Reranker
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
            kept = (
                ranked
                if state.available == len(ranked) and not state.searched
                else ranked[: context.top_k or self.top_k]
            )
            return {"held": kept}
        size = context.second_pass_k or self.top_k
        proven = evidence_ids(best(state.attempts))
        pinned = [p for p in ranked if p["chunk_id"] in proven]
        others = [p for p in ranked if p["chunk_id"] not in proven]
        room = max(size - len(pinned), 0)
        chosen = {p["chunk_id"] for p in [*pinned, *others[:room]]}
        return {"held": [p for p in ranked if p["chunk_id"] in chosen]}


def evidence_ids(attempt: Attempt) -> set[str]:
    """The chunks that support a claim of an attempt."""
    passages: Sequence[Passage] = attempt.get("context", [])
    claims = attempt.get("verification", {}).get("claims", [])
    supported = [c for c in claims if c["verdict"] in ("supported", "partially_supported") and c["evidence"]]
    return {passages[c["evidence"]["passage"]]["chunk_id"] for c in supported}
