"""Fit the calibrated policy on dev, and set it beside the claims policy.

    python -m training.confidence DATA [--limit 300] [--run training/runs/confidence]

DATA holds grounding/dev. Verdicts are collected once a judge and kept in the run's folder. The curve of a judge is
fitted on the files with both labels, each file weighing the same. Writes verification/confidence.json, a picture, and
prints the figures: AUROC and calibration error of both policies, the curves fitted on other rows and on other files.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cragraph.evals.data import read_rows
from cragraph.evals.grounding import APART
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.verification.policies import SUREST, Curve, word_for_word
from cragraph.verification.result import counted
from training.judge.logistic import fit_logistic
from training.judge.metrics import auroc, expected_calibration_error

JUDGES = ("encoder", "embedding", "lexical")
PENALTY = 1e-4
FOLDS, SEED = 5, 13
THRESHOLD = 0.7
"""The confidence from which the graph accepts an answer."""

Array = NDArray[Any]


@dataclass(frozen=True)
class Answer:
    """A labelled answer as it was judged: the supports of its claims that are no quotations, and `claims`' value."""

    file: str
    group: str
    supported: bool
    supports: tuple[float, ...]
    claims: float


def collect(files: Iterable[Path], judge: str, limit: int) -> Iterator[dict[str, Any]]:
    """Judge the rows of the English files with both labels, one JSON object an answer."""
    from cragraph.build import make_verifier
    from cragraph.settings import Settings

    verifier = make_verifier(Settings(policy="claims"))
    for file in files:
        rows = read_rows(file, limit)
        if len({row.supported for row in rows}) < 2 or file.stem.startswith(APART):
            continue
        for row in rows:
            found = verifier(row.question, row.answer, as_passages(row.passages), Notes(), judge=judge, policy="claims")
            own = counted(found.claims)
            yield {
                "file": file.stem,
                "group": row.group,
                "supported": row.supported,
                "supports": [v["support"] for v in own if not word_for_word(v)],
                "judges": sorted({v["judge"] for v in own}),
                "claims": found.confidence,
            }


def read_answers(lines: Iterable[str], judge: str) -> list[Answer]:
    """The answers that the judge itself judged; of one claim's rows with several passages the best supported."""
    best: dict[tuple[str, str], Answer] = {}
    for line in lines:
        row = json.loads(line)
        if row["judges"] != [judge]:
            continue
        supports = tuple(row["supports"])
        answer = Answer(row["file"], row["group"], row["supported"], supports, row["claims"])
        other = best.get((answer.file, answer.group))
        if other is None or min(answer.supports, default=1.0) > min(other.supports, default=1.0):
            best[answer.file, answer.group] = answer
    return list(best.values())


def mean_logits(answers: Sequence[Answer]) -> Array:
    """(n, 1): the mean logit of each answer's supports."""
    kept = [np.clip(answer.supports, 1 - SUREST, SUREST) for answer in answers]
    return np.array([[float(np.log(own / (1 - own)).mean())] for own in kept])


def fit(answers: Sequence[Answer]) -> Curve:
    """The curve that fits best, every file weighing the same; quotations alone are not fitted on."""
    open_ = [answer for answer in answers if answer.supports]
    sizes: dict[str, int] = defaultdict(int)
    for answer in open_:
        sizes[answer.file] += 1
    weight = np.array([1 / sizes[answer.file] / len(sizes) for answer in open_])
    slope, bias = fit_logistic(mean_logits(open_), np.array([a.supported for a in open_]), weight, PENALTY)
    return Curve(slope=round(float(slope[0]), 4), bias=round(bias, 4))


def stated(curve: Curve, answers: Sequence[Answer]) -> Array:
    """The confidence that a curve states of each answer."""
    return np.array([curve(answer.supports) if answer.supports else 1.0 for answer in answers])


def elsewhere(answers: Sequence[Answer]) -> dict[str, Array]:
    """What curves fitted on other rows, and on other files, state of each answer."""
    fold = np.random.default_rng(SEED).integers(FOLDS, size=len(answers))
    files = np.array([answer.file for answer in answers])
    found = {}
    for name, part in (("other rows", fold), ("other files", files)):
        chances = np.zeros(len(answers))
        for value in np.unique(part):
            here = np.flatnonzero(part == value)
            curve = fit([answers[i] for i in np.flatnonzero(part != value)])
            chances[here] = stated(curve, [answers[i] for i in here])
        found[name] = chances
    return found


