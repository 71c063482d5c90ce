"""Fit the chance that an answer which a chat model wrote is right, and that of a quotation beside one.

    python -m lab.benchmarks.prompts --way alone --way draft --model ollama:qwen2.5-coder:1.5b --out rows.jsonl
    python -m lab.benchmarks.written rows.jsonl --write
    python -m lab.benchmarks.written rows.jsonl --on other-rows.jsonl

Half of the questions are fitted on, by a hash of their names; the other half says how good the fit is. So do all of
them, each by a fit on all but its own. What was answered partly counts as half right. Refusals are no answers and are
left out. Of files that hold the same question of a model, the last counts. Quotations are the first ones of `alone`
that were doubtful and not in a language that no network reads, right where an expected text stands in them, beside what
`draft` has. `--on` says how well the card that ships does on rows of other questions.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from cragraph.types import IDK
from cragraph.verification.decision import WORTH_SHOWING, reaches
from cragraph.verification.written import CARD, Beside, card, features_beside
from lab.benchmarks.prompts import by_text, dev_verdict, taken, to_fit

TRUTH: Final = {"right": 1.0, "partly": 0.5, "wrong": 0.0}
PENALTY: Final = 1.0  # of the squared weights; 4 ranks as well and states too little, each row left out of its fit
PRIOR: Final = {"sure": 1.0}  # what a weight is kept near, else 0: what was calibrated counts for what it says
STEPS: Final = 4_000
POSITIVE: Final = ("found", "chance", "span", "support", "sureness", "sure", "shared", "said")
"""Features that can only speak for an answer: with few rows a chance sign must not be taken for knowledge."""


def fitted(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, float]:
    """The weights of a logistic regression that keeps near `PRIOR`, by projected gradient."""
    x = np.array([[row["features"][name] for name in names] for row in rows])
    y = np.array([TRUTH[row["found"]] for row in rows])
    positive = np.array([name in POSITIVE for name in names])
    shrunk = np.array([PENALTY * (name != "bias") for name in names])
    prior = np.array([PRIOR.get(name, 0.0) for name in names])
    weights = prior.copy()
    for _ in range(STEPS):
        slope = x.T @ (1 / (1 + np.exp(-x @ weights)) - y) + shrunk * (weights - prior)
        weights -= slope / (len(rows) / 2 + PENALTY)
        weights = np.where(positive, np.maximum(weights, 0.0), weights)
    return {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)}


def chances(rows: Sequence[dict[str, Any]], weights: dict[str, float]) -> list[float]:
    """The chance of each answer."""
    totals = (sum(weight * row["features"][name] for name, weight in weights.items()) for row in rows)
    return [float(1 / (1 + np.exp(-total))) for total in totals]


def measured(rows: Sequence[dict[str, Any]], said: Sequence[float]) -> dict[str, float]:
    """AUROC of right against wrong (partly counts for neither), and the calibration error over five equal groups."""
    truth = [TRUTH[row["found"]] for row in rows]
    good = [s for s, t in zip(said, truth, strict=True) if t == 1]
    bad = [s for s, t in zip(said, truth, strict=True) if t == 0]
    pairs = [(g > b) + 0.5 * (g == b) for g in good for b in bad]
    order = sorted(range(len(said)), key=lambda n: said[n])
    groups = [group for group in np.array_split(np.array(order, dtype=int), 5) if len(group)]
    gaps = [len(g) * abs(np.mean([said[n] for n in g]) - np.mean([truth[n] for n in g])) for g in groups]
    return {
        "answers": len(rows),
        "right": round(sum(truth) / max(1, len(truth)), 3),
        "auroc": round(float(np.mean(pairs)), 3) if pairs else float("nan"),
        "ece": round(float(sum(gaps)) / max(1, len(said)), 3),
    }


def answers(every: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers that models wrote."""
    drafts = {(row["model"], row["set"], row["id"]): row for row in every if row["way"] == "draft"}.values()
    return [row for row in drafts if row.get("features") and row["found"] in TRUTH]


def quotations(every: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first quotations that were doubtful, with what makes their chance beside the model's answer."""
    drafts = {(row["model"], row["set"], row["id"]): row for row in every if row["way"] == "draft"}
    alone = {(row["model"], row["set"], row["id"]): row for row in every if row["way"] == "alone"}
    rows = []
    for key, row in alone.items():
        first = next(iter(row["firsts"]), None)
        if key not in drafts or taken(row) or first in (None, IDK) or row["answered"] is None:
            continue
        if not reaches(row["sure"][0], WORTH_SHOWING):
            continue
        model = drafts[key]
        beside = Beside.of(row["question"], first, model["answer"], model["confidence"])
        response = {"answer": first, "abstained": False}
        found = dev_verdict(row, response) if row["set"] == "dev" else by_text(row, first)
        told = {"found": found, "confidence": row["sure"][0], "features": features_beside(row["sure"][0], beside)}
        rows.append(row | told)
    return rows


def report_on(rows: Sequence[dict[str, Any]]) -> tuple[dict[str, float], dict[str, Any]]:
    """The weights of a fit on half of the rows, and how well fits do on rows that they were not made on."""
    if not any(to_fit(row) for row in rows) or all(to_fit(row) for row in rows):
        raise SystemExit(f"{len(rows)} answers are too few: wanted some of each half of the questions.")
    names = list(rows[0]["features"])
    first, second = ([row for row in rows if to_fit(row) is half] for half in (True, False))
    weights = fitted(first, names)
    alone = [chances([row], fitted([r for r in rows if r is not row], names))[0] for row in rows]
    report: dict[str, Any] = {"fitted on": measured(first, chances(first, weights))}
    for model in sorted({row["model"] for row in rows}):
        own = [(row, said) for row, said in zip(rows, alone, strict=True) if row["model"] == model]
        report[f"{model}, each left out once"] = measured(*map(list, zip(*own, strict=True)))
        if other := [row for row in second if row["model"] == model]:
            report[model] = measured(other, chances(other, weights))
            report[f"{model}, as it was"] = measured(other, [row["confidence"] or 0.0 for row in other])
            if "support" in names:
                product = [(row.get("answered") or 0.0) * (row.get("supported") or 0.0) for row in other]
                report[f"{model}, support times the reader"] = measured(other, product)
                report[f"{model}, support alone"] = measured(other, [row.get("supported") or 0.0 for row in other])
    return weights, report


def main() -> None:
    """Fit, print, and write the card where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path, nargs="+")
    parser.add_argument("--on", type=Path, nargs="+", help="rows of other questions, for the card that ships")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.on:
        every = read(options.on)
        both = ("written", answers(every), card().weights), ("quoted beside", quotations(every), card().beside)
        for name, rows, weights in both:
            for model in sorted({row["model"] for row in rows}):
                own = [row for row in rows if row["model"] == model]
                print(f"{name}, {model}:", measured(own, chances(own, dict(weights))))
                print("    as it was:", measured(own, [row["confidence"] or 0.0 for row in own]))
        return
    every = read(options.rows)
    cards = {}
    for name, rows in (("written", answers(every)), ("beside", quotations(every))):
        weights, report = report_on(rows)
        print(json.dumps({name: weights, "questions that were not fitted on": report}, indent=1))
        # What ships is fitted on all of them; the figures are of a fit on half, so rather too low than too high.
        whole = fitted(rows, list(rows[0]["features"]))
        cards[name] = {"weights": whole, "rows": len(rows), "other_questions": report}
    if options.write:
        CARD.write_text(json.dumps(cards["written"] | {"beside": cards["beside"]}, indent=1) + "\n", encoding="utf-8")


def read(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The rows of all files."""
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
