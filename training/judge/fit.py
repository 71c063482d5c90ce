"""Fit the head on training claims, choose and calibrate it on dev, and write its numbers and reports.

    python -m training.judge.fit RUN FIT.npz DEV.npz      RUN gets head.json and report.json

The weights come from training claims that the network did not see. Dev decides the strength of the penalty, how much
the network's features count, the thresholds, and the calibration curve.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cragraph.models.grounding import blended
from training.judge.calibrate import calibration_knots, cross_fitted
from training.judge.logistic import FEATURES, LEARNED, HeadFit, fit_contradiction, fit_words
from training.judge.metrics import auroc, balanced_accuracy, expected_calibration_error, f1
from training.judge.rows import CONTRADICTED, SUPPORTED
from training.judge.table import Table

Array = NDArray[Any]
RowsByFile = dict[str, tuple[Array, Array]]
ONE_SIDED = ("clapnq_dev", "tatqa_dev", "wice_dev_subclaim_spans")
ASIDE = ("asked_dev", "turned_dev", "probes")
"""Claims made of passages put aside (`aside.py`), and written about six small texts (`probes.jsonl`)."""
APART = ("financebench_dev", "xnli_ko_dev", *ASIDE)
SPAN_FILES = ("wice_dev_subclaim_spans", "defacto_val", "summedits_set_scitldr")
AGAINST_FILES = ("fever_symmetric_dev", "covidfact_dev", "healthver_dev", "defacto_val")
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5)
"""What the weights of the network's features are multiplied by: it is surer of sets like those it was trained on."""
BLENDS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0)
COSTS = (0.0, 0.5, 1.0, 1.5, 2.0)
BOUNDS = (0.001, 0.1, 0.2, 0.3)
MADE = 0.25
"""Weight of the claims made of passages put aside, beside people's labels of answers that others wrote."""


def macro(rows: RowsByFile) -> tuple[float, dict[str, float]]:
    """Macro AUROC of *supported* over the English files with both labels, and each file's."""
    each = {n: auroc(s, la == SUPPORTED) for n, (s, la) in rows.items()}
    each = {n: round(v, 4) for n, v in each.items() if not np.isnan(v)}
    return float(np.mean([v for n, v in each.items() if n not in APART])), each


