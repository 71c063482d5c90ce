"""The retriever: passages for one or more queries, by meaning, by words or both, and the fusion of their rankings."""

import asyncio
import inspect
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal

from cragraph.errors import InputError, ModelError, SettingsError, StoreError
from cragraph.language.words import keywords, plain_years
from cragraph.protocols import CALLERS_LOOP, Notes, PassageStore, reason_of, remaining
from cragraph.search.questions import Decompose
from cragraph.search.rerankers import logistic
from cragraph.store.filters import Where, fits
from cragraph.store.vectorstore import read
from cragraph.types import Passage

Mode = Literal["hybrid", "dense", "lexical"]
Ranking = Sequence[tuple[str, float]]  # ids with their scores (0 or more), best first

CONSTANT: Final = 60.0  # the constant of reciprocal ranks, from the original paper


def distinct_queries(queries: Sequence[str], k: int) -> list[str]:
    """The distinct queries with a word. Raises InputError if there are none, or if `k` is below 1."""
    distinct = list(dict.fromkeys(query.strip() for query in queries if query.strip()))
    if k < 1 or not distinct:
        raise InputError(
            f"The search was asked for {k} passages with {len(distinct)} queries; wanted at least one of each."
        )
    return distinct


def fuse(rankings: Iterable[tuple[Ranking, float]], constant: float = CONSTANT) -> dict[str, float]:
    """Ids by fused score, best first: the sum over rankings of weight * share / (constant + rank), ranks from 1.

    `share` is a passage's score as a share of the best in its ranking. Plain reciprocal rank fusion (Cormack, Clarke,
    Büttcher 2009; every share is 1, as where all scores are 0) favours what several rankings agree on and cannot see
    that one of them found nothing good. Ties keep the order of first appearance.
    """
    fused: dict[str, float] = {}
    for ranking, weight in rankings:
        best = max((score for _, score in ranking), default=0.0)
        for rank, (chunk_id, score) in enumerate(ranking, start=1):
            share = score / best if best > 0.0 else 1.0
            fused[chunk_id] = fused.get(chunk_id, 0.0) + weight * share / (constant + rank)
    return dict(sorted(fused.items(), key=lambda item: -item[1]))


@dataclass(frozen=True)
class Logistic:
    """A logistic curve over the two raw scores: 1 / (1 + exp(-(base + dense * d + lexical * l)))."""

    base: float
    dense: float = 0.0
    lexical: float = 0.0

    def __call__(self, dense: float | None, lexical: float | None) -> float:
        """Relevance 0..1; a score that is missing counts as 0."""
        return logistic(self.base + self.dense * (dense or 0.0) + self.lexical * (lexical or 0.0))


@dataclass(frozen=True)
class Curves:
    """One curve per mode, so that a floor means the same relevance in every mode.

    Fitted for the embedded encoder (lab/benchmarks/calibration.py); other models spread their cosines differently.
    """

    dense: Logistic = Logistic(-6.1, dense=8.8)
    lexical: Logistic = Logistic(-3.1, lexical=4.3)
    hybrid: Logistic = Logistic(-5.4, dense=7.4, lexical=1.2)


def falling(values: Sequence[float]) -> list[float]:
    """The closest sequence that never rises, in least squares (pool adjacent violators).

    Passages whose relevance disagrees with the order of fusion share their mean, so that a floor cuts the list once.
    """
    blocks: list[tuple[float, int]] = []
    for value in values:
        total, count = value, 1
        while blocks and blocks[-1][0] / blocks[-1][1] < total / count:
            above, more = blocks.pop()
            total, count = total + above, count + more
        blocks.append((total, count))
    return [total / count for total, count in blocks for _ in range(count)]


# -- fusion --------------------------------------------------------------------------------------------------------

DEPTH: Final = 100  # passages from each side of a search at least
DENSE_WEIGHT: Final = 0.4  # weight of the dense side, of 1 in all; chosen by docs/lab/results/retrieval.md

