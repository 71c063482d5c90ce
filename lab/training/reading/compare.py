"""Compare runs before they have heads or a curve: what is supported told from what is not, what answers from what not.

    python -m lab.training.reading.compare DATA RUN [RUN ...] --trunk FOLDER [--limit 40]

Each RUN holds net.pt or checkpoint.pt. Printed are the mean AUROC over the files of grounding/dev and entail/dev, whose
answers are read whole, as one claim; and over those of qa/dev in which some texts answer and some do not. A quick look:
of `training.confidence` and `training.reader.fit` come the figures that decide.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import torch
from numpy.typing import NDArray

from lab.training.judge import model as judge
from lab.training.judge import prepare as judge_prepare
from lab.training.judge.metrics import auroc
from lab.training.judge.prepare import minilm
from lab.training.judge.rows import SUPPORTED, read_examples, read_rows
from lab.training.learning import Ints, reading
from lab.training.reader import prepare as reader_prepare
from lab.training.reader.rows import examples_of
from lab.training.reader.train import Rows as QuestionRows
from lab.training.reading.net import ReadingNet
from lab.training.reading.rank import net_of

ROWS = 32
LEFT_OUT = ("xnli_ko_dev",)
"""Files in a language that the network does not read."""
FEWEST = 5
"""Rows of either kind that a file must have to count."""

Told = dict[str, tuple[judge.Rows | QuestionRows, NDArray[np.bool_]]]


def enough(truth: NDArray[np.bool_]) -> bool:
    """Whether a file has rows of both kinds to tell apart."""
    return bool(FEWEST <= truth.sum() <= len(truth) - FEWEST)


def rows_of(data: Path, limit: int, scratch: Path) -> tuple[Told, Told]:
    """The claims and the questions of each dev file, with what is true of them."""
    claims, questions = Told(), Told()
    tokenizer = minilm() / "tokenizer.json"
    read = judge_prepare.reader(tokenizer)
    for path in sorted([*(data / "grounding" / "dev").glob("*.jsonl"), *(data / "entail" / "dev").glob("*.jsonl")]):
        if path.stem not in LEFT_OUT:
            own = read_examples(path)
            table = judge_prepare.arrays(Random(0).sample(own, min(limit, len(own))), read, Random(0))
            if enough(truth := table["labels"] == SUPPORTED):
                np.savez(scratch / f"claims-{path.stem}.npz", **table)
                claims[path.stem] = judge.Rows(scratch / f"claims-{path.stem}.npz"), truth
    for path in sorted((data / "qa" / "dev").glob("*.jsonl")):
        rng = Random(0)
        rows = [row for row in read_rows(path) if "passages" in row]  # others only put questions in other words
        asked = [example for row in rows for example in examples_of(row, rng)]
        sides = [[example for example in asked if example.answerable is side] for side in (True, False)]
        chosen = [example for side in sides for example in rng.sample(side, min(limit // 2, len(side)))]
        if not chosen:
            continue
        table = reader_prepare.arrays(chosen, tokenizer, rng)
        if enough(truth := table["answer"] > 0):
            np.savez(scratch / f"questions-{path.stem}.npz", **table)
            questions[path.stem] = QuestionRows(scratch / f"questions-{path.stem}.npz"), truth
    return claims, questions


def supports(net: ReadingNet, rows: judge.Rows, own: Ints) -> torch.Tensor:
    """How much further the logit of *supported* lies than the others."""
    batch = rows.batch(own)
    claim, _ = net.judge(batch.ids, batch.types, batch.mask)
    return claim[:, SUPPORTED] - torch.logsumexp(claim[:, SUPPORTED + 1 :], dim=-1)


def answers(net: ReadingNet, rows: QuestionRows, own: Ints) -> torch.Tensor:
    """The logit that the text answers."""
    batch = rows.batch(own)
    answer, _ = net.reader(batch["ids"], batch["types"], batch["mask"])
    return answer


def told(net: ReadingNet, files: Told) -> dict[str, float]:
    """AUROC of each file."""
    found = {}
    for name, (rows, truth) in files.items():
        scores = np.zeros(len(truth))
        for start in range(0, len(truth), ROWS):
            own = np.arange(start, min(start + ROWS, len(truth)))
            with torch.no_grad(), reading(torch.device("cpu")):
                logits = supports(net, rows, own) if isinstance(rows, judge.Rows) else answers(net, rows, own)
            scores[own] = logits.float().numpy()
        found[name] = auroc(scores, truth)
    return found


def line(name: str, each: Sequence[dict[str, float]]) -> str:
    """The figures of one run."""
    claims, questions = (float(np.mean([*one.values()])) for one in each)
    return f"| {name} | {claims:.3f} | {questions:.3f} |"


def main() -> None:
    """Print the figures of each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--trunk", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=40, help="rows of a file at most")
    parser.add_argument("--verbose", action="store_true", help="every file by itself")
    given = parser.parse_args()
    with TemporaryDirectory() as scratch:
        sides = rows_of(given.data, given.limit, Path(scratch))
        print(f"| run | claims, {len(sides[0])} files | questions, {len(sides[1])} files |\n| --- | --- | --- |")
        for run in given.runs:
            net = net_of(run, given.trunk)
            each = [told(net, side) for side in sides]
            print(line(run.name, each), flush=True)
            if given.verbose:
                print("\n".join(f"  {name}: {value:.3f}" for one in each for name, value in one.items()), flush=True)


if __name__ == "__main__":
    main()
