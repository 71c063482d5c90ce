"""Rerank: score the held passages against the question and keep the best."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cragraph.errors import ModelError
from cragraph.graph.context import Context
from cragraph.graph.routing import best
from cragraph.graph.state import State
from cragraph.language.questions import read_question
from cragraph.nodes.retrieve import merge
from cragraph.protocols import Notes, Reranker, stand_in
from cragraph.search.rerankers import rerank_gain
from cragraph.types import IDK, Attempt, Passage

CAPABLE_K = 12
"""Passages for a capable model: of answers in twenty folders with older and newer rules, the first five reranked
passages hold .90, the first twelve .97, thirty .99 (`lab.benchmarks.large_model recall`)."""
WIDE_K = 30
"""Passages for a capable model where the reader doubts that the first `CAPABLE_K` answer."""
DOUBT = 0.4
"""Probability below which the reader doubts: so for .26 of the questions in ten folders that the files answer, for .80
of the others. A capable model then gets all that was found at once, and need seldom be asked a second time."""
PROMISING = 0.03
"""Least probability of the reader that new passages answer, for a model that declined to be asked again."""
NEAREST = 8  # best passages of the later search among which one must be new
TABLES = 2  # whole small tables for a capable model
READ_AGAIN = 4  # passages of the first pass that it reads again with those of a later search
ROWS_BESIDE = 20  # rows kept beside the best passages if a question asks for all that match


@dataclass(frozen=True)
class Rerank:
    """Keeps `top_k` passages on the first pass, and more on later ones.

    A `capable` model reads `capable_k` passages by default, `WIDE_K` where the reader doubts that they answer, and on
    later passes the best of the first pass as well. If it declined, it reads again only where the later search led to
    new passages that may answer.
    """

    reranker: Reranker
    top_k: int = 5
    capable_k: int = CAPABLE_K
    capable: Callable[[], bool] = bool
    whole: Callable[[str, Mapping[str, Any] | None], list[Passage]] | None = None
    """Finds the rows of a file if they are few enough to be read whole; none otherwise."""
    likely: Callable[[str, Sequence[Passage]], float | None] | None = None
    """The reader's probability, 0..1, that some passages answer a question; None if it cannot read them."""

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the kept passages, best first; on later passes, passages that support a claim are kept too."""
        if not state.held:
            return {"relevant": 0, "new_passages": 0}
        notes.ran("reranker", self.reranker.name)
        query = " ".join(dict.fromkeys([state.asked or state.question, *state.searched])).strip()
        proven = proven_chunks(best(state.attempts)) if state.attempts else []
        pool = merge(state.held, proven)
        ranked = self._ranked(query, pool, notes) if query else pool
        usual = max(self.top_k, self.capable_k) if self.capable() else self.top_k
        if not state.attempts:
            # The caller's passages are all kept; searched passages are cut to the best.
            size = (context.top_k or usual) if state.searched else len(ranked)
            if size < len(ranked) and self.capable() and not context.top_k and self._doubts(query, ranked[:size]):
                size = WIDE_K
            kept, more = ranked[:size], {"rerank_gain": rerank_gain(state.held, ranked, size)}
            # Passages that the previous answer cited are read first: a follow-up asks more about them.
            carried = {p["chunk_id"]: p for p in ranked if p["chunk_id"] in state.carried}
            first = [carried[name] for name in state.carried if name in carried]
            kept = [*first, *(p for p in kept if p["chunk_id"] not in carried)]
            if read_question(query).wants_rows:
                tables = {p["source"] for p in kept if "row" in p["metadata"]}
                kept += [p for p in ranked[size:] if p["source"] in tables and "row" in p["metadata"]][:ROWS_BESIDE]
        elif self._adds_nothing(state, ranked):
            held = [p for p in state.held if p["chunk_id"] in state.read]
            return {"held": held, "relevant": len(ranked), "found": 0, "new_passages": 0}
        else:
            ids = {p["chunk_id"] for p in proven}
            most = max(context.second_pass_k, usual if self.capable() and not context.top_k else 0)
            kept, more = pinned(ranked, ids, most), {}
            if self.capable():
                known = {p["chunk_id"] for p in kept}
                before = [p for p in state.held if p["chunk_id"] in state.read and p["chunk_id"] not in known]
                kept += before[:READ_AGAIN]
            # Passages read before keep their place, so that a model's server need not read them again.
            place = {p["chunk_id"]: n for n, p in enumerate(state.held) if p["chunk_id"] in state.read}
            kept.sort(key=lambda p: place.get(p["chunk_id"], len(place)))
        if self.whole is not None and self.capable() and state.searched:
            kept = self._with_tables(kept, context)
        new = sum(p["chunk_id"] not in state.read for p in kept)
        read = state.read + [p["chunk_id"] for p in kept if p["chunk_id"] not in state.read]
        # Counted before the cut, so that a small `top_k` does not look like little evidence.
        return more | {"held": kept, "relevant": len(ranked), "read": read, "new_passages": new}

    def _doubts(self, question: str, passages: Sequence[Passage]) -> bool:
        chance = self.likely(question, passages) if self.likely else None
        return chance is not None and chance < DOUBT

    def _adds_nothing(self, state: State, ranked: Sequence[Passage]) -> bool:
        """Whether a capable model declined, and the search for its words led to nothing new that may answer."""
        if self.likely is None or not self.capable() or state.decided or best(state.attempts)["answer"] != IDK:
            return False
        if all(p["chunk_id"] in state.read for p in ranked[:NEAREST]):
            return True
        new = [p for p in ranked if p["chunk_id"] not in state.read][:CAPABLE_K]
        chance = self.likely(state.asked or state.question, new)
        return chance is not None and chance < PROMISING

    def _with_tables(self, kept: list[Passage], context: Context) -> list[Passage]:
        """The passages with all rows of a small table in place of its first row."""
        whole: list[Passage] = []
        tables = list(dict.fromkeys(p["source"] for p in kept if "row" in p["metadata"]))[:TABLES]
        for passage in kept:
            if "row" not in passage["metadata"] or passage["source"] not in tables:
                whole.append(passage)
            elif not any(p["source"] == passage["source"] for p in whole):
                rows = self.whole(passage["source"], context.where) if self.whole else []
                own = {p["chunk_id"]: p for p in kept if p["source"] == passage["source"]}
                whole += [own.get(p["chunk_id"], p) for p in rows] if rows else own.values()
        return whole

    def _ranked(self, query: str, pool: list[Passage], notes: Notes) -> list[Passage]:
        """The passages in the reranker's order; if it fails in the search's order, with a note."""

        def call() -> list[Passage]:
            ranked, known = self.reranker(query, pool, notes), {p["chunk_id"] for p in pool}
            if any(p["chunk_id"] not in known or not _is_score(p["rerank_score"]) for p in ranked):
                raise ModelError("it returned a passage that it was not given, or a score that is no number")
            return list(ranked)

        ranked = stand_in(
            f"The reranker {self.reranker.name!r}", call, "the passages keep the order of the search", notes
        )
        return pool if ranked is None else ranked


def _is_score(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and value == value)


def pinned(ranked: Sequence[Passage], proven: set[str], size: int) -> list[Passage]:
    """The best `size` passages in rank order, including every passage that supports a claim."""
    others = [p["chunk_id"] for p in ranked if p["chunk_id"] not in proven]
    chosen = proven.union(others[: max(size - len(proven), 0)])
    return [p for p in ranked if p["chunk_id"] in chosen]


def proven_chunks(attempt: Attempt) -> list[Passage]:
    """The chunks that support a claim of an attempt."""
    supported = [v for v in attempt.get("verdicts", []) if v["verdict"] in ("supported", "partially_supported")]
    ids = {v["evidence"]["chunk_id"] for v in supported if v["evidence"]}
    return [p for p in attempt.get("context", []) if p["chunk_id"] in ids]
