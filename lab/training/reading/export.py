"""Write the trained network as ONNX, in full precision and int8, and say how far the two are from each other.

    python -m lab.training.reading.export RUN --data ROWS  RUN: net.pt (or checkpoint.pt); gets fp32.onnx, int8.onnx

With `--mean-with OTHER …` the mean of several runs is written: what each learned of its rows evens out; `--shares` says
how much each of them counts. ROWS holds what
`training.reading.prepare` wrote: its first rows give the ranges of the int8 layers, its last ones are what the two are
compared on.
"""

import argparse
from pathlib import Path

import numpy as np
import onnxruntime

from lab.training.judge.graph import MAX_TOKENS
from lab.training.learning import export, tensors_of
from lab.training.reading.graph import draw
from lab.training.reading.train import Both

PAIRS = 40
"""Pairs of texts of each task that the two are compared on."""


def main() -> None:
    """Export and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--mean-with", type=Path, nargs="+", default=[], help="other runs, whose weights count as much")
    parser.add_argument("--shares", type=float, nargs="+", default=[], help="of RUN and the others, in order")
    given = parser.parse_args()
    data = Both(given.data)
    export(
        draw,
        tensors_of([given.run, *given.mean_with], given.shares),
        [data.claims, data.questions],
        MAX_TOKENS,
        given.run,
    )
    exact, small = (
        onnxruntime.InferenceSession(str(given.run / f"{name}.onnx"), providers=["CPUExecutionProvider"])
        for name in ("fp32", "int8")
    )
    for rows, names in ((data.claims, ("claim", "word")), (data.questions, ("answer", "pieces"))):
        found = []
        for row in range(len(rows.sizes) - PAIRS, len(rows.sizes)):
            pair = dict(zip(("input_ids", "types"), (part[None] for part in rows.pair(row)), strict=True))
            found.append([session.run(names, pair) for session in (exact, small)])
        for place, name in enumerate(names):
            one, other = (np.concatenate([both[side][place].ravel() for both in found]) for side in (0, 1))
            alike, far = np.corrcoef(one, other)[0, 1], np.abs(one - other).mean()
            print(f"{name}: correlation {alike:.4f}, mean distance {far:.3f}")


if __name__ == "__main__":
    main()
