"""Fit the curves that turn raw retrieval scores into relevance, and check the scores that search and reranking give.

    python -m lab.benchmarks.calibration [FOLDER] [--cache FOLDER] [--limit N]

FOLDER holds one folder a collection; default: $CRAG_DATA/retrieval. Each collection weighs the same, whatever its
size; the first 20 passages of each query are looked at. Prints the curves for
`cragraph.search.retriever.Calibration`, the scale for `MatchWeights`, and for each stage how many of the
passages with a score in a band are relevant.
"""

import argparse
import os
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.protocols import Notes
from cragraph.search import SearchRetriever
from cragraph.search.rerankers import LexicalReranker, logit
from cragraph.search.retriever import Mode
from cragraph.store import Store, open_store
from cragraph.types import Passage
from lab.benchmarks.vectors import RememberedEmbeddings
from lab.evals.data import Collection, read_collection

Array = NDArray[np.float64]
DEPTH = 20
BANDS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.01)
CURVES: dict[Mode, tuple[str, ...]] = {"dense": ("dense",), "lexical": ("lexical",), "hybrid": ("dense", "lexical")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(os.environ.get("CRAG_DATA", "../shared/data")) / "retrieval"
    )
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--limit", type=int, default=400, help="queries a collection at most")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit(f"{options.folder} does not exist: give the folder of the collections, or set CRAG_DATA.")
    rows: dict[str, list[tuple[Array, Array]]] = {mode: [] for mode in (*CURVES, "rerank")}
    for folder in sorted(p for p in options.folder.iterdir() if p.is_dir()):
        print(f"… {folder.name}", file=sys.stderr, flush=True)
        collection = read_collection(folder)
        vectors = RememberedEmbeddings(EmbeddedEncoder(), options.cache)
        with open_store(None, vectors) as store:
            store.add(collection.passages)
            for mode in CURVES:
                rows[mode].append(looked_at(collection, options.limit, searcher(store, mode), features))
            rows["rerank"].append(looked_at(collection, options.limit, reranked(store), reranker_odds))
        vectors.save()
    for mode, names in CURVES.items():
        columns = [("dense", "lexical").index(name) for name in names]
        curve = fit([(x[:, columns], y) for x, y in rows[mode]])
        print(
            f"\n{mode}: base {curve[0]:.2f}, "
            + ", ".join(f"{n} {w:.2f}" for n, w in zip(names, curve[1:], strict=True))
        )
        bands([(x[:, 2], y) for x, y in rows[mode]])
    scale = fit(rows["rerank"])
    print(f"\nrerank: the odds as they are would fit best as {scale[0]:.2f} + {scale[1]:.2f} * odds")
    bands([(1 / (1 + np.exp(-x[:, 0])), y) for x, y in rows["rerank"]])


Search = Callable[[str], list[Passage]]


def searcher(store: Store, mode: Mode) -> Search:
    retriever = SearchRetriever(store, mode, expand=None)
    return lambda query: retriever([query], DEPTH, Notes())


def reranked(store: Store) -> Search:
    search, reranker = searcher(store, "hybrid"), LexicalReranker()
    return lambda query: reranker(query, search(query), Notes())


def features(passage: Passage) -> list[float]:
    scores = passage["metadata"]["scores"]
    return [scores["dense"] or 0.0, scores["lexical"] or 0.0, scores["retrieval"]]


def reranker_odds(passage: Passage) -> list[float]:
    return [logit(passage["rerank_score"] or 0.0)]


def looked_at(
    collection: Collection, limit: int, search: Search, describe: Callable[[Passage], list[float]]
) -> tuple[Array, Array]:
    """What describes each passage found, and whether it is relevant."""
    step = max(1, len(collection.judged) // limit)
    x, y = [], []
    for query in collection.judged[::step]:
        for passage in search(collection.queries[query]):
            x.append(describe(passage))
            y.append(float(collection.qrels[query].get(passage["chunk_id"], 0.0) > 0))
    return np.array(x), np.array(y)


def fit(rows: list[tuple[Array, Array]]) -> Array:
    """Logistic regression by Newton's method, each collection weighing 1: the base, then the weights."""
    x = np.vstack([np.c_[np.ones(len(part)), part] for part, _ in rows])
    y = np.concatenate([part for _, part in rows])
    weight = np.concatenate([np.full(len(part), 1 / len(part)) for _, part in rows])
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ beta))
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + 1e-9 * np.eye(len(beta))
        beta += np.linalg.solve(hessian, x.T @ (weight * (y - p)))
    return beta


def bands(rows: list[tuple[Array, Array]]) -> None:
    """Of the passages with a score in each band: their share, the mean score, and how many are relevant."""
    score = np.concatenate([part for part, _ in rows])
    y = np.concatenate([part for _, part in rows])
    weight = np.concatenate([np.full(len(part), 1 / len(part) / len(rows)) for _, part in rows])
    print("| score | of all | mean score | relevant |\n| --- | ---: | ---: | ---: |")
    for low, high in pairwise(BANDS):
        inside = (score >= low) & (score < high)
        if total := weight[inside].sum():
            mean, hits = (weight * score)[inside].sum() / total, (weight * y)[inside].sum() / total
            print(f"| {low:.2f} to {min(high, 1):.2f} | {total:.1%} | {mean:.2f} | {hits:.2f} |")


if __name__ == "__main__":
    main()
