"""Fusion: what the sides and the queries found as one list of candidates, on one scale of relevance.

Raw scores are fused by rank with the share of the best score, and put on a scale by curves that were fitted on judged
passages.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from cragraph.retrieval.documents import contextual_text
from cragraph.text.words import STOPWORDS, keywords, plain_years, terms, words
from cragraph.types import Passage

Mode = Literal["hybrid", "dense", "lexical"]
Where = Mapping[str, Any]
Vectors = NDArray[np.float32]
Ranking = Sequence[tuple[str, float]]
"""Ids with their scores (0 or more), best first."""

CONSTANT: Final = 60.0
"""How flat the reciprocal ranks are; the value of the paper that proposed them."""


class Searchable(Protocol):
    """A store that finds passages by meaning and by words; `cragraph.retrieval.store.Store` is one."""

    def dense(self, query: str, k: int, where: Where | None = None) -> list[Passage]:
        """The `k` nearest passages, best first; `retrieval_score` is the cosine similarity, 0 where it is negative."""
        ...

    def lexical(self, query: str, k: int, where: Where | None = None) -> list[Passage]:
        """The `k` best passages by BM25, best first; `retrieval_score` is proportional to it, 0..1."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What is degraded in the store at present, in plain sentences."""
        ...

    def vectors(self, chunk_ids: Sequence[str]) -> Vectors:
        """The unit vectors of these passages, float32 (n, dimension)."""
        ...


def fuse(rankings: Iterable[tuple[Ranking, float]], constant: float = CONSTANT) -> dict[str, float]:
    """Ids by fused score, best first: the sum over rankings of weight * share / (constant + rank), ranks from 1.

    `share` is a passage's score as a share of the best score in its ranking. Plain reciprocal rank fusion (Cormack,
    Clarke and Büttcher 2009; every share is 1) favours what several rankings agree on and cannot see that one of them
    found nothing good: the tenth best of a flat, undecided ranking counts as much as the tenth best of a decided one.
    With the share, a ranking speaks as loudly as its scores fall off. Ties keep the order of first appearance.
    """
    fused: dict[str, float] = {}
    for ranking, weight in rankings:
        best = max((score for _, score in ranking), default=0.0)
        for rank, (chunk_id, score) in enumerate(ranking, start=1):
            share = score / best if best > 0.0 else 1.0
            fused[chunk_id] = fused.get(chunk_id, 0.0) + weight * share / (constant + rank)
    return in_order(fused)


def in_order(scores: Mapping[str, float]) -> dict[str, float]:
    """The same scores, best first; ties keep their order."""
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


@dataclass(frozen=True)
class Curve:
    """A logistic curve over the two raw scores: 1 / (1 + exp(-(base + dense * d + lexical * l)))."""

    base: float
    dense: float = 0.0
    lexical: float = 0.0

    def __call__(self, dense: float | None, lexical: float | None) -> float:
        """Relevance 0..1; a score that is missing counts as 0."""
        z = self.base + self.dense * (dense or 0.0) + self.lexical * (lexical or 0.0)
        return 1.0 / (1.0 + math.exp(-z)) if z > -700 else 0.0


@dataclass(frozen=True)
class Calibration:
    """One curve a mode, so that a floor lets through equally relevant passages whichever mode found them.

    Fitted for the embedded encoder on the judged passages of the development collections (benchmarks/calibration.py);
    other embedding models spread their cosines differently: give curves of their own.
    """

    dense: Curve = Curve(-6.1, dense=8.8)
    lexical: Curve = Curve(-3.1, lexical=4.3)
    hybrid: Curve = Curve(-5.4, dense=7.4, lexical=1.2)


def falling(values: Sequence[float]) -> list[float]:
    """The closest sequence that never rises, in least squares (pool adjacent violators).

    Relevance is estimated passage by passage, order is decided by fusion; where the two disagree, the passages
    concerned share their mean, so that a floor cuts the list at one place.
    """
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] < total / count:
            above, more = blocks.pop()
            total, count = total + above, count + more
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]


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
    """How the two sides are joined; chosen by the development figures in docs/results/retrieval.md.

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
        return self.store.lexical(" ".join(keywords(query)), depth, where)

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


@dataclass(frozen=True)
class Feedback:
    """Adds the telling words of the best passages to a query for the lexical side.

    Used only when the first pass is weak: when the relevance of its best passage is below `weak_below`. A strong first
    pass has nothing to gain from words that the question did not use. `passages` are read, `terms` words added, and
    what they find has `weight` times the say of the lexical side: enough to bring passages in that the first pass
    missed, too little to turn its order over.
    """

    weak_below: float = 0.1
    passages: int = 10
    terms: int = 10
    weight: float = 0.2

    def __call__(self, query: str, found: Sequence[Passage]) -> str:
        """The query with the words that are in most of the best passages, best first; the same query where none is."""
        texts = [contextual_text(passage) for passage in found[: self.passages]]
        held = Counter(word for text in texts for word in {w.casefold() for w in words(text)})
        often = Counter(word for text in texts for word in (w.casefold() for w in words(text)))
        telling = [
            word
            for word, passages in held.items()
            if passages > 1 and word not in STOPWORDS and len(word) > 2 and not word.isdigit()
        ]
        telling.sort(key=lambda word: (-held[word] * math.log1p(often[word]), word))
        known = set(terms(query))
        added = [word for word in telling if not set(terms(word)) <= known]
        return " ".join([query, *added[: self.terms]])


def mmr(relevance: Sequence[float], vectors: Vectors, k: int, *, redundancy: float, same: float) -> list[int]:
    """Indices of the `k` passages picked one by one for relevance less what the picked ones already say.

    A passage loses `redundancy` times how far its cosine to the nearest picked one is above `same`, as a share of the
    way from `same` to 1: an exact copy loses all of `redundancy`, a passage that is merely on the same subject
    nothing. (Carbonell and Goldstein 1998, whose penalty is the cosine itself; that one also costs the second half of
    an answer that runs over two chunks.) `vectors` are unit vectors, one a row. Ties go to the earlier one.
    """
    left = np.asarray(relevance, dtype=np.float64)
    penalty = np.zeros(len(left))
    picked: list[int] = []
    open_ = np.ones(len(left), dtype=bool)
    for _ in range(min(k, len(left))):
        best = int(np.argmax(np.where(open_, left - redundancy * penalty, -np.inf)))
        picked.append(best)
        open_[best] = False
        nearness = (vectors @ vectors[best] - same) / (1.0 - same)
        penalty = np.maximum(penalty, np.clip(nearness, 0.0, 1.0))
    return picked
