"""What each choice in search is worth: run with and without it on labelled collections.

    python -m lab.benchmarks.search_choices [FOLDER] [--cache FOLDER] [--limit N] [--sets NAME,NAME]

FOLDER holds one folder a collection; default: $CRAG_DATA/retrieval. Queries are taken evenly from each collection.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import pstdev

from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.protocols import Notes
from cragraph.search import Decompose, SearchRetriever
from cragraph.search.rerankers import LexicalReranker
from cragraph.store import Store, open_store
from lab.benchmarks.vectors import RememberedEmbeddings
from lab.evals.data import Collection, read_collection
from lab.evals.metrics import mean, ndcg, recall

Ranked = Callable[[str], list[str]]
BARE = {"expand": None}


@dataclass(frozen=True)
class Bench:
    """A collection in a store, and the queries that are asked of it."""

    collection: Collection
    store: Store
    queries: Sequence[str]

    def ndcgs(self, rank: Ranked) -> list[float]:
        return [ndcg(rank(self.text(q)), self.collection.qrels[q]) for q in self.queries]

    def ndcg(self, rank: Ranked) -> float:
        return mean(self.ndcgs(rank))

    def recall(self, rank: Ranked, queries: Sequence[str], k: int) -> float:
        return mean([recall(rank(self.text(q)), self.collection.qrels[q], k) for q in queries])

    def text(self, query: str) -> str:
        return self.collection.queries[query]

    def search(self, k: int = 100, **options: object) -> Ranked:
        retriever = SearchRetriever(self.store, **(BARE | options))  # type: ignore[arg-type]
        return lambda query: [p["chunk_id"] for p in retriever([query], k, Notes())]

    def reranked(self, candidates: int, k: int = 100, **options: object) -> Ranked:
        retriever, reranker = SearchRetriever(self.store, **(BARE | options)), LexicalReranker()  # type: ignore[arg-type]

        def rank(query: str) -> list[str]:
            found = retriever([query], k, Notes())
            return [p["chunk_id"] for p in (*reranker(query, found[:candidates], Notes()), *found[candidates:])]

        return rank

    def by_words(self, query: str) -> list[str]:
        return [p["chunk_id"] for p in self.store.lexical(query, 100)]

    def plain_fusion(self, query: str) -> list[str]:
        """Reciprocal rank fusion of the same two rankings without score shares."""
        fused: dict[str, float] = {}
        search = SearchRetriever(self.store, "lexical", **BARE)  # type: ignore[arg-type]
        lexical = [p["chunk_id"] for p in search([query], 100, Notes())]
        for weight, ranking in ((0.4, [p["chunk_id"] for p in self.store.dense(query, 100)]), (0.6, lexical)):
            for rank, chunk_id in enumerate(ranking, start=1):
                fused[chunk_id] = fused.get(chunk_id, 0.0) + weight / (60 + rank)
        return sorted(fused, key=lambda name: -fused[name])


def choices(bench: Bench) -> dict[str, float]:
    """nDCG@10 by choice."""
    hybrid, reranked = bench.ndcgs(bench.search()), bench.ndcgs(bench.reranked(30))
    gains = [after - before for before, after in zip(hybrid, reranked, strict=True)]
    return {
        "lexical side, stopwords kept": bench.ndcg(bench.by_words),
        "lexical side": bench.ndcg(bench.search(mode="lexical")),
        "hybrid, plain reciprocal ranks": bench.ndcg(bench.plain_fusion),
        "hybrid": mean(hybrid),
        "hybrid, sub-questions": bench.ndcg(bench.search(expand=Decompose())),
        "hybrid, 10 reranked": bench.ndcg(bench.reranked(10)),
        "hybrid, 30 reranked": mean(reranked),
        "30 reranked less hybrid": mean(gains),
        "standard error of that": pstdev(gains) / len(gains) ** 0.5,
    }


def compound(bench: Bench) -> dict[str, float]:
    """Two questions joined by "and": how often the first ten hold a passage for both."""
    half = len(bench.queries) // 2
    pairs = list(zip(bench.queries[:half], bench.queries[half:], strict=False))
    figures = {}
    for name, options in (("whole", {}), ("taken apart", {"expand": Decompose()})):
        rank = bench.reranked(10, 10, **options)
        figures[name] = mean([float(all(hit(bench, rank, a, b))) for a, b in pairs])
    return figures


def hit(bench: Bench, rank: Ranked, a: str, b: str) -> list[bool]:
    first, second = bench.text(a).rstrip("?. "), bench.text(b).rstrip("?. ")
    found = rank(f"{first} and {second[0].lower()}{second[1:]}?")
    return [recall(found, bench.collection.qrels[q], 10) > 0 for q in (a, b)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("CRAG_DATA", "../shared/data")) / "retrieval"
    parser.add_argument("folder", nargs="?", type=Path, default=data)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--limit", type=int, default=200, help="queries a collection at most")
    parser.add_argument("--sets", default="")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit(f"{options.folder} does not exist: give the folder of the collections, or set CRAG_DATA.")
    wanted = options.sets.split(",") if options.sets else sorted(p.name for p in options.folder.iterdir() if p.is_dir())
    rows: dict[str, dict[str, dict[str, float]]] = {"choices": {}, "compound": {}}
    for name in wanted:
        print(f"… {name}", file=sys.stderr, flush=True)
        collection = read_collection(options.folder / name)
        vectors = RememberedEmbeddings(EmbeddedEncoder(), options.cache)
        with open_store(None, vectors) as store:
            store.add(collection.passages)
            step = max(1, -(-len(collection.judged) // options.limit))
            bench = Bench(collection, store, collection.judged[::step])
            for title, measure in (("choices", choices), ("compound", compound)):
                rows[title][name] = measure(bench)
        vectors.save()
    for title, measured in rows.items():
        show(title, measured)


def show(title: str, measured: dict[str, dict[str, float]]) -> None:
    figures = list(dict.fromkeys(name for row in measured.values() for name in row))
    print(f"\n{title}\n| figure | " + " | ".join(measured) + " | macro |\n| --- |" + " ---: |" * (len(measured) + 1))
    for figure in figures:
        values = [row[figure] for row in measured.values() if figure in row]
        cells = [f"{row[figure]:.3f}" if figure in row else "" for row in measured.values()]
        print(f"| {figure} | " + " | ".join([*cells, f"{mean(values):.4f}"]) + " |")


if __name__ == "__main__":
    main()