Expander = Callable[[str, Notes], list[str]]
"""Writes further queries that together cover a question, without the question itself; none for a simple question."""


@dataclass(frozen=True)
class SourceWeights:
    """A reliability weight 0..1 by glob pattern of the source, e.g. ``{"drafts/*": 0.5, "*.txt": 0.8}``.

    The first pattern that matches the source or its file name decides, 1 where none does; 0 leaves the source out.
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
        fitting = (w for pattern, w in self.by_pattern.items() if any(fnmatchcase(name, pattern) for name in names))
        return next(fitting, 1.0)

    def __bool__(self) -> bool:
        return bool(self.by_pattern)


@dataclass(frozen=True)
class Hit:
    """A passage with its relevance 0..1, and the raw score of each side that found it."""

    passage: Passage
    relevance: float
    dense: float | None = None
    lexical: float | None = None
    fused: float = 0.0

    @property
    def id(self) -> str:
        """The id of the passage."""
        return self.passage["chunk_id"]


@dataclass(frozen=True)
class SearchRetriever:
    """Finds passages in a store.

    Each query is searched by `mode`. Its sub-questions from `expand` are searched as well, with the weight `part_say`
    beside 1. `weights` are multiplied into the relevance.
    """

    store: PassageStore
    mode: Mode = "hybrid"
    weights: SourceWeights = field(default_factory=SourceWeights)
    expand: Expander | None = field(default_factory=Decompose)
    part_say: float = 0.3
    calibration: Curves = field(default_factory=Curves)

    @property
    def name(self) -> str:
        """The mode, as the retriever's name in `notes` and reports."""
        return self.mode

    def __call__(self, queries: Sequence[str], k: int, notes: Notes, *, where: Where = None) -> list[Passage]:
        """At most `k` passages, best first.

        `retrieval_score` is the calibrated relevance times the source's weight; it never rises along the list, and
        means the same in every mode. `metadata["scores"]` has the scores of each stage.
        """
        distinct = distinct_queries(queries, k)
        more = [query for one in distinct for query in self.expand(one, notes)] if self.expand else []
        weights = dict.fromkeys(more, self.part_say) | dict.fromkeys(distinct, 1.0)
        hits = self._weighed(self._found({query: weights[query] for query in (*distinct, *more)}, k, where, notes))
        found = [self._scored(hit) for hit in hits[:k]]
        for sentence in self.store.notes:  # also what the search met
            notes.degraded(sentence)
        return found

    def _found(self, weights: Mapping[str, float], k: int, where: Where, notes: Notes) -> list[Hit]:
        """The hits of all queries, by weight, as one list."""
        depth = max(DEPTH, k)
        near, alike = self.mode != "lexical", self.mode != "dense"
        hits = [
            self._fused(
                self._by_meaning(plain_years(query), depth, where, notes) if near else [],
                self._by_words(query, depth, where) if alike else [],
                depth,
            )
            for query in weights
        ]
        return across(hits, list(weights.values()))

    def _by_meaning(self, query: str, depth: int, where: Where, notes: Notes) -> list[Passage]:
        try:
            return self.store.dense(query, depth, where)
        except (InputError, StoreError):
            raise
        except Exception as error:  # the embedding model may be the caller's own, or on an unreachable server
            if self.mode == "dense":
                raise ModelError(
                    f"The embedding model failed ({reason_of(error)}): check it, or search by words."
                ) from error
            notes.degraded(f"The embedding model failed ({reason_of(error)}); the search was by words alone.")
            return []

    def _by_words(self, query: str, depth: int, where: Where) -> list[Passage]:
        # Words such as "what" and "much" are rare in documents, so that BM25 would weigh them heavily.
        return self.store.lexical(" ".join(keywords(query)), depth, where)

    def _fused(self, dense: Sequence[Passage], lexical: Sequence[Passage], depth: int) -> list[Hit]:
        """The sides of one query fused, best first, with their relevance."""
        near, alike = dict(_ranking(dense)), dict(_ranking(lexical))
        words = 1.0 - DENSE_WEIGHT if self.mode == "hybrid" else 1.0
        meaning = DENSE_WEIGHT if self.mode == "hybrid" else 1.0
        fused = fuse([(_ranking(dense), meaning), (_ranking(lexical), words)])
        # A passage that the dense side did not return is at most as near as its last one. A dense side that returned
        # fewer passages than asked for returned all of them.
        unseen = min(near.values(), default=0.0) if len(near) >= depth else 0.0
        curve = getattr(self.calibration, self.mode)
        passages = {p["chunk_id"]: p for p in (*lexical, *dense)}
        hits = (
            Hit(passages[i], curve(near.get(i, unseen), alike.get(i)), near.get(i), alike.get(i), score)
            for i, score in fused.items()
        )
        return levelled(list(hits))

    def _weighed(self, hits: list[Hit]) -> list[Hit]:
        if not self.weights:
            return hits
        # Weighted fusion decides the order, as `levelled` makes ties in relevance.
        order = {c.id: c.fused * self.weights(c.passage) for c in hits}
        kept = [replace(c, relevance=c.relevance * self.weights(c.passage)) for c in hits if order[c.id] > 0.0]
        return levelled(sorted(kept, key=lambda c: -order[c.id]))

    def _scored(self, candidate: Hit) -> Passage:
        scores: dict[str, Any] = {name: getattr(candidate, name) for name in ("dense", "lexical", "fused")}
        scores["retrieval"] = candidate.relevance
        if self.weights:
            scores["weight"] = self.weights(candidate.passage)
        passage = candidate.passage.copy()
        passage["metadata"] = {**passage["metadata"], "scores": scores}
        passage["retrieval_score"] = candidate.relevance
        return passage


