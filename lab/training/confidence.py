"""Fit what the judges' scores mean on dev: a claim's probability, an answer's probability, and where to accept.

    python -m lab.training.confidence DATA [--limit 150] [--run lab/training/runs/confidence]

DATA holds grounding/dev. Every English file with both labels weighs the same, and in every file `BASE_RATE` of the
answers are good: files differ in that from 18 to 94 %, which says how they were made and nothing of the judge. Verdicts
are collected once a judge and kept in the run's folder, which is to be emptied when a judge changes. Writes
cragraph/verification/confidence.json and a picture, and prints the figures, each file by what the other files give.
"""

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.verification.policies import FITTED, MOST_SUPPORT, SUPPORTED_FROM, Curve
from cragraph.verification.result import counted, word_for_word
from lab.evals.data import read_rows
from lab.evals.grounding import APART
from lab.training.judge.metrics import auroc, expected_calibration_error, reliability

BASE_RATE = 0.5  # share of answers that are good, in every file that the curves are fitted on
JUDGES = ("encoder", "embedding", "lexical")
PENALTY = 1e-3
SHARES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
"""Shares of refused good answers that a threshold is stated for."""
Array = NDArray[Any]


@dataclass(frozen=True)
class Answer:
    """A labelled answer as it was judged: the judge's scores of its claims that are no quotations."""

    file: str
    group: str
    good: bool
    scores: tuple[float, ...]

    def probability(self, curve: Curve) -> float:
        """The confidence that a curve states of it."""
        return curve.answer([curve.claim(score) for score in self.scores]) if self.scores else 1.0


def collect(files: Iterable[Path], judge: str, limit: int) -> Iterator[dict[str, Any]]:
    """Judge the rows of the English files with both labels by the judge's own scores, one JSON object an answer."""
    from cragraph.build import Parts
    from cragraph.settings import Settings
    from cragraph.verification.judges import verdicts

    # The scores before any curve.
    verdicts.curves = dict
    verifier = Parts(Settings(policy="claims")).verifier
    verifier = replace(verifier, options=replace(verifier.options, measure=()), scorer=None)
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
                "good": row.supported,
                "scores": [v["support"] for v in own if not word_for_word(v)],
                "judges": sorted({v["judge"] for v in own}),
            }


def read_answers(lines: Iterable[str], judge: str) -> list[Answer]:
    """The answers that the judge itself judged; of one claim's rows with several passages the best supported."""
    best: dict[tuple[str, str], Answer] = {}
    for line in lines:
        row = json.loads(line)
        if row["judges"] == [judge]:
            answer = Answer(row["file"], row["group"], row["good"], tuple(row["scores"]))
            other = best.get((answer.file, answer.group))
            if other is None or min(answer.scores, default=1.0) > min(other.scores, default=1.0):
                best[answer.file, answer.group] = answer
    return list(best.values())


def balanced(answers: Sequence[Answer]) -> Array:
    """Weights that sum to 1: every file the same, and in each the good answers `BASE_RATE` of it."""
    sizes: dict[tuple[str, bool], int] = {}
    for answer in answers:
        sizes[answer.file, answer.good] = sizes.get((answer.file, answer.good), 0) + 1
    share = {True: BASE_RATE, False: 1 - BASE_RATE}
    weight = np.array([share[a.good] / sizes[a.file, a.good] if (a.file, not a.good) in sizes else 0 for a in answers])
    return np.asarray(weight / max(weight.sum(), 1e-12))


def logits(values: Sequence[float]) -> Array:
    """The logits of some probabilities, as `Curve` takes them."""
    kept = np.clip(values, 1 - MOST_SUPPORT, MOST_SUPPORT)
    return np.asarray(np.log(kept / (1 - kept)))


def fit(answers: Sequence[Answer]) -> Curve:
    """Slope and bias by answers of one claim, then the shares of the worst claim and of their number by the others."""
    single = [answer for answer in answers if len(answer.scores) == 1]
    x, y, weight = logits([a.scores[0] for a in single]), np.array([a.good for a in single]), balanced(single)
    slope, bias = minimised(lambda w: w[0] * x + w[1], y, weight, [1.0, 0.0], [(0.05, 5), (None, None)])
    curve = Curve(slope=round(slope, 4), bias=round(bias, 4))
    several = [answer for answer in answers if len(answer.scores) > 1]
    if len({answer.good for answer in several}) < 2:
        return curve
    own = [logits([curve.claim(score) for score in answer.scores]) for answer in several]
    mean, least = np.array([v.mean() for v in own]), np.array([v.min() for v in own])
    number, good = np.log([len(v) for v in own]), np.array([a.good for a in several])
    start, bounds = [0.5, 0.0], [(0.0, 1.0), (-1.0, 0.0)]
    worst, count = minimised(
        lambda w: mean + w[0] * (least - mean) + w[1] * number, good, balanced(several), start, bounds
    )
    return replace(curve, worst=round(worst, 4), number=round(count, 4))


