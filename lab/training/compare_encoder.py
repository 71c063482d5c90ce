"""Compares the shipped int8 encoder with the same model in full precision.

    python -m lab.training.compare_encoder [--data ../shared/data] [--reference lab/training/runs/encoder-fp32/onnx]

Prints the mean and worst cosine between the two encoders' vectors of the same text, for several sets of real text,
and nDCG@10 of exact search with either on the Cranfield collection.
"""

import argparse
import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from cragraph.language.sentences import sentence_spans
from cragraph.models.embeddings import EmbeddedEncoder
from lab.training.reference_encoder import ReferenceEncoder, Vectors

SETS = ("clapnq_dev", "tatqa_dev", "xquad_en", "xquad_de", "cacm")
DOCUMENTS = 60
"""Documents of each set, spread over it evenly, whose sentences are compared."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CRAG_DATA", "../shared/data")))
    parser.add_argument("--reference", type=Path, default=Path("lab/training/runs/encoder-fp32/onnx"))
    args = parser.parse_args()
    retrieval = args.data / "retrieval"
    if not retrieval.is_dir():
        raise SystemExit(f"{retrieval} is not a folder; give the data folder with --data or CRAG_DATA.")
    reference, encoder = ReferenceEncoder(args.reference), EmbeddedEncoder()

    print(f"{'texts':24}{'n':>6}  mean cosine  worst cosine")
    every: list[float] = []
    for name in SETS:
        sentences = list(real_sentences(retrieval / name))
        cosines = (reference.embed(sentences) * encoder.embed(sentences)).sum(1)
        every += cosines.tolist()
        print(f"{name + ' sentences':24}{len(cosines):>6}  {cosines.mean():.5f}      {cosines.min():.5f}")
    corpus, queries = rows(retrieval / "cranfield", "corpus"), rows(retrieval / "cranfield", "queries")
    full = [reference.embed(list(texts.values())) for texts in (corpus, queries)]
    small = [encoder.embed(list(texts.values())) for texts in (corpus, queries)]
    cosines = (np.concatenate(full) * np.concatenate(small)).sum(1)
    every += cosines.tolist()
    print(f"{'cranfield abstracts':24}{len(cosines):>6}  {cosines.mean():.5f}      {cosines.min():.5f}")
    print(f"{'all':24}{len(every):>6}  {np.mean(every):.5f}      {np.min(every):.5f}")

    relevant = judgements(retrieval / "cranfield")
    for name, vectors in (("full precision", full), ("int8", small)):
        score = ndcg(*vectors, list(corpus), list(queries), relevant)
        print(f"cranfield nDCG@10, {name}: {score:.4f}")


def rows(folder: Path, name: str) -> dict[str, str]:
    """Texts of a collection by id; a document's title, where it has one, comes first."""
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return {str(row.get("_id", row.get("id"))): f"{row.get('title') or ''} {row['text']}".strip() for row in read}


def real_sentences(folder: Path) -> Iterator[str]:
    """Sentences of documents spread evenly over a collection."""
    texts = list(rows(folder, "corpus").values())
    for text in islice(texts[:: max(1, len(texts) // DOCUMENTS)], DOCUMENTS):
        yield from (text[start:end] for start, end in sentence_spans(text))


def judgements(folder: Path) -> dict[str, dict[str, int]]:
    """Gains by query and document; judgements of zero or less are no gain."""
    found: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) >= 3 and fields[-1].lstrip("-").isdigit() and int(fields[-1]) > 0:
            found.setdefault(fields[0], {})[fields[-2]] = int(fields[-1])
    return found


def ndcg(
    documents: Vectors, queries: Vectors, ids: list[str], asked: list[str], relevant: dict[str, dict[str, int]]
) -> float:
    """Mean nDCG@10 with linear gains over the queries that have a relevant document."""
    discounts = 1 / np.log2(np.arange(2, 12))
    scores = []
    for query, vector in zip(asked, queries, strict=True):
        gains = relevant.get(query)
        if gains:
            best = np.argsort(-(documents @ vector), kind="stable")[:10]
            got = sum(gains.get(ids[i], 0) * d for i, d in zip(best, discounts, strict=False))
            ideal = sum(g * d for g, d in zip(sorted(gains.values(), reverse=True), discounts, strict=False))
            scores.append(got / ideal)
    return float(np.mean(scores))


if __name__ == "__main__":
    main()
