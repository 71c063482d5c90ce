"""Every stage of retrieval on every labelled collection of a folder, and their macro average.

    python -m lab.benchmarks.retrieval [FOLDER] [--cache FOLDER] [--limit N] [--json FILE] [--sets NAME,NAME]

FOLDER holds one folder a collection (corpus.jsonl, queries.jsonl, qrels.tsv); default: $CRAG_DATA/retrieval.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from cragraph.models.embeddings import EmbeddedEncoder
from lab.benchmarks.vectors import RememberedEmbeddings
from lab.evals.retrieval import run

SHOWN = ("ndcg@10", "recall@10", "recall@100", "mrr")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = Path(os.environ.get("CRAG_DATA", "../shared/data")) / "retrieval"
    parser.add_argument("folder", nargs="?", type=Path, default=data)
    parser.add_argument("--cache", type=Path, help="remembers vectors between runs")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sets", default="")
    options = parser.parse_args()
    if not options.folder.is_dir():
        sys.exit(f"{options.folder} does not exist: give the folder of the collections, or set CRAG_DATA.")
    wanted = options.sets.split(",") if options.sets else sorted(p.name for p in options.folder.iterdir() if p.is_dir())
    results = []
    for name in wanted:
        print(f"… {name}", file=sys.stderr, flush=True)
        vectors = RememberedEmbeddings(EmbeddedEncoder(), options.cache)
        results.append(run(options.folder / name, vectors, limit=options.limit))
        vectors.save()
        if options.json:
            options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    for figure in SHOWN:
        show(results, figure)
    show_times(results)


def stages_of(result: dict[str, Any]) -> dict[str, dict[str, float]]:
    return {f"plain {name}": row for name, row in result["baselines"].items()} | result["stages"]


def show(results: list[dict[str, Any]], figure: str) -> None:
    print(f"\n{figure}\n| stage | " + " | ".join(r["collection"] for r in results) + " | macro |")
    print("| --- |" + " ---: |" * (len(results) + 1))
    for name in stages_of(results[0]):
        values = [stages_of(result)[name][figure] for result in results]
        cells = [f"{value:.3f}" for value in (*values, sum(values) / len(values))]
        print(f"| {name} | " + " | ".join(cells) + " |")


def show_times(results: list[dict[str, Any]]) -> None:
    print(
        "\nms a query, median / 95th percentile, without embedding it\n| stage | "
        + " | ".join(r["collection"] for r in results)
        + " |"
    )
    print("| --- |" + " ---: |" * len(results))
    for name in stages_of(results[0]):
        rows = [stages_of(result)[name] for result in results]
        print(f"| {name} | " + " | ".join(f"{row['ms_p50']:.1f} / {row['ms_p95']:.1f}" for row in rows) + " |")
    print("\nembedding a query, ms: " + ", ".join(f"{r['collection']} {r['embed_ms_p50']}" for r in results))
    print("mean rerank gain: " + ", ".join(f"{r['collection']} {r['rerank_gain']}" for r in results))


if __name__ == "__main__":
    main()
