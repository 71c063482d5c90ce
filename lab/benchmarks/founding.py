"""The success figures of the founding documents beside their targets, on what people have labelled.

    python -m lab.benchmarks.founding DATA [--limit 20] [--noise 100] [--claims 20]

DATA holds `qa/dev` and `grounding/dev`. Three parts: questions asked with their own passages; the same questions asked
of one store that holds these passages and those of `--noise` more questions a file, where a correction has something
else to read; and claims that people have labelled, put to the judge. *Right* means that an answer gives one of the
labelled answers. The embedded parts alone, no chat model.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from cragraph.api import create_graph
from cragraph.build import Parts
from cragraph.founding import AnswerValidator
from cragraph.language.markers import without_markers
from cragraph.log import summarise
from cragraph.models.encoder import Encoder
from cragraph.passages import as_passages
from cragraph.settings import load_settings
from cragraph.store import Store, open_store
from lab.evals.answers import AskedRow, question_sets
from lab.evals.data import read_rows
from lab.evals.grounding import figures_of, judge_row

QUESTIONS = ("squad2_train_500", "squad1_train_du", "clapnq_dev", "bioasq_golden")
Response = Mapping[str, Any]
Figures = dict[str, float | None]

TARGETS = {
    "hallucination rate: answers that are not right": "< 5 %",
    "the same among accepted answers, the doubtful left out": "< 5 %",
    "claims that stand in no passage word for word": "< 5 %",
    "claims that the judge does not support": "< 5 %",
    "confidence agrees with the labels": "> 80 %",
    "loop triggered, answerable questions": "< 20 %",
    "loop triggered, all questions": "",
    "corrections that raised the confidence": "> 70 %",
    "source attribution coverage": "> 90 %",
    "claims with a citation": "> 90 %",
    "citations that hold": "",
    "answers withheld after they were written": "",
    "answered though nothing answers": "",
    "refused though answerable": "",
    "what reranking raises the score of the first three by": "> 0",
    "passages kept of those met": "",
}


def passages_of(row: AskedRow, number: int) -> list[dict[str, Any]]:
    """The passages of a question, each set's as a document of its own."""
    about = {"title": row.title} if row.title else {}
    return [
        {"text": text, "source": f"{number}/{place}", "metadata": dict(about)}
        for place, text in enumerate(row.passages)
    ]


def asked(rows: Sequence[AskedRow], log: Path, store: Store | None) -> list[Response]:
    """The response to each row, with `correct` where it was answered; the log's lines get their marks."""
    graph = create_graph(load_settings(store=None, model=None, metrics_log=log), store=store).compile()
    responses = []
    for number, row in enumerate(rows):
        given = {} if store else {"passages": passages_of(row, number)}
        *_, state = graph.stream(
            {"question": row.question, **given}, context={"show_claims": True}, stream_mode="values"
        )
        responses.append(state | {"correct": row.is_right(without_markers(state["answer"]))})
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    for line, row, response in zip(lines, rows, responses, strict=True):
        line |= {"answerable": row.answerable, "correct": response["correct"]}
    log.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return responses


def figures(rows: Sequence[AskedRow], store: Store | None) -> tuple[Figures, dict[str, Any]]:
    """The figures of a way of asking by name, and what is said below the table."""
    with tempfile.TemporaryDirectory() as folder:
        log, easy = Path(folder, "runs.jsonl"), Path(folder, "answerable.jsonl")
        responses = asked(rows, log, store)
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        easy.write_text("".join(line for line in lines if json.loads(line)["answerable"]), encoding="utf-8")
        all_runs, answerable = summarise(log), summarise(easy)
    shown = [response for response in responses if not response["abstained"]]
    accepted = [response for response in shown if (response["decision"] or {}).get("outcome") == "accepted"]
    corrected = [len(response["attempts"]) > 1 for response in responses]
    values = (
        all_runs["labelled_hallucination_rate"],
        float(np.mean([not response["correct"] for response in accepted])) if accepted else None,
        not_quoted(shown),
        all_runs["hallucination_rate"],
        all_runs["confidence_accuracy"],
        answerable["trigger_rate"],
        all_runs["trigger_rate"],
        all_runs["success_rate"],
        attributed(shown),
        all_runs["cited_claims"],
        all_runs["citation_accuracy"],
        all_runs["rejection_rate"],
        all_runs["false_positive_rate"],
        all_runs["false_negative_rate"],
        all_runs["rerank_gain"],
        all_runs["selection_rate"],
    )
    said = {
        "questions": len(rows),
        "answered": len(shown),
        "accepted": len(accepted),
        "corrected": sum(corrected),
        "correlation": correlation(shown),
        "verify_ms": all_runs["verification_ms"] or 0.0,
    }
    return dict(zip(TARGETS, values, strict=True)), said


