"""Measure retrieval stage by stage on a labelled collection, with plain BM25 and the plain encoder beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from cragraph.evals.baselines import PlainBM25, PlainEncoder
from cragraph.evals.data import Collection, read_collection
from cragraph.evals.metrics import mean, ndcg, recall, reciprocal_rank
from cragraph.evals.vector_cache import RememberedEmbeddings
from cragraph.metrics import quantile
from cragraph.passages import contextual_text
from cragraph.protocols import Embeddings, Notes, Reranker, Retriever
from cragraph.retrieval.rerankers import LexicalReranker
from cragraph.retrieval.rerankers.scored import rerank_gain
from cragraph.retrieval.search import SearchRetriever
from cragraph.types import Passage

if TYPE_CHECKING:
    pass

DEPTH: Final = 100
"""How deep a ranking is looked at."""

CANDIDATES: Final = 30
"""How many of the best are reranked; the rest keep their places below."""

Progress = Callable[[int, int, str], None]
Stage = Callable[[str], list[str]]


@dataclass
class Reranked:
    """Hybrid search, its first `CANDIDATES` reranked; keeps the gain of each query."""

    retriever: Retriever
    reranker: Reranker
    gains: list[float] = field(default_factory=list)

    def __call__(self, query: str) -> list[str]:
        """The ids, best first."""
        found = self.retriever([query], DEPTH, Notes())
        ranked = self.reranker(query, found[:CANDIDATES], Notes())
        self.gains.append(rerank_gain(found[:CANDIDATES], ranked))
        return [p["chunk_id"] for p in (*ranked, *found[CANDIDATES:])]


def run(
    folder: Path,
    embeddings: Embeddings,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
    cache: Path | None = None,
    foreign: str | None = None,
) -> dict[str, Any]:
    """Measure every stage on the collection in a folder.

    Returns ``{"stages": {"lexical", "dense", "hybrid", "hybrid+rerank"}, "baselines": {"bm25", "encoder"}, …}``, each
    with `ndcg@10`, `recall@10`, `recall@100`, `mrr`, `ms_p50` and `ms_p95`. Only queries with a relevant passage
    count. Milliseconds are without embedding the query, which is under `embed_ms_p50`. `limit` takes the first so many
    queries; `cache` is a folder that remembers vectors between runs. `foreign` names a LangChain retriever as
    ``module:name`` (a function is given the collection as LangChain documents), measured as the stages `retriever` and
    `retriever+rerank`.

    Raises:
        InputError: the folder holds no readable collection.
    """
    from cragraph.retrieval.store import open_store

    collection = read_collection(folder)
    queries = collection.judged[:limit]
    ids = [p["chunk_id"] for p in collection.passages]
    texts = [contextual_text(p) for p in collection.passages]
    vectors = RememberedEmbeddings(embeddings, cache)
    told, reranker = progress or _silent, LexicalReranker()
    vectors.embed(texts, lambda done, of: told(done, of, "embedding"))
    for done, query in enumerate(queries, start=1):
        vectors.embed_query(collection.queries[query])
        told(done, len(queries), "queries")
    bm25, encoder = PlainBM25(ids, texts), PlainEncoder(ids, texts, vectors)
    baselines: dict[str, Stage] = {
        "bm25": lambda query: bm25(query, DEPTH),
        "encoder": lambda query: encoder(query, DEPTH),
    }
    with open_store(None, vectors) as store:
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
        scored = {name: score(name, stage, collection, queries, told) for name, stage in (baselines | stages).items()}
    vectors.save()
    return {
        "collection": collection.name,
        "passages": len(collection.passages),
        "queries": len(queries),
        "queries_without_relevant": len(collection.queries) - len(collection.judged),
        "embeddings": vectors.name,
        "reranker": reranker.name,
        "candidates": CANDIDATES,
        "rerank_gain": round(mean(reranked.gains), 4),
        "embed_ms_p50": round(quantile(vectors.query_ms, 0.5), 2),
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
        rows.append(
            {
                "ndcg@10": ndcg(ranking, gains, 10),
                "recall@10": recall(ranking, gains, 10),
                "recall@100": recall(ranking, gains, DEPTH),
                "mrr": reciprocal_rank(ranking, gains),
            }
        )
        progress(done, len(queries), name)
    return {figure: round(mean([row[figure] for row in rows]), 4) for figure in rows[0]} | {
        "ms_p50": round(quantile(took, 0.5), 2),
        "ms_p95": round(quantile(took, 0.95), 2),
    }


def _foreign(spec: str, collection: Collection) -> Retriever:
    from langchain_core.documents import Document

    from cragraph.retrieval.search.foreign import ForeignRetriever, load_retriever

    documents = [
        Document(page_content=contextual_text(p), id=p["chunk_id"], metadata={"chunk_id": p["chunk_id"]})
        for p in collection.passages
    ]
    return ForeignRetriever(load_retriever(spec, documents))


def _stage(retriever: Retriever) -> Stage:
    def ranked(query: str) -> list[str]:
        found: list[Passage] = retriever([query], DEPTH, Notes())
        return [p["chunk_id"] for p in found]

    return ranked


def _silent(done: int, total: int, label: str) -> None:
    """Progress that nobody watches."""