def across(by_query: Sequence[Sequence[Hit]], weights: Sequence[float]) -> list[Hit]:
    """The hits of several queries as one list, each at its best: fused by rank with relevance as the share.

    A query counts by its weight and by its best relevance: the best hit of a query that found nothing good must not
    rank with the best hit of a good one.
    """
    if len(by_query) == 1:
        return list(by_query[0])
    rankings = [
        ([(c.id, c.relevance) for c in one], weight * _peak(one)) for weight, one in zip(weights, by_query, strict=True)
    ]
    best: dict[str, Hit] = {}
    for hit in (hit for hits in by_query for hit in hits):
        if hit.id not in best or hit.relevance > best[hit.id].relevance:
            best[hit.id] = hit
    return levelled([replace(best[chunk_id], fused=score) for chunk_id, score in fuse(rankings).items()])


def levelled(candidates: Sequence[Hit]) -> list[Hit]:
    """The candidates in their order, with relevance that never rises along it."""
    relevance = falling([c.relevance for c in candidates])
    return [replace(c, relevance=r) for c, r in zip(candidates, relevance, strict=True)]


def _ranking(passages: Sequence[Passage]) -> Ranking:
    return [(p["chunk_id"], p["retrieval_score"] or 0.0) for p in passages]


def _peak(hits: Sequence[Hit]) -> float:
    return hits[0].relevance if hits else 0.0


# -- a LangChain retriever in place of a store -----------------------------------------------------------------------

PAUSE_S: Final = 0.5  # seconds before a search that failed is tried again
UNFILTERED: Final = (
    "The retriever {} did not take the filter ({}), so its passages were filtered afterwards and may be few."
)


