"""Draw the reliability of the support before and after calibration, and by shape of data.

python -m training.judge.plot RUN DEV.npz [--out FOLDER]     RUN holds head.json
"""

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from numpy.typing import NDArray

from cragraph.models.grounding import Blend
from training.judge.fit import APART, ONE_SIDED, joined
from training.judge.metrics import expected_calibration_error
from training.judge.rows import SUPPORTED
from training.judge.table import Table

SHAPES = {
    "claims and one sentence": ("fever_symmetric", "covidfact", "healthver"),
    "claims and a page": ("wice",),
    "long answers": ("lfqa", "mtrag"),
    "summaries": ("defacto", "summedits"),
    "dialogue": ("begin",),
}


def reliability(chances: NDArray[Any], true: NDArray[Any], bins: int = 10) -> tuple[list[float], list[float]]:
    """Mean chance and share that came true of each step that holds at least ten rows."""
    place = np.minimum((chances * bins).astype(int), bins - 1)
    held = [b for b in range(bins) if (place == b).sum() >= 10]
    return [float(chances[place == b].mean()) for b in held], [float(true[place == b].mean()) for b in held]


def main() -> None:
    """Read, draw, write one picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/lab/results"))
    options = parser.parse_args()
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "cragraph"
    head = Blend.from_card(json.loads((options.run / "head.json").read_text(encoding="utf-8"))["blend"])
    dev = Table.load(options.dev)
    rows = {n: r for n, r in dev.rows(joined(dev, head.share, head.cost)).items() if n not in (*APART, *ONE_SIDED)}
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.5), sharey=True)
    raw = np.concatenate([s for s, _ in rows.values()])
    true = np.concatenate([la for _, la in rows.values()]) == SUPPORTED
    for title, chances in (("before", 1 / (1 + np.exp(-raw))), ("after", np.interp(raw, *head.knots))):
        error = expected_calibration_error(chances, true)
        left.plot(*reliability(chances, true), marker="o", label=f"{title}, error {error:.3f}")
    for shape, starts in SHAPES.items():
        own = [pair for name, pair in rows.items() if name.startswith(starts)]
        if own:
            chances = np.interp(np.concatenate([s for s, _ in own]), *head.knots)
            right.plot(
                *reliability(chances, np.concatenate([la for _, la in own]) == SUPPORTED), marker=".", label=shape
            )
    for axis, title in ((left, "all dev rows"), (right, "after calibration, by shape")):
        axis.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
        axis.set(title=title, xlabel="stated support", xlim=(0, 1), ylim=(0, 1))
        axis.legend(fontsize="small")
    left.set_ylabel("share that is supported")
    figure.tight_layout()
    figure.savefig(options.out / "grounding-reliability.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