def figures(answers: Sequence[Answer], chances: Array) -> dict[str, Any]:
    """Macro AUROC over the files, calibration error over all rows, and both of each file."""
    true = np.array([answer.supported for answer in answers])
    files = np.array([answer.file for answer in answers])
    each = {
        name: {
            "auroc": round(auroc(chances[files == name], true[files == name]), 4),
            "ece": round(expected_calibration_error(chances[files == name], true[files == name]), 4),
        }
        for name in np.unique(files).tolist()
    }
    accepted = chances >= THRESHOLD
    return {
        "auroc": round(float(np.mean([found["auroc"] for found in each.values()])), 4),
        "ece": round(expected_calibration_error(chances, true), 4),
        "precision": round(float(true[accepted].mean()), 4) if accepted.any() else None,
        "recall": round(float(accepted[true].mean()), 4),
        "each": each,
    }


def draw(drawn: Mapping[str, tuple[Array, Array, Array]], out: Path) -> None:
    """One panel a judge: what the claims policy and the calibrated one state, and what came true."""
    import matplotlib as mpl
    from matplotlib import pyplot

    from training.judge.plot import reliability

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "cragraph"
    figure, panels = pyplot.subplots(1, len(drawn), figsize=(4.2 * len(drawn), 4.2), sharey=True, squeeze=False)
    for axis, (judge, (claims, chances, true)) in zip(panels[0], drawn.items(), strict=True):
        for title, values in (("claims", claims), ("calibrated", chances)):
            error = expected_calibration_error(values, true)
            axis.plot(*reliability(values, true), marker="o", label=f"{title}, error {error:.3f}")
        axis.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        axis.set(title=f"{judge} judge", xlabel="stated confidence", xlim=(0, 1), ylim=(0, 1))
        axis.legend(fontsize="small")
    panels[0][0].set_ylabel("share that is supported")
    figure.tight_layout()
    figure.savefig(out, metadata={"Date": None})


def main() -> None:
    """Collect, fit, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--run", type=Path, default=Path("training/runs/confidence"))
    parser.add_argument("--limit", type=int, default=300, help="rows of each file")
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--out", type=Path, default=Path("verification/confidence.json"))
    parser.add_argument("--plot", type=Path, default=Path("docs/results/confidence-reliability.svg"))
    options = parser.parse_args()
    options.run.mkdir(parents=True, exist_ok=True)
    files = sorted((options.data / "grounding" / "dev").glob("*.jsonl"))
    judges, drawn = {}, {}
    for judge in options.judges.split(","):
        kept = options.run / f"{judge}-{options.limit}.jsonl"
        if not kept.exists():
            part = kept.with_suffix(".part")
            with part.open("w", encoding="utf-8") as out:
                out.writelines(json.dumps(row) + "\n" for row in collect(files, judge, options.limit))
            part.replace(kept)
        answers = read_answers(kept.read_text(encoding="utf-8").splitlines(), judge)
        curve = fit(answers)
        chances, claims = stated(curve, answers), np.array([answer.claims for answer in answers])
        found = {"claims": figures(answers, claims), "calibrated": figures(answers, chances)}
        found |= {f"calibrated on {name}": figures(answers, other) for name, other in elsewhere(answers).items()}
        drawn[judge] = (claims, chances, np.array([answer.supported for answer in answers]))
        accepted = {name: found["calibrated"][name] for name in ("precision", "recall")}
        judges[judge] = {"curve": vars(curve), "rows": len(answers), "threshold": {"at": THRESHOLD} | accepted}
        print(judge, json.dumps(vars(curve)), f"{len(answers)} rows")
        for name, row in found.items():
            print(f"  {name:28s}", {key: row[key] for key in ("auroc", "ece", "precision", "recall")})
        (options.run / f"{judge}-report.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    options.out.write_text(json.dumps({"version": "1", "judges": judges}, indent=1) + "\n", encoding="utf-8")
    draw(drawn, options.plot)


if __name__ == "__main__":
    main()
