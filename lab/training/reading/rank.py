"""How well runs tell the part that answers from all others: of the folders that no network learns from.

    python -m lab.training.reading.rank LISTS RUN [RUN ...] --trunk FOLDER [--every 1]

LISTS is the aside.npz of `training.reading.lists`; each RUN holds net.pt or checkpoint.pt. A quick look while a run
goes on, without heads and search: of `training.reader.fit` come the figures that decide.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

from lab.training.judge.metrics import auroc
from lab.training.learning import reading
from lab.training.reading.net import ReadingNet
from lab.training.reading.train import Lists

ROWS = 32


def figures(net: ReadingNet, data: Lists, every: int) -> str:
    """Questions of which the likeliest part answers, and how well that part's logit tells the answered ones."""
    order = [number for number in np.unique(data.lists) if number % every == 0]
    rows = np.flatnonzero(np.isin(data.lists, order))
    rows = rows[np.argsort(data.sizes[rows].sum(1), kind="stable")]
    likes, device = np.full(len(data.lists), -np.inf), next(net.parameters()).device
    with torch.no_grad():
        for start in range(0, len(rows), ROWS):
            own = rows[start : start + ROWS]
            batch = {name: value.to(device) for name, value in data.batch(own).items()}
            with reading(device):
                answer, pieces = net.reader(batch["ids"], batch["types"], batch["mask"])
            text = batch["places"].clone()
            text[:, 0] = 0
            most = (pieces[..., 2].float() - 1e4 * (1 - text)).amax(1)
            likes[own] = (answer.float() / 2 + most).cpu().numpy()
    first, best, answered = [], [], []
    for number in order:
        own = np.flatnonzero(data.lists == number)
        place = own[likes[own].argmax()]
        best.append(float(likes[place]))
        answered.append(bool(data.answer[own].any()))
        first += [bool(data.answer[place])] * answered[-1]
    told = auroc(np.array(best), np.array(answered))
    return f"{sum(first)} of {len(first)} with the right part first ({np.mean(first):.3f}); answered AUROC {told:.3f}"


def net_of(run: Path, trunk: Path) -> ReadingNet:
    """The network of a run, as of its last checkpoint where it goes on."""
    net, finished = ReadingNet(trunk).eval(), run / "net.pt"
    net.load_state_dict(torch.load(finished) if finished.exists() else torch.load(run / "checkpoint.pt")["net"])
    return net


def main() -> None:
    """Print the figures of each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--trunk", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="every such question only")
    given = parser.parse_args()
    data = Lists(given.lists)
    for run in given.runs:
        print(f"{run.name}: {figures(net_of(run, given.trunk), data, given.every)}", flush=True)


if __name__ == "__main__":
    main()
