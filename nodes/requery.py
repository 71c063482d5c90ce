"""Requery: turn failed claims and unanswered parts into targeted queries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cragraph.graph.context import Context
from cragraph.graph.routing import best, failed_claims, judged_by_model
from cragraph.graph.state import State
from cragraph.language.words import content_words
from cragraph.protocols import Notes, QueryWriter
from cragraph.search.questions import decompose
from cragraph.types import IDK
from cragraph.verification.result import word_for_word


@dataclass(frozen=True)
class Requery:
    """Writes queries for the parts that the best attempt lacks.

    A model that declined or judged gives search words in the same reply, so that no call is spent on them. Otherwise
    a capable `writer` writes the queries of the first correction, and `embedded` all others.
    """

    writer: QueryWriter
    unanswered: Callable[[str, str], list[str]]
    embedded: QueryWriter | None = None
    searches: bool = True
    """Whether there is a store or a retriever: without one, only the passages at hand can be read again."""
    capable: Callable[[], bool] = lambda: True
    """Whether the model of `writer` is capable: the queries of a small one find no more than embedded ones."""

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the queries that were not searched before; without any, what `retrieve` and `rerank` would find."""
        if self.searches and (queries := self._queries(state, notes)):
            return {"queries": queries}
        return {"queries": [], "searched": [], "found": 0, "new_passages": 0}

    def _queries(self, state: State, notes: Notes) -> list[str]:
        attempt = best(state.attempts)
        question = state.asked or state.question
        before = [query for each in state.attempts for query in each.get("queries", [])]
        judged = judged_by_model(attempt)
        if said := fresh([*state.search, *(judged.get("search") or [])], before):
            notes.ran("query_writer", "the model that answered or judged")
            return said
        answer = "" if attempt["answer"] == IDK else attempt["answer"]
        if judged.get("answers"):
            gaps = [judged["open"]] if judged.get("open") else []
        else:
            gaps = self.unanswered(question, answer) if question else []
        failed = failed_claims(attempt)
        if not failed and not gaps:
            # All claims hold, but the confidence is too low: search for the claim with the least support. The words of
            # a quotation would only find its own passage.
            counted = [v for v in attempt.get("verdicts", []) if v["type"] != "opinion" and not word_for_word(v)]
            failed = sorted(counted, key=lambda verdict: verdict["support"])[:1]
        # A judging model has named what is wrong and open: no further call is needed. A second round of a model's
        # queries finds little that is new.
        known = bool(judged) or len(state.attempts) > 1 or not self.capable()
        writer = self.embedded if self.embedded is not None and known else self.writer
        notes.ran("query_writer", writer.name)
        queries = [q for q in writer(question, failed, gaps, notes, state.held) if q.strip()]
        return fresh(queries, before) or fresh([question or attempt["answer"], *decompose(question)], before)


def fresh(queries: Sequence[str], before: Sequence[str]) -> list[str]:
    """The queries without those that were searched before in the same words in any order."""
    known = [frozenset(content_words(query)) for query in before]
    return [query for query in queries if frozenset(content_words(query)) not in known]
