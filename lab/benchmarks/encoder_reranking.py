"""What a model that reads question and passage adds as a reranker, beside no reranking and the lexical reranker.

    python -m lab.benchmarks.encoder_reranking [FOLDER] [--limit N] [--sets NAME,NAME] [--candidates N] [--cache FOLDER]

FOLDER holds one folder a collection; default: $CRAG_DATA/retrieval. nDCG@10 of each collection; `share` is the model's
say beside retrieval's. Scores are taken once a query, so that every share is measured on the same ones.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import pstdev
from time import perf_counter

from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader
from cragraph.passages import contextual_text
from cragraph.protocols import Notes
from cragraph.search import SearchRetriever
from cragraph.search.rerankers.encoder import EncoderReranker, ReaderScorer, Scorer
from cragraph.search.rerankers.lexical import LexicalReranker
from cragraph.store import open_store
from lab.benchmarks.vectors import RememberedEmbeddings
from lab.evals.data import Collection, read_collection
from lab.evals.metrics import mean, ndcg

SHARES = (0.1, 0.2, 0.35, 0.5, 1.0)


class Kept:
    """A scorer that remembers what it said and how long that took."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer, self._said = scorer, dict[tuple[str, str], float]()
        self.seconds = 0.0

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        new = [pair for pair in pairs if pair not in self._said]
        if new:
            begun = perf_counter()
            self._said.update(zip(new, self._scorer(new), strict=True))
            self.seconds += perf_counter() - begun
        return [self._said[pair] for pair in pairs]


def measure(collection: Collection, limit: int, candidates: int, cache: Path | None) -> dict[str, list[float]]:
    """nDCG@10 of every query, by reranker; the last entries are seconds a query of each scorer."""
    encoder = EmbeddedEncoder()
    embeddings = RememberedEmbeddings(encoder, cache) if cache else encoder
    scorers = {"reader": Kept(ReaderScorer(Reader(remembered=0)))}
    queries = collection.judged
    queries = queries[:: max(1, len(queries) // limit)][:limit]
    found: dict[str, list[float]] = {}
    with open_store(None, embeddings) as store:
        store.add(collection.passages)
        retriever = SearchRetriever(store)
        lexical = LexicalReranker()
        for query in queries:
            text = collection.queries[query]
            before = retriever([text], candidates, Notes())
            ranked = {"none": before, "lexical": lexical(text, before, Notes())}
            for name, scorer in scorers.items():
                scorer([(text, contextual_text(p)) for p in before])
                for share in SHARES:
                    ranked[f"{name} {share:g}"] = EncoderReranker(scorer, share)(text, before, Notes())
                ranked[f"lexical, {name} 0.2"] = EncoderReranker(scorer, 0.2, lexical)(text, before, Notes())
            for name, passages in ranked.items():
                ids = [p["chunk_id"] for p in passages]
                found.setdefault(name, []).append(ndcg(ids, collection.qrels[query]))
    return found | {f"{name}, s a query": [s.seconds / len(queries)] for name, s in scorers.items()}


def main() -> None:
    """Measure every collection and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("CRAG_DATA", "../shared/data")) / "retrieval"
    parser.add_argument("folder", type=Path, nargs="?", default=default)
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--candidates", type=int, default=30)
    parser.add_argument("--sets", default="")
    parser.add_argument("--cache", type=Path, help="folder in which passages' vectors are kept")
    options = parser.parse_args()
    wanted = options.sets.split(",") if options.sets else sorted(f.name for f in options.folder.iterdir())
    columns: dict[str, dict[str, list[float]]] = {}
    for name in wanted:
        columns[name] = measure(
            read_collection(options.folder / name), options.limit, options.candidates, options.cache
        )
        print(name, {row: round(mean(values), 3) for row, values in columns[name].items()}, flush=True)
    print(f"\n| reranker | {' | '.join(wanted)} | macro | less none (standard error) |")
    print("| --- |" + " ---: |" * (len(wanted) + 2))
    for row in next(iter(columns.values())):
        means = [mean(columns[name][row]) for name in wanted]
        gains = [a - b for n in wanted for a, b in zip(columns[n][row], columns[n]["none"], strict=False)]
        error = pstdev(gains) / len(gains) ** 0.5
        cells = " | ".join(f"{value:.3f}" for value in means)
        print(f"| {row} | {cells} | {mean(means):.3f} | {mean(gains):+.3f} ({error:.3f}) |")


if __name__ == "__main__":
    main()
