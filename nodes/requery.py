"""Requery: turn what failed and what is still unanswered into targeted queries."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cragraph.graph.context import Context
from cragraph.graph.routing import best, failed_claims
from cragraph.graph.state import State
from cragraph.protocols import Notes, QueryWriter
from cragraph.retrieval.search.neighbours import read_wide
from cragraph.types import IDK


@dataclass(frozen=True)
class Requery:
    """Ask only for what the best attempt lacks."""

    writer: QueryWriter
    unanswered: Callable[[str, str], list[str]]

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return at least one query: `retrieve` takes an empty list for a new run."""
        attempt = best(state.attempts)
        question = state.asked or state.question
        answer = "" if attempt["answer"] == IDK else attempt["answer"]
        gaps = self.unanswered(question, answer) if question else []
        notes.ran("query_writer", self.writer.name)
        failed = failed_claims(attempt)
        if not failed and not gaps:
            # All hold, but not surely enough: look for the one with the least support.
            counted = [v for v in attempt.get("verdicts", []) if v["type"] != "opinion"]
            failed = sorted(counted, key=lambda verdict: verdict["support"])[:1]
        queries = [q for q in self.writer(question, failed, gaps, notes, read_wide(state.held)) if q.strip()]
        return {"queries": queries or [question or attempt["answer"]]}