def not_quoted(shown: Sequence[Response]) -> float | None:
    """Share of the claims of what was answered whose text stands in no passage that was read."""
    found = []
    for response in shown:
        texts = " ".join(" ".join(p["text"].split()) for p in [*response["held"], *response["citations"]])
        claims = (response["verification"] or {}).get("claims", ())
        found += [" ".join(without_markers(claim["text"]).split()).rstrip(".") not in texts for claim in claims]
    return float(np.mean(found)) if found else None


def correlation(shown: Sequence[Response]) -> float:
    """Pearson's correlation of the confidence with being right, over what was answered."""
    pairs = [(r["confidence"], r["correct"]) for r in shown]
    return float(np.corrcoef(np.array(pairs, dtype=float).T)[0, 1]) if len({right for _, right in pairs}) == 2 else 0.0


def attributed(shown: Sequence[Response]) -> float | None:
    """Mean attribution coverage of what was answered."""
    found = [r["verification"]["signals"]["attribution_coverage"] for r in shown if r["verification"]]
    return float(np.mean(found)) if found else None


def hallucinations(folder: Path, limit: int) -> tuple[float, int]:
    """Balanced accuracy of the judge on claims that people have labelled, the mean of the files; and how many."""
    verifier = Parts(load_settings(store=None, model=None)).verifier
    sets = [read_rows(file, limit) for file in sorted(folder.glob("*.jsonl"))]
    files = [[judge_row(row, "encoder", verifier) for row in rows] for rows in sets]
    found = [figures_of(rows)["balanced_accuracy"] for rows in files]
    known = [value for value in found if value is not None]
    return float(np.mean(known)), sum(len(rows) for rows, value in zip(files, found, strict=True) if value is not None)


def validation_ms(rows: Sequence[AskedRow]) -> float:
    """Median time of answer validation: each question's first passage as its answer, against all of them."""
    validator, times = AnswerValidator(), []
    for row in rows:
        begun = perf_counter()
        validator.validate_answer(row.passages[0][:400], row.question, list(row.passages))
        times.append((perf_counter() - begun) * 1000)
    return float(np.median(times))


def main() -> int:
    """Print the tables; 0 whatever they say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="the folder that holds qa/dev and grounding/dev")
    parser.add_argument("--limit", type=int, default=20, help="questions a file")
    parser.add_argument("--noise", type=int, default=100, help="further questions a file whose passages are stored")
    parser.add_argument("--claims", type=int, default=20, help="labelled claims a file")
    options = parser.parse_args()
    files = [options.data / "qa" / "dev" / f"{name}.jsonl" for name in QUESTIONS]
    rows = [row for own in question_sets(files, ["none"], options.limit).values() for row in own]
    stored = [row for own in question_sets(files, ["none"], options.noise).values() for row in own]
    given, said = figures(rows, None)
    with open_store(None, Encoder()) as store:
        texts = {p["text"]: p for n, row in enumerate([*rows, *stored]) for p in passages_of(row, n)}
        store.add(as_passages(texts.values()))
        from_store, said_of_store = figures(rows, store)
        print(f"{len(rows)} questions; the store holds {store.count()} passages\n")
    print("| figure | own passages | one store | target |\n| --- | ---: | ---: | ---: |")
    for name, target in TARGETS.items():
        shown = (
            "none" if v is None else f"{v:+.3f}" if target == "> 0" else f"{v:.1%}"
            for v in (given[name], from_store[name])
        )
        print(f"| {name} | {' | '.join(shown)} | {target} |")
    for name, key, form, target in (
        ("answered", "answered", "{:.0f}", ""),
        ("accepted", "accepted", "{:.0f}", ""),
        ("corrected", "corrected", "{:.0f}", ""),
        ("correlation of confidence with being right", "correlation", "{:.2f}", "> 0"),
        ("verification, p50", "verify_ms", "{:.0f} ms", "< 500 ms"),
    ):
        print(f"| {name} | {form.format(said[key])} | {form.format(said_of_store[key])} | {target} |")
    accuracy, claims = hallucinations(options.data / "grounding" / "dev", options.claims)
    print(
        f"| hallucinations told from facts, {claims} labelled claims, balanced accuracy | {accuracy:.1%} | | > 75 % |"
    )
    print(f"| answer validation, p50 | {validation_ms(rows):.0f} ms | | 200 ms |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