@dataclass(frozen=True)
class ForeignRetriever:
    """Searches a LangChain `BaseRetriever`, all queries side by side.

    A filter is passed on as `filter=`; if that is refused, the passages are filtered afterwards. A search that fails is
    tried once more; `timeout_s` bounds it. The further queries that `expand` finds in a question are searched as well.
    """

    source: Any
    timeout_s: float = 120.0
    expand: Callable[[str, Notes], list[str]] | None = None

    def __post_init__(self) -> None:
        if not hasattr(self.source, "invoke"):
            raise SettingsError(
                f"The retriever came as a {type(self.source).__name__}; wanted a LangChain BaseRetriever or "
                "VectorStore: pass one."
            )

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.source).__name__

    def __call__(self, queries: Sequence[str], k: int, notes: Notes, *, where: Where = None) -> list[Passage]:
        """At most `k` passages, best first. Raises StoreError if a search fails."""
        more = [other for query in queries for other in self.expand(query, notes)] if self.expand else []
        distinct = distinct_queries([*queries, *more], k)
        left = remaining()
        seconds = self.timeout_s if left is None else min(left, self.timeout_s)
        pool = ThreadPoolExecutor(min(len(distinct), 8), "cragraph-search")
        try:
            runs = [pool.submit(copy_context().run, self._tried, query, k, where, notes) for query in distinct]
            until = time.monotonic() + seconds
            rankings = [run.result(max(0.0, until - time.monotonic())) for run in runs]
        except LateError:
            raise StoreError(
                f"The retriever {self.name} took longer than {seconds:.0f} s: raise CRAG_TIMEOUT_S or the deadline."
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return fused(rankings)[:k]

    def _tried(self, query: str, k: int, where: Where, notes: Notes, again: bool = True) -> list[Passage]:
        try:
            return self._found(query, k, where, notes)
        except Exception as error:  # any error of a foreign client
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            if not again:
                raise StoreError(f"The retriever {self.name} failed: {reason}. Check that it answers.") from error
        notes.degraded(f"The retriever {self.name} failed and was asked again: {reason}.")
        time.sleep(PAUSE_S)
        return self._tried(query, k, where, notes, again=False)

    def _found(self, query: str, k: int, where: Where, notes: Notes) -> list[Passage]:
        if not where:
            return self._searched(query, k)
        refused = "it knows no filters"
        # LangChain drops what a retriever's signature does not name.
        search = getattr(self.source, "_get_relevant_documents", None)
        named = {} if search is None else inspect.signature(search).parameters
        if search is None or "filter" in named or any(p.kind is p.VAR_KEYWORD for p in named.values()):
            try:
                return self._searched(query, k, filter=dict(where))
            except Exception as error:
                refused = type(error).__name__
        passages = [passage for passage in self._searched(query, 4 * k) if fits(passage, where)]
        notes.degraded(UNFILTERED.format(self.name, refused))
        return passages[:k]

    def _searched(self, query: str, k: int, **options: Any) -> list[Passage]:
        own = options | ({"k": k} if hasattr(self.source, "vectorstore") else {})
        try:
            found = self.source.invoke(query, **own)
        except NotImplementedError:  # it has only an asynchronous search
            found = waited(partial(self.source.ainvoke, query, **own))
        return [read(document, index) for index, document in enumerate(found)]


def waited(call: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run a coroutine in the graph's event loop, if any, and return its result."""
    loop = CALLERS_LOOP.get()
    if loop is not None and loop.is_running():
        return asyncio.run_coroutine_threadsafe(call(), loop).result(remaining())
    return asyncio.run(call())


def fused(rankings: Sequence[Sequence[Passage]]) -> list[Passage]:
    """Several rankings fused by reciprocal ranks; a passage in several of them keeps its best score."""
    if len(rankings) == 1:
        return list(rankings[0])
    ascending = sorted(chain(*rankings), key=lambda passage: passage["retrieval_score"] or 0.0)
    kept = {passage["chunk_id"]: passage for passage in ascending}
    return [kept[name] for name in fuse(([(p["chunk_id"], 0.0) for p in ranking], 1.0) for ranking in rankings)]


def load_retriever(spec: str, *arguments: Any) -> Any:
    """The object named ``module:name``; a function is called with as many `arguments` as it takes."""
    module, _, name = spec.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        retriever: Any = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(
            f"The retriever {spec!r} cannot be imported ({error}): give module:name, such as search:retriever."
        ) from error
    if isinstance(retriever, Callable) and not hasattr(retriever, "invoke"):  # type: ignore[arg-type]
        retriever = retriever(*arguments[: len(inspect.signature(retriever).parameters)])
    return retriever