def choose(head: HeadFit, dev: Table) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Try feature sets, penalties and shares; the best by dev macro AUROC, and all of them."""
    learned, everything = np.arange(len(LEARNED)), np.arange(len(FEATURES))
    sets = {"network": learned, "cheap": everything[len(LEARNED) :], "both": everything}
    tried: list[dict[str, Any]] = []
    for name, columns in sets.items():
        for penalty in (0.001, 0.01, 0.1):
            fitted, bias = head.fit(columns, penalty)
            left_out = head.left_out(columns, penalty)
            for share in SHARES if name == "both" else (1.0,):
                weights = np.where(np.isin(everything, learned), fitted * share, fitted)
                value, each = macro(dev.rows(head.score(dev, weights, bias)))
                row = {"features": name, "penalty": penalty, "share": share, "dev": value, "left out": left_out}
                print(row, flush=True)
                tried.append(row | {"each": each, "weights": weights.tolist(), "bias": bias})
    return max(tried, key=lambda t: t["dev"]), tried


def joined(table: Table, share: float, cost: float, bound: float = BOUNDS[0]) -> Array:
    """What the encoder judge goes by: support by words and network joined, less the cost where facts object."""
    objected = table["lacking"] | table["opposed"] | table["unmatched"]
    return np.asarray(blended(table["opinion"], table["features"][:, 0], share, bound) - cost * objected)


def choose_blend(dev: Table) -> tuple[dict[str, Any], Array]:
    """How much network and words count, and what an objection costs: by the AUROC of people's files and of made ones.

    `left out` is the macro AUROC where each file is scored by what the other files would have chosen.
    """
    settings = product(BLENDS, COSTS, BOUNDS)
    tried = {own: macro(dev.rows(joined(dev, *own))) for own in settings}
    files = [name for name in next(iter(tried.values()))[1] if name not in APART]

    def value(own: tuple[float, float, float], without: str = "") -> float:
        each = tried[own][1]
        people = float(np.mean([each[n] for n in files if n != without]))
        made = [each[n] for n in ASIDE if n in each]
        return (1 - MADE) * people + MADE * float(np.mean(made)) if made else people

    best = max(tried, key=value)
    return {
        "share": best[0],
        "cost": best[1],
        "bound": best[2],
        "dev": tried[best][0],
        "each": tried[best][1],
        "left out": float(np.mean([tried[max(tried, key=lambda own: value(own, n))][1][n] for n in files])),
        "weakest": macro(dev.rows(joined(dev, *best), weakest=True))[0],
        "words alone": tried[0.0, 0.0, BOUNDS[0]][0],
        "tried": {" - ".join(f"{x:g}" for x in own): round(value(own), 4) for own in tried},
    }, joined(dev, *best)


def measure(dev: Table, logits: Array, contradiction: tuple[float, float]) -> tuple[list[Array], float, dict[str, Any]]:
    """The calibration curve of some scores, the best threshold, and the figures on dev."""
    rows = {n: r for n, r in dev.rows(logits, weakest=True).items() if n not in (*APART, *ONE_SIDED)}
    knots = calibration_knots(rows)
    calibrated = {n: (np.interp(s, *knots), la) for n, (s, la) in rows.items()}
    at = best_threshold(calibrated)
    chance = np.concatenate([s for s, _ in calibrated.values()])
    precision, recall, _ = f1(chance >= at, np.concatenate([la for _, la in rows.values()]) == SUPPORTED)
    doubt = 1 / (1 + np.exp(-(contradiction[0] * (dev["logits"][:, 2] - dev["logits"][:, 1]) + contradiction[1])))
    against = dev.rows(-(1 - np.interp(logits, *knots)) * doubt, weakest=True)
    accuracy = {n: balanced_accuracy(s >= at, la == SUPPORTED) for n, (s, la) in calibrated.items()}
    return (
        list(knots),
        at,
        {
            "precision": round(precision, 3),
            "recall": round(recall, 3),
            "balanced accuracy": accuracy | {"macro": float(np.mean(list(accuracy.values())))},
            "ece": calibration_report(rows, calibrated),
            "contradiction auroc": {
                n: auroc(-against[n][0], against[n][1] == CONTRADICTED) for n in AGAINST_FILES if n in against
            },
        },
    )


def baselines(dev: Table) -> dict[str, Any]:
    """Dev AUROC of each feature alone."""
    return {name: macro(dev.rows(dev["features"][:, i])) for i, name in enumerate(FEATURES)}


def best_threshold(rows: RowsByFile) -> float:
    """The support that gives the best macro balanced accuracy."""

    def value(at: float) -> float:
        return float(np.mean([balanced_accuracy(s >= at, la == SUPPORTED) for s, la in rows.values()]))

    return max(np.arange(0.2, 0.8, 0.01).round(2).tolist(), key=value)


def word_figures(dev: Table, word: Sequence[float]) -> tuple[float, dict[str, Any]]:
    """The word threshold with the best mean F1 on dev, and by file its figures beside *words that do not occur*."""
    found = {}
    for name in SPAN_FILES:
        readings = np.flatnonzero(dev.sources == name)
        if readings.size:
            words = dev.words(readings)
            found[name] = (1 / (1 + np.exp(-(word[0] * words.logits + word[1] * words.missing + word[2]))), words)

    def mean(at: float) -> float:
        return float(np.mean([f1(c >= at, w.tags)[2] for c, w in found.values()]))

    at = max(np.arange(0.05, 0.8, 0.01).round(2).tolist(), key=mean)
    return at, {
        n: {"model": f1(c >= at, w.tags), "words that do not occur": f1(w.missing > 0, w.tags)}
        for n, (c, w) in found.items()
    }


def calibration_report(rows: RowsByFile, calibrated: RowsByFile) -> dict[str, Any]:
    """Expected calibration error before and after, by file, and with curves fitted on other rows or files."""
    true = np.concatenate([la for _, la in rows.values()]) == SUPPORTED
    plain = 1 / (1 + np.exp(-np.concatenate([s for s, _ in rows.values()])))
    other_rows, other_files = cross_fitted(rows)
    return {
        "before": expected_calibration_error(plain, true),
        "after": expected_calibration_error(np.concatenate([s for s, _ in calibrated.values()]), true),
        "after, other rows": other_rows,
        "after, other files": other_files,
        "each": {n: expected_calibration_error(s, la == SUPPORTED) for n, (s, la) in calibrated.items()},
    }


def main() -> None:
    """Fit, choose, calibrate, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("fit", type=Path)
    parser.add_argument("dev", type=Path)
    options = parser.parse_args()
    train, dev = Table.load(options.fit), Table.load(options.dev)
    head = HeadFit(train)
    best, tried = choose(head, dev)
    blend, scores = choose_blend(dev)
    contradiction = fit_contradiction(train)
    logits = head.score(dev, np.array(best["weights"]), best["bias"])
    knots, alone_at, alone = measure(dev, logits, contradiction)
    blend_knots, at, together = measure(dev, scores, contradiction)
    word = fit_words(train)
    word_at, words = word_figures(dev, word)
    card = {
        "head": {
            "features": FEATURES,
            "weights": best["weights"],
            "means": head.means.tolist(),
            "scales": head.scales.tolist(),
            "bias": best["bias"],
            "knots": [k.tolist() for k in knots],
            "contradiction": contradiction,
            "word": word,
        },
        "blend": {
            "share": blend["share"],
            "cost": blend["cost"],
            "bound": blend["bound"],
            "knots": [k.tolist() for k in blend_knots],
        },
        "thresholds": {
            "alone": {"at": alone_at, "precision": alone["precision"], "recall": alone["recall"]},
            "supported": {"at": at, "precision": together["precision"], "recall": together["recall"]},
            "word": {"at": word_at},
        },
    }
    report = {
        "judge": blend | together,
        "model alone": best | alone,
        "words": words,
        "one feature alone": baselines(dev),
        "tried": [{k: t[k] for k in ("features", "penalty", "share", "dev", "left out")} for t in tried],
    }
    (options.run / "head.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    (options.run / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps({k: v for k, v in report.items() if k != "tried"}, indent=1))


if __name__ == "__main__":
    main()
