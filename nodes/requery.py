"""Requery: turn what failed and what is still unanswered into targeted queries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cragraph.graph.context import Context
from cragraph.graph.routing import best, failed_claims
from cragraph.graph.state import State
from cragraph.language.words import content_words
from cragraph.protocols import Notes, QueryWriter
from cragraph.search.neighbours import read_wide
from cragraph.types import IDK
from cragraph.verification.result import word_for_word


@dataclass(frozen=True)
class Requery:
    """Ask only for what the best attempt lacks."""

    writer: QueryWriter
    unanswered: Callable[[str, str], list[str]]
    later: QueryWriter | None = None
    """Writes the queries of the second correction and of any after it, where the first writer is to be asked `once`."""

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return at least one query: `retrieve` takes an empty list for a new run."""
        attempt = best(state.attempts)
        question = state.asked or state.question
        answer = "" if attempt["answer"] == IDK else attempt["answer"]
        gaps = self.unanswered(question, answer) if question else []
        writer = self.writer
        if self.later is not None and len(state.attempts) > 1 and getattr(writer, "once", False):
            writer = self.later
        notes.ran("query_writer", writer.name)
        failed = failed_claims(attempt)
        if not failed and not gaps:
            # All hold, but not surely enough: look for the one with the least support. The words of a quotation would
            # find the passage that it is from.
            counted = [v for v in attempt.get("verdicts", []) if v["type"] != "opinion" and not word_for_word(v)]
            failed = sorted(counted, key=lambda verdict: verdict["support"])[:1]
        queries = [q for q in writer(question, failed, gaps, notes, read_wide(state.held)) if q.strip()]
        before = [query for each in state.attempts for query in each.get("queries", [])]
        return {"queries": fresh(queries, before) or [question or attempt["answer"]]}


def fresh(queries: Sequence[str], before: Sequence[str]) -> list[str]:
    """The queries without those that were searched before in the same words, whatever their order."""
    known = [frozenset(content_words(query)) for query in before]
    return [query for query in queries if frozenset(content_words(query)) not in known]
