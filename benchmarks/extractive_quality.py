"""How often the extractive generator quotes the answer, and how often it rightly says that there is none.

    python -m benchmarks.extractive_quality [--data ../shared/data] [--questions 300] [--sweep] [--show N]

Every question is asked over the passages that the embedded encoder finds for it in its own collection (exact dense
search, `--k` of them). Reported for questions whose answer is among those passages:

* answered: the share that was not abstained from;
* recall: the share of the gold answer's words in the quotation, abstentions counting 0;
* contained: of the gold answers that stand in the passages as they are, the share that the quotation contains whole;

and for abstaining, over the questions with and without an answer, precision and recall. These are development sets:
the thresholds were chosen on them.
"""

import argparse
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median
from time import perf_counter
from typing import Any

import numpy as np

from cragraph.generation.extractive import ExtractiveGenerator
from cragraph.generation.ranking import AnswerRanker
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader
from cragraph.passages import as_passage
from cragraph.protocols import Brief, Notes
from cragraph.types import IDK, Passage

SETS = ("clapnq_dev", "xquad_en", "tatqa_dev")


@dataclass(frozen=True)
class Case:
    brief: Brief
    gold: str
    answerable: bool
    found: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("CRAG_DATA", "../shared/data")))
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--questions", type=int, default=300, help="of each set, evenly spread over it")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--sweep", action="store_true", help="also report other thresholds")
    parser.add_argument("--show", type=int, default=0, help="print so many answers of each set")
    args = parser.parse_args()
    encoder = EmbeddedEncoder()
    generator = ExtractiveGenerator(AnswerRanker(Reader(), encoder))
    for name in args.sets:
        folder = args.data / "retrieval" / name
        if not folder.is_dir():
            raise SystemExit(f"{folder} is not a folder; give the data folder with --data or CRAG_DATA.")
        cases = list(read(folder, encoder, args.questions, args.k))
        scores, answers, seconds = [], [], []
        for case in cases:
            start = perf_counter()
            ranking = generator.rank(case.brief)
            seconds.append(perf_counter() - start)
            scores.append(ranking.answered or 0.0)
            answers.append(replace(generator, floor=0.0)(case.brief, Notes()))
        report(name, cases, scores, answers, generator.floor)
        print(f"  median {median(seconds) * 1000:.0f} ms a question")
        if args.sweep:
            for threshold in np.arange(0.2, 0.81, 0.1):
                report(f"  at {threshold:.2f}", cases, scores, answers, float(threshold))
        for case, score, answer in list(zip(cases, scores, answers, strict=True))[
            :: max(1, len(cases) // (args.show or 1))
        ]:
            if args.show:
                gold = case.gold[:160] if case.answerable else "(no answer)"
                print(f"\n  {score:.2f} {case.brief.question}\n    gold: {gold}\n    said: {answer[:400]}")


def read(folder: Path, encoder: EmbeddedEncoder, count: int, k: int) -> Iterator[Case]:
    with (folder / "corpus.jsonl").open(encoding="utf-8") as lines:
        corpus = [json.loads(line) for line in lines]
    with (folder / "queries.jsonl").open(encoding="utf-8") as lines:
        queries: list[dict[str, Any]] = [json.loads(line) for line in lines]
    # Answerable and unanswerable ones may lie in two halves; an even spread takes from both.
    queries = queries[:: max(1, len(queries) // count)][:count]
    relevant: dict[str, set[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query_id, document, *_ = line.split("\t")
        relevant.setdefault(query_id, set()).add(document)
    vectors = encoder.embed([row["text"] for row in corpus])
    asked = encoder.embed([query["text"] for query in queries])
    for query, vector in zip(queries, asked, strict=True):
        cosines = vectors @ vector
        best = np.argsort(-cosines, kind="stable")[:k]
        passages = [_passage(corpus[i], float(cosines[i])) for i in best]
        found = bool(relevant.get(query["id"], set()) & {corpus[i]["id"] for i in best})
        yield Case(Brief(query["text"], passages), str(query["answer"] or ""), query["answerable"], found)


def _passage(row: dict[str, Any], score: float) -> Passage:
    value = {"text": row["text"], "source": row["id"], "title": row["title"], "retrieval_score": max(0.0, score)}
    return as_passage(value)


def report(name: str, cases: list[Case], scores: list[float], answers: list[str], threshold: float) -> None:
    said = [a if s >= threshold else IDK for s, a in zip(scores, answers, strict=True)]
    positive = [(c, a) for c, a in zip(cases, said, strict=True) if c.answerable and c.found]
    negative = [a for c, a in zip(cases, said, strict=True) if not c.answerable]
    answered = mean(a != IDK for _, a in positive)
    recall = mean(overlap(c.gold, a) for c, a in positive)
    quotable = [(c, a) for c, a in positive if any(tokens_in(c.gold, p["text"]) for p in c.brief.passages)]
    whole = mean(tokens_in(c.gold, a) for c, a in quotable)
    line = f"{name:12} n={len(positive):>3} answered {answered:.3f}  recall {recall:.3f}"
    line += f"  contained {whole:.3f} (n={len(quotable)})"
    if negative:
        abstained = sum(a == IDK for a in negative)
        wrongly = sum(a == IDK for _, a in positive)
        precision = abstained / max(1, abstained + wrongly)
        line += f" | unanswerable n={len(negative)} abstention precision {precision:.3f}"
        line += f" recall {abstained / len(negative):.3f}"
    print(line)


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", re.sub(r"(?<=\d),(?=\d)", "", text).casefold())


def overlap(gold: str, said: str) -> float:
    """Share of the gold answer's distinct words in what was said."""
    wanted = set(words(gold))
    return len(wanted & set(words(said))) / max(1, len(wanted)) if said != IDK else 0.0


def tokens_in(gold: str, said: str) -> bool:
    return said != IDK and f" {' '.join(words(gold))} " in f" {' '.join(words(said))} "


if __name__ == "__main__":
    main()
