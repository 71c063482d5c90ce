"""Fit the probability that an answer which a chat model wrote is right, from what the networks read of it.

    python -m lab.benchmarks.prompts --way draft --model ollama:qwen2.5-coder:1.5b --out rows.jsonl
    python -m lab.benchmarks.written rows.jsonl --write
    python -m lab.benchmarks.written rows.jsonl --on other-rows.jsonl

Half of the questions are fitted on, by a hash of their names; the other half says how good the fit is. So do all of
them, each by a fit on all but its own. What was answered partly counts as half right. Refusals are no answers and are
left out. Of files that hold the same question of a model, the last counts. `--on` says how well the card that ships
does on rows of other questions. What the writer is worth (`models.worth`) counts beside the card: the models that it is
fitted on are the neutral ones.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from cragraph.verification.evidence import CARD, card
from lab.benchmarks.prompts import to_fit

TRUTH: Final = {"right": 1.0, "partly": 0.5, "wrong": 0.0}
PENALTY: Final = 1.0  # of the squared weights; 4 ranks as well and states too little, each row left out of its fit
STEPS: Final = 4_000
POSITIVE: Final = ("found", "probability", "span", "support", "logprob")
"""Features that can only speak for an answer: with few rows an accidental sign must not be taken for knowledge."""


def fitted(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, float]:
    """The weights of a logistic regression that keeps near 0, by projected gradient."""
    x = np.array([[row["features"][name] for name in names] for row in rows])
    y = np.array([TRUTH[row["found"]] for row in rows])
    positive = np.array([name in POSITIVE for name in names])
    shrunk = np.array([PENALTY * (name != "bias") for name in names])
    weights = np.zeros(len(names))
    for _ in range(STEPS):
        slope = x.T @ (1 / (1 + np.exp(-x @ weights)) - y) + shrunk * weights
        weights -= slope / (len(rows) / 2 + PENALTY)
        weights = np.where(positive, np.maximum(weights, 0.0), weights)
    return {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=True)}


def probabilities(rows: Sequence[dict[str, Any]], weights: dict[str, float]) -> list[float]:
    """The probability of each answer."""
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


def report_on(rows: Sequence[dict[str, Any]]) -> tuple[dict[str, float], dict[str, Any]]:
    """The weights of a fit on half of the rows, and how well fits do on rows that they were not made on."""
    if not any(to_fit(row) for row in rows) or all(to_fit(row) for row in rows):
        raise SystemExit(f"{len(rows)} answers are too few: wanted some of each half of the questions.")
    names = list(rows[0]["features"])
    first, second = ([row for row in rows if to_fit(row) is half] for half in (True, False))
    weights = fitted(first, names)
    alone = [probabilities([row], fitted([r for r in rows if r is not row], names))[0] for row in rows]
    report: dict[str, Any] = {"fitted on": measured(first, probabilities(first, weights))}
    for model in sorted({row["model"] for row in rows}):
        own = [(row, said) for row, said in zip(rows, alone, strict=True) if row["model"] == model]
        report[f"{model}, each left out once"] = measured(*map(list, zip(*own, strict=True)))
        if other := [row for row in second if row["model"] == model]:
            report[model] = measured(other, probabilities(other, weights))
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
        rows = answers(read(options.on))
        for model in sorted({row["model"] for row in rows}):
            own = [row for row in rows if row["model"] == model]
            print(f"{model}:", measured(own, probabilities(own, dict(card().weights))))
            print("    as it was:", measured(own, [row["confidence"] or 0.0 for row in own]))
        return
    rows = answers(read(options.rows))
    weights, report = report_on(rows)
    print(json.dumps({"weights": weights, "questions that were not fitted on": report}, indent=1))
    if options.write:
        # What ships is fitted on all of them; the figures are of a fit on half, so rather too low than too high.
        whole = {"weights": fitted(rows, list(rows[0]["features"])), "rows": len(rows), "other_questions": report}
        CARD.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def read(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The rows of all files."""
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
