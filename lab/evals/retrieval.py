"""Measure retrieval stage by stage on a labelled collection, with plain BM25 and the plain encoder beside it."""

import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from cragraph import store as stores
from cragraph.models.cache import LRU, CachedEmbeddings, unit
from cragraph.passages import contextual_text
from cragraph.protocols import Embeddings, Notes, Reranker, Retriever
from cragraph.search import SearchRetriever
from cragraph.search.rerankers import LexicalReranker, rerank_gain
from cragraph.search.retriever import ForeignRetriever, load_retriever
from cragraph.store.vectorstore import LangChainStore
from lab.evals.data import Collection, read_collection
from lab.evals.metrics import mean, ndcg, recall, reciprocal_rank, times

DEPTH: Final = 100  # how deep a ranking is looked at
CANDIDATES: Final = 30  # how many of the best are reranked; the rest keep their places below
K1, B = 1.2, 0.75
_WORD: Final = re.compile(r"\w+")
_BATCH: Final = 64

Progress = Callable[[int, int, str], None]
Stage = Callable[[str], list[str]]


class PlainBM25:
    """BM25 as textbooks have it: lower-cased words, neither stemming nor stopwords, idf ln(1 + (N-n+0.5)/(n+0.5))."""

    def __init__(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        self._ids = list(ids)
        counts = [Counter(_WORD.findall(text.lower())) for text in texts]
        lengths = np.array([count.total() for count in counts], dtype=np.float64)
        norm = K1 * (1 - B + B * lengths / max(1.0, lengths.mean()))
        postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, count in enumerate(counts):
            for word, often in count.items():
                postings[word].append((row, often))
        self._weights: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for word, rows in postings.items():
            at, often = np.array(rows, dtype=np.int64).T
            idf = math.log1p((len(counts) - len(at) + 0.5) / (len(at) + 0.5))
            self._weights[word] = (at, idf * often * (K1 + 1) / (often + norm[at]))

    def __call__(self, query: str, k: int = DEPTH) -> list[str]:
        """The ids of the best `k` that share a word with the query."""
        scores = np.zeros(len(self._ids))
        for word in _WORD.findall(query.lower()):
            if word in self._weights:
                rows, weights = self._weights[word]
                scores[rows] += weights
        order = np.argsort(-scores, kind="stable")[:k]
        return [self._ids[row] for row in order if scores[row] > 0.0]


@dataclass
class Reranked:
    """Hybrid search, its first `CANDIDATES` reranked; keeps the gain of each query."""

    retriever: Retriever
    reranker: Reranker
    gains: list[float] = field(default_factory=list)

    def __call__(self, query: str) -> list[str]:
        """The ids, best first."""
        passages = self.retriever([query], DEPTH, Notes())
        ranked = self.reranker(query, passages[:CANDIDATES], Notes())
        self.gains.append(rerank_gain(passages[:CANDIDATES], ranked))
        return [p["chunk_id"] for p in (*ranked, *passages[CANDIDATES:])]


def run(
    folder: Path,
    embeddings: Embeddings,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
    foreign: str | None = None,
) -> dict[str, Any]:
    """Measure every stage on the collection in a folder.

    Returns ``{"stages": {"lexical", "dense", "hybrid", "hybrid+rerank"}, "baselines": {"bm25", "encoder"}, …}``, each
    with `ndcg@10`, `recall@10`, `recall@100`, `mrr`, `ms_p50` and `ms_p95`. Only queries with a relevant passage
    count. Milliseconds are without embedding the query, which is under `embed_ms_p50`. `limit` takes the first so many
    queries. `foreign` names a LangChain retriever as ``module:name`` (a function is given the collection as LangChain
    documents), measured as the stages `retriever` and `retriever+rerank`.
    """
    collection = read_collection(folder)
    queries = collection.judged[:limit]
    ids = [p["chunk_id"] for p in collection.passages]
    texts = [contextual_text(p) for p in collection.passages]
    vectors, took = CachedEmbeddings(embeddings, LRU(sys.maxsize)), []
    tell, reranker = progress or (lambda *done: None), LexicalReranker()
    for start in range(0, len(texts), _BATCH):
        vectors.embed_documents(texts[start : start + _BATCH])
        tell(min(start + _BATCH, len(texts)), len(texts), "embedding")
    for done, query in enumerate(queries, start=1):
        started = perf_counter()
        vectors.embed_query(collection.queries[query])
        took.append((perf_counter() - started) * 1000)
        tell(done, len(queries), "queries")
    rows = unit(vectors.embed_documents(texts), len(texts))

    def nearest(query: str) -> list[str]:
        cosines = rows @ unit([vectors.embed_query(query)], 1)[0]
        return [ids[row] for row in np.argsort(-cosines, kind="stable")[:DEPTH]]

    baselines: dict[str, Stage] = {"bm25": PlainBM25(ids, texts), "encoder": nearest}
    with stores.open_store(None, vectors) as store:
        store.add(collection.passages)
        hybrid = SearchRetriever(store)
        reranked = Reranked(hybrid, reranker)
        stages: dict[str, Stage] = {
            "lexical": _stage(SearchRetriever(store, mode="lexical")),
            "dense": _stage(SearchRetriever(store, mode="dense")),
            "hybrid": _stage(hybrid),
            "hybrid+rerank": reranked,
        }
        if foreign is not None:
            own = _foreign(foreign, collection)
            stages |= {"retriever": _stage(own), "retriever+rerank": Reranked(own, reranker)}
        scored = {name: score(name, stage, collection, queries, tell) for name, stage in (baselines | stages).items()}
    return {
        "collection": collection.name,
        "passages": len(collection.passages),
        "queries": len(queries),
        "queries_without_relevant": len(collection.queries) - len(collection.judged),
        "embeddings": vectors.name,
        "reranker": reranker.name,
        "candidates": CANDIDATES,
        "rerank_gain": round(mean(reranked.gains), 4),
        "embed_ms_p50": times(took)["ms_p50"],
        "stages": {name: scored[name] for name in stages},
        "baselines": {name: scored[name] for name in baselines},
    }


def score(
    name: str, stage: Stage, collection: Collection, queries: Sequence[str], progress: Progress
) -> dict[str, float]:
    """The means of a stage's ranking figures over queries, and how long it took."""
    rows: list[dict[str, float]] = []
    took: list[float] = []
    for done, query in enumerate(queries, start=1):
        started = perf_counter()
        ranking = stage(collection.queries[query])
        took.append((perf_counter() - started) * 1000)
        gains = collection.qrels[query]
        row = {"ndcg@10": ndcg(ranking, gains, 10), "recall@10": recall(ranking, gains, 10)}
        rows.append(row | {"recall@100": recall(ranking, gains, DEPTH), "mrr": reciprocal_rank(ranking, gains)})
        progress(done, len(queries), name)
    return {figure: round(mean([row[figure] for row in rows]), 4) for figure in rows[0]} | times(took)


def _foreign(spec: str, collection: Collection) -> Retriever:
    from langchain_core.documents import Document  # takes longer to import than all the rest

    documents = [
        Document(page_content=contextual_text(p), id=p["chunk_id"], metadata={"chunk_id": p["chunk_id"]})
        for p in collection.passages
    ]
    source = load_retriever(spec, documents)
    if hasattr(source, "similarity_search"):
        return SearchRetriever(LangChainStore(source))
    return ForeignRetriever(source)


def _stage(retriever: Retriever) -> Stage:
    return lambda query: [p["chunk_id"] for p in retriever([query], DEPTH, Notes())]