def minimised(
    logit: Callable[[Array], Array], y: Array, weight: Array, start: Sequence[float], bounds: Sequence[Any]
) -> list[float]:
    """The parameters with the smallest weighted log loss, drawn a little to where they start."""

    def loss(w: Array) -> float:
        z = logit(w)
        return float((weight * (np.logaddexp(0, z) - y * z)).sum() + PENALTY * ((w - np.array(start)) ** 2).sum())

    return [float(value) for value in minimize(loss, np.array(start), method="L-BFGS-B", bounds=bounds).x]


def elsewhere(answers: Sequence[Answer]) -> Array:
    """What curves that were fitted on the other files state of each answer."""
    probabilities = np.zeros(len(answers))
    for file in sorted({answer.file for answer in answers}):
        curve = fit([answer for answer in answers if answer.file != file])
        for place, answer in enumerate(answers):
            if answer.file == file:
                probabilities[place] = answer.probability(curve)
    return probabilities


def thresholds(answers: Sequence[Answer], probabilities: Array) -> dict[str, float]:
    """The confidence below which each of `SHARES` of the good answers lies, every file weighing the same."""
    good = np.array([answer.good for answer in answers])
    weight = balanced(answers)[good]
    order = np.argsort(probabilities[good])
    below = np.cumsum(weight[order]) / weight.sum()
    at = {share: round(float(probabilities[good][order][np.searchsorted(below, share)]), 2) for share in SHARES}
    # One line for claims and answers, where the measure cannot tell the two apart.
    return {
        f"{share:g}": SUPPORTED_FROM if abs(value - SUPPORTED_FROM) < 0.02 else value for share, value in at.items()
    }


def figures(answers: Sequence[Answer], probabilities: Array, at: float) -> dict[str, Any]:
    """Of each file and in the mean: AUROC, balanced accuracy and refused good answers at a threshold."""
    good, files = np.array([a.good for a in answers]), np.array([a.file for a in answers])
    each = {}
    for name in np.unique(files).tolist():
        own, accepted = files == name, probabilities >= at
        kept, refused = accepted[own & good].mean(), 1 - accepted[own & ~good].mean()
        each[name] = {
            "auroc": round(auroc(probabilities[own], good[own]), 4),
            "balanced_accuracy": round(float(kept + refused) / 2, 4),
            "refused_good": round(float(1 - kept), 4),
        }
    mean = {key: round(float(np.mean([row[key] for row in each.values()])), 4) for key in next(iter(each.values()))}
    weight = balanced(answers)
    drawn = np.random.default_rng(13).choice(len(answers), 20_000, p=weight)
    return {**mean, "ece": round(expected_calibration_error(probabilities[drawn], good[drawn]), 4), "each": each}


def draw(drawn: Mapping[str, tuple[Sequence[Answer], Array]], out: Path) -> None:
    """One panel a judge: what curves of the other files state, and what came true."""
    import matplotlib as mpl
    from matplotlib import pyplot

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "cragraph"
    figure, panels = pyplot.subplots(1, len(drawn), figsize=(4.2 * len(drawn), 4.2), sharey=True, squeeze=False)
    for axis, (judge, (answers, probabilities)) in zip(panels[0], drawn.items(), strict=True):
        rows = np.random.default_rng(13).choice(len(answers), 20_000, p=balanced(answers))
        good = np.array([answer.good for answer in answers])[rows]
        error = expected_calibration_error(probabilities[rows], good)
        axis.plot(*reliability(probabilities[rows], good), marker="o", label=f"on other files, error {error:.3f}")
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
    parser.add_argument("--run", type=Path, default=Path("lab/training/runs/confidence"))
    parser.add_argument("--limit", type=int, default=150, help="rows of each file")
    parser.add_argument("--judges", default=",".join(JUDGES))
    parser.add_argument("--out", type=Path, default=Path("cragraph/verification/confidence.json"))
    parser.add_argument("--plot", type=Path, default=Path("docs/lab/results/confidence-reliability.svg"))
    options = parser.parse_args()
    options.run.mkdir(parents=True, exist_ok=True)
    files = sorted((options.data / "grounding" / "dev").glob("*.jsonl"))
    judges = json.loads(FITTED.read_text(encoding="utf-8"))["judges"] if FITTED.exists() else {}
    drawn = {}
    for judge in options.judges.split(","):
        kept = options.run / f"{judge}-{options.limit}.jsonl"
        if not kept.exists():
            part = kept.with_suffix(".part")
            with part.open("w", encoding="utf-8") as out:
                out.writelines(json.dumps(row) + "\n" for row in collect(files, judge, options.limit))
            part.replace(kept)
        answers = read_answers(kept.read_text(encoding="utf-8").splitlines(), judge)
        others = elsewhere(answers)
        curve = replace(fit(answers), thresholds=thresholds(answers, others))
        found = figures(answers, others, max(SUPPORTED_FROM, curve.threshold(0.2)))
        drawn[judge] = (answers, others)
        judges[judge] = {"curve": asdict(curve), "rows": len(answers), "other_files": found}
        print(judge, json.dumps(asdict(curve)), f"{len(answers)} rows")
        for name, row in [("mean", found), *found["each"].items()]:
            print(f"  {name:34s}", {key: value for key, value in row.items() if key != "each"})
    options.out.write_text(json.dumps({"version": "2", "judges": judges}, indent=1) + "\n", encoding="utf-8")
    draw(drawn, options.plot)


if __name__ == "__main__":
    main()
