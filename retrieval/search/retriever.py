"""The retriever: passages for one or more queries, by meaning, by words or both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Protocol

from cragraph.errors import InputError, SettingsError
from cragraph.protocols import Notes
from cragraph.retrieval.search.fusion import (
    Calibration,
    Candidate,
    Feedback,
    Finder,
    FusionOptions,
    Mode,
    Searchable,
    Where,
    across,
    levelled,
    mmr,
    peak,
)
from cragraph.retrieval.search.questions import Decompose
from cragraph.types import Passage


class QueryExpander(Protocol):
    """Writes further queries that together cover the question; not the question itself, and none where one will do."""

    @property
    def name(self) -> str:
        """What notes and reports call it."""
        ...

    def __call__(self, question: str, notes: Notes) -> list[str]:
        """The further queries."""
        ...


@dataclass(frozen=True)
class SourceWeights:
    """A reliability weight 0..1 by glob pattern of the source, e.g. ``{"drafts/*": 0.5, "*.txt": 0.8}``.

    The first pattern that matches the source or its file name decides, so put the narrow ones first; 1 where none
    does. `*` also matches `/`. A weight of 0 leaves the source out.

    Raises:
        SettingsError: a weight is outside 0..1.
    """

    by_pattern: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for pattern, weight in self.by_pattern.items():
            if not 0.0 <= weight <= 1.0:
                raise SettingsError(
                    f"the source weight of {pattern!r} is {weight}; wanted a number from 0 (left out) to 1 (fully "
                    "relied on): lower the weights of the others instead of raising one above 1."
                )

    def __call__(self, passage: Passage) -> float:
        """The weight of the passage's source."""
        names = (passage["source"], passage["filename"])
        for pattern, weight in self.by_pattern.items():
            if any(fnmatchcase(name, pattern) for name in names):
                return weight
        return 1.0

    def __bool__(self) -> bool:
        return bool(self.by_pattern)


@dataclass(frozen=True)
class SearchRetriever:
    """Finds passages in a store.

    Each query is searched by `mode` and, where `expand` finds several questions in it, by those as well, with
    `part_say` as their weight beside 1. `feedback` gives a weak first pass of hybrid search a second look. `weights`
    are multiplied into the relevance. `redundancy` is what an exact copy of a passage already chosen loses, and `same`
    the cosine from which a passage begins to count as a copy; a `redundancy` of 0 turns that off.
    """

    store: Searchable
    mode: Mode = "hybrid"
    weights: SourceWeights = field(default_factory=SourceWeights)
    expand: QueryExpander | None = field(default_factory=Decompose)
    feedback: Feedback | None = field(default_factory=Feedback)
    part_say: float = 0.3
    redundancy: float = 0.8
    same: float = 0.9
    fusion: FusionOptions = field(default_factory=FusionOptions)
    calibration: Calibration = field(default_factory=Calibration)

    @property
    def name(self) -> str:
        """The mode: what `notes` and reports call this retriever."""
        return self.mode

    def __call__(
        self, queries: Sequence[str], k: int, notes: Notes, *, where: Mapping[str, Any] | None = None
    ) -> list[Passage]:
        """At most `k` passages, best first.

        `retrieval_score` is the calibrated relevance times the source's weight; it never rises along the list, and
        means the same in every mode. `metadata["scores"]` keeps what it was made of.

        Raises:
            InputError: `k` is below 1, or no query has a word.
        """
        asked = list(dict.fromkeys(query.strip() for query in queries if query.strip()))
        if k < 1 or not asked:
            raise InputError(
                f"The search was asked for {k} passages with {len(asked)} queries; wanted at least one of each."
            )
        for sentence in self.store.notes:
            notes.degraded(sentence)
        found = self._weighed(self._found(self._expanded(asked, notes), k, where))
        return [_scored(candidate, self.weights) for candidate in self._diverse(found, k)]

    def _expanded(self, asked: Sequence[str], notes: Notes) -> dict[str, float]:
        """Every query with its say: 1 for what was asked, `part_say` for what that was expanded to."""
        more = [query for one in asked for query in self.expand(one, notes)] if self.expand else []
        return dict.fromkeys(asked, 1.0) | {query: self.part_say for query in more if query not in asked}

    def _found(self, queries: Mapping[str, float], k: int, where: Where | None) -> list[Candidate]:
        find = Finder(self.store, self.mode, self.fusion, self.calibration)
        depth = max(self.fusion.depth, k)
        sides = [find.search(query, depth, where) for query in queries]
        found = [find.candidates(one, depth) for one in sides]
        if self.feedback and self.mode == "hybrid" and 0.0 < max(map(peak, found)) < self.feedback.weak_below:
            longer = [self.feedback(query, [c.passage for c in one]) for query, one in zip(queries, found, strict=True)]
            more = [replace(one, expanded=find.by_words(q, depth, where)) for one, q in zip(sides, longer, strict=True)]
            found = [find.candidates(one, depth, self.feedback.weight) for one in more]
        return across(found, list(queries.values()), self.fusion.constant)

    def _weighed(self, found: Sequence[Candidate]) -> list[Candidate]:
        if not self.weights:
            return list(found)
        weighed = [replace(c, relevance=c.relevance * self.weights(c.passage)) for c in found]
        # Order is decided by weighted fusion, as relevance alone has ties where `levelled` made them.
        order = {c.passage["chunk_id"]: c.fused * self.weights(c.passage) for c in found}
        kept = [c for c in weighed if order[c.passage["chunk_id"]] > 0.0]
        return levelled(sorted(kept, key=lambda c: -order[c.passage["chunk_id"]]))

    def _diverse(self, found: Sequence[Candidate], k: int) -> list[Candidate]:
        pool = found[: 2 * k + 20]
        if len(pool) <= k or not self.redundancy:
            return list(found[:k])
        vectors = self.store.vectors([c.passage["chunk_id"] for c in pool])
        best = max(c.fused for c in pool)
        relevance = [c.fused / best for c in pool]
        picked = mmr(relevance, vectors, k, redundancy=self.redundancy, same=self.same)
        return [pool[index] for index in sorted(picked)]


def _scored(candidate: Candidate, weights: SourceWeights) -> Passage:
    scores: dict[str, Any] = {
        "dense": candidate.dense,
        "lexical": candidate.lexical,
        "fused": candidate.fused,
        "retrieval": candidate.relevance,
    }
    if weights:
        scores["weight"] = weights(candidate.passage)
    passage = candidate.passage.copy()
    passage["metadata"] = {**passage["metadata"], "scores": scores}
    passage["retrieval_score"] = candidate.relevance
    return passage
