"""What search by words among the nearest documents loses against an index of all words, on the labelled collections.

    python -m lab.benchmarks.chroma_paths [--limit 120] [--pools 100,300] [--sets NAME,NAME]

A vector store such as Chroma's finds by meaning, and words are ranked over what it found (`LangChainStore.lexical`);
the embedded store has an index of the words of every passage. Prints nDCG@10 of both, and of both reranked.
"""

import argparse
import os
from pathlib import Path
from statistics import mean

from langchain_core.vectorstores import InMemoryVectorStore

from cragraph.models.cache import LRU, CachedEmbeddings
from cragraph.models.encoder import Encoder
from cragraph.protocols import Notes
from cragraph.search import SearchRetriever
from cragraph.search.rerankers import NearestReranker
from cragraph.store import open_store, vectorstore
from lab.evals.metrics import ndcg
from lab.evals.retrieval import read_collection

CANDIDATES = 30


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--pools", default="100,300")
    parser.add_argument("--sets", default="")
    options = parser.parse_args()
    folder = Path(os.environ.get("CRAG_DATA", "../shared/data")) / "retrieval"
    names = options.sets.split(",") if options.sets else sorted(path.name for path in folder.iterdir() if path.is_dir())
    rows = {name: measured(folder / name, options.limit, [*map(int, options.pools.split(","))]) for name in names}
    print(f"| words of | {' | '.join(names)} | macro |\n| --- |{' ---: |' * (len(names) + 1)}")
    for label in rows[names[0]]:
        pairs = [rows[name][label] for name in names]
        cells = [*pairs, tuple(map(mean, zip(*pairs, strict=True)))]
        print(f"| {label} | {' | '.join(f'{plain:.3f}, {reranked:.3f}' for plain, reranked in cells)} |")


def measured(folder: Path, limit: int, pools: list[int]) -> dict[str, tuple[float, float]]:
    """By how words are searched: nDCG@10 of hybrid search, and after reranking."""
    collection, vectors = read_collection(folder), CachedEmbeddings(Encoder(), LRU(100_000))
    reranker, queries, found = NearestReranker(vectors), collection.judged[:limit], dict[str, tuple[float, float]]()

    def score(label: str, retriever: SearchRetriever) -> None:
        plain, reranked = [], []
        for query in queries:
            asked, gains = collection.queries[query], collection.qrels[query]
            passages = retriever([asked], 100, Notes())
            plain.append(ndcg([p["chunk_id"] for p in passages], gains, 10))
            best = reranker(asked, passages[:CANDIDATES], Notes())
            reranked.append(ndcg([p["chunk_id"] for p in best], gains, 10))
        found[label] = mean(plain), mean(reranked)

    with open_store(None, vectors) as store:
        store.add(collection.passages)
        score("all passages", SearchRetriever(store))
        score("none", SearchRetriever(store, mode="dense"))
    there = vectorstore.LangChainStore(InMemoryVectorStore(vectors))  # type: ignore[arg-type]
    there.add(collection.passages)
    for pool in pools:
        vars(vectorstore)["POOL"] = pool
        score(f"the {pool} nearest", SearchRetriever(there))
    return found


if __name__ == "__main__":
    main()
