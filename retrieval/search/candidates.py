"""One query's candidates: found on each side, fused, and put on the scale of relevance."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from cragraph.retrieval.search.calibration import Calibration, Curve, falling
from cragraph.retrieval.search.fusion import CONSTANT, Ranking, fuse
from cragraph.retrieval.search.searchable import Searchable, Where
from cragraph.retrieval.search.words import content_words, plain_years
from cragraph.types import Passage

Mode = Literal["hybrid", "dense", "lexical"]


@dataclass(frozen=True)
class Candidate:
    """A passage with what each stage said of it: raw scores where that side found it, and its relevance 0..1."""

    passage: Passage
    relevance: float
    dense: float | None = None
    lexical: float | None = None
    fused: float = 0.0


@dataclass(frozen=True)
class FusionOptions:
    """How the two sides are joined; chosen by the development figures in docs/retrieval.md.

    `depth` is how many passages each side gives, `dense_weight` the say of the dense side (the lexical side has the
    rest of 1), `constant` that of reciprocal rank fusion.
    """

    depth: int = 100
    dense_weight: float = 0.4
    constant: float = CONSTANT


@dataclass(frozen=True)
class Sides:
    """What each side of a store found for a query, best first; `expanded` by the words of an expansion."""

    dense: Sequence[Passage] = ()
    lexical: Sequence[Passage] = ()
    expanded: Sequence[Passage] = ()


@dataclass(frozen=True)
class Finder:
    """Finds candidates for one query on one or both sides of a store."""

    store: Searchable
    mode: Mode = "hybrid"
    options: FusionOptions = field(default_factory=FusionOptions)
    calibration: Calibration = field(default_factory=Calibration)

    def search(self, query: str, depth: int, where: Where | None = None) -> Sides:
        """What the sides of this mode find."""
        dense = self.store.dense(plain_years(query), depth, where) if self.mode != "lexical" else []
        return Sides(dense, self.by_words(query, depth, where) if self.mode != "dense" else [])

    def by_words(self, query: str, depth: int, where: Where | None = None) -> list[Passage]:
        """What the lexical side finds."""
        # Words such as "what" and "much" are rare in documents, so that BM25 takes them for telling ones.
        return self.store.lexical(" ".join(content_words(query)), depth, where)

    def candidates(self, sides: Sides, depth: int, say: float = 0.0) -> list[Candidate]:
        """The sides fused, best first; what an expansion found has `say` times the weight of the lexical side."""
        dense, lexical, expanded = ranking(sides.dense), ranking(sides.lexical), ranking(sides.expanded)
        words = self._weight("lexical")
        rankings = [(dense, self._weight("dense")), (lexical, words), (expanded, words * say)]
        fused = fuse(rankings, self.options.constant)
        passages = {p["chunk_id"]: p for p in (*sides.expanded, *sides.lexical, *sides.dense)}
        return self._calibrated(passages, fused, dict(dense), dict(lexical), depth)

    def _weight(self, side: Mode) -> float:
        if self.mode != "hybrid":
            return 1.0
        return self.options.dense_weight if side == "dense" else 1.0 - self.options.dense_weight

    def _calibrated(
        self,
        passages: dict[str, Passage],
        fused: dict[str, float],
        dense: dict[str, float],
        lexical: dict[str, float],
        depth: int,
    ) -> list[Candidate]:
        # Whatever the dense side did not return is at most as near as the last it did return; a dense side that
        # returned fewer than it was asked for returned all there is.
        unseen = min(dense.values(), default=0.0) if len(dense) >= depth else 0.0
        curve: Curve = getattr(self.calibration, self.mode)
        found = [
            Candidate(
                passage=passages[chunk_id],
                relevance=curve(dense.get(chunk_id, unseen), lexical.get(chunk_id)),
                dense=dense.get(chunk_id),
                lexical=lexical.get(chunk_id),
                fused=score,
            )
            for chunk_id, score in fused.items()
        ]
        return levelled(found)


def ranking(passages: Sequence[Passage]) -> Ranking:
    """The ids of passages with their retrieval scores."""
    return [(p["chunk_id"], p["retrieval_score"] or 0.0) for p in passages]


def levelled(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates in their order, with relevance that never rises along it."""
    relevance = falling([c.relevance for c in candidates])
    return [replace(c, relevance=r) for c, r in zip(candidates, relevance, strict=True)]


def across(found: Sequence[Sequence[Candidate]], says: Sequence[float], constant: float = CONSTANT) -> list[Candidate]:
    """The candidates of several queries as one list: fused by rank with relevance as the share, each kept at its best.

    `says` is the weight of each query.
    Relevance, not the fused score of each query, decides how loudly a query speaks: the best of a query that found
    nothing good must not stand beside the best of one that did.
    """
    if len(found) == 1:
        return list(found[0])
    rankings = [[(c.passage["chunk_id"], c.relevance) for c in one] for one in found]
    fused = fuse([(r, say * peak(one)) for r, say, one in zip(rankings, says, found, strict=True)], constant)
    best: dict[str, Candidate] = {}
    for candidate in (c for one in found for c in one):
        chunk_id = candidate.passage["chunk_id"]
        if chunk_id not in best or candidate.relevance > best[chunk_id].relevance:
            best[chunk_id] = candidate
    return levelled([replace(best[chunk_id], fused=score) for chunk_id, score in fused.items()])


def peak(found: Sequence[Candidate]) -> float:
    """The relevance of the best candidate; 0 where nothing was found. Below a bound, this is what weak means."""
    return found[0].relevance if found else 0.0
