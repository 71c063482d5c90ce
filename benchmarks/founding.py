"""The success figures of the founding documents, measured on questions that people have answered.

    python -m benchmarks.founding FILE... [--limit 50]

Asks every question through the graph with the metrics log on, marks each line of the log with what the labels say, and
prints the figures of `cragraph stats` beside their targets. `correct` means that the answer gives one of the labelled
answers.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cragraph.api import create_graph
from cragraph.evals.answers import AskedRow, question_sets
from cragraph.metrics import summarise
from cragraph.settings import load_settings
from cragraph.text.markers import without_markers


def asked(rows: Sequence[AskedRow], log: Path) -> list[dict[str, Any]]:
    """The response to each row, with `correct` where it was answered; the log's lines get their marks."""
    graph = create_graph(load_settings(store=None, model=None, metrics_log=log)).compile()
    responses = []
    for row in rows:
        about = {"title": row.title} if row.title else {}
        passages = [{"text": text, "metadata": dict(about)} for text in row.passages]
        response = graph.invoke({"question": row.question, "passages": passages}, context={"show_claims": True})
        responses.append(response | {"correct": row.is_right(without_markers(response["answer"]))})
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    for line, row, response in zip(lines, rows, responses, strict=True):
        line |= {"answerable": row.answerable, "correct": response["correct"]}
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return responses


def correlation(responses: Sequence[Mapping[str, Any]]) -> float:
    """Pearson's correlation of the confidence with being right, over what was answered."""
    pairs = [(r["confidence"], r["correct"]) for r in responses if not r["abstained"]]
    return float(np.corrcoef(np.array(pairs, dtype=float).T)[0, 1]) if len({right for _, right in pairs}) == 2 else 0.0


def attributed(responses: Sequence[Mapping[str, Any]]) -> float:
    """Mean attribution coverage of what was answered."""
    found = [r["verification"]["signals"]["attribution_coverage"] for r in responses if not r["abstained"]]
    return float(np.mean([value for value in found if value is not None]))


def main() -> int:
    """Print the table; 0 whatever it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=50, help="questions a file at most")
    arguments = parser.parse_args()
    rows = [row for rows in question_sets(arguments.files, ["none"], arguments.limit).values() for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        log, easy = Path(folder, "runs.jsonl"), Path(folder, "answerable.jsonl")
        responses = asked(rows, log)
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        easy.write_text("".join(line for line in lines if json.loads(line)["answerable"]), encoding="utf-8")
        all_runs, answerable = summarise(log), summarise(easy)
    shares = (
        ("hallucination rate: wrong answers", all_runs["labelled_hallucination_rate"], "< 5 %"),
        ("claims that the judge does not support", all_runs["hallucination_rate"], "< 5 %"),
        ("confidence agrees with the labels", all_runs["confidence_accuracy"], "> 80 %"),
        ("loop triggered, answerable questions", answerable["trigger_rate"], "< 20 %"),
        ("loop triggered, all questions", all_runs["trigger_rate"], ""),
        ("corrections that raised the confidence", all_runs["success_rate"], "> 70 %"),
        ("source attribution coverage", attributed(responses), "> 90 %"),
        ("claims with a citation", all_runs["cited_claims"], "> 90 %"),
        ("citations that hold", all_runs["citation_accuracy"], ""),
        ("answered though nothing answers", all_runs["false_positive_rate"], ""),
        ("refused though answerable", all_runs["false_negative_rate"], ""),
    )
    print(f"{len(rows)} questions, {all_runs['answered']} answered\n")
    print("| figure | measured | target |\n| --- | ---: | ---: |")
    for name, value, target in shares:
        print(f"| {name} | {'none' if value is None else f'{value:.1%}'} | {target} |")
    print(f"| correlation of confidence with being right | {correlation(responses):.2f} | |")
    print(f"| verification, p50 | {all_runs['verification_ms'] or 0:.0f} ms | < 500 ms |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
