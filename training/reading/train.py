"""Train both tasks on one trunk, batches in turn; may be stopped at any time and goes on from its last checkpoint.

    python -m training.reading.train RUN --trunk FOLDER --data ROWS [--rows 90000] [--decay 16000]

FOLDER holds all-mpnet-base-v2, ROWS what `training.reading.prepare` wrote. A run that must end sooner is stopped and
started again with fewer `--rows`: the decay then begins at once.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training import learning
from training.judge import model as judge
from training.reader import train as reader_train
from training.reading.net import ReadingNet

HEADS = 6.0
"""How many times the trunk's rate the heads learn at."""
SEED = 5
ROWS, DECAY = 90_000, 16_000
"""The rows that the network learns from, and over how many of the last the rate falls."""


class Both:
    """The batches of both tasks in a mixed order; the numbers of questions begin after those of the claims."""

    def __init__(self, folder: Path) -> None:
        for name in ("batch_pieces", "most_rows"):
            setattr(reader_train.Rows, name, getattr(judge.Rows, name))
        self.claims = judge.Rows(folder / "judge.npz")
        self.questions = reader_train.Rows(folder / "reader.npz")
        self.first = len(self.claims.sizes)

    def batches(self, epoch: int, seed: int) -> list[learning.Ints]:
        """Row numbers of each batch."""
        every = [*self.claims.batches(epoch, seed)]
        every += [rows + self.first for rows in self.questions.batches(epoch, seed)]
        return [every[i] for i in np.random.default_rng([seed, epoch, 2]).permutation(len(every))]

    def unseen(self, run: Path, most: int, seed: int = SEED) -> learning.Ints:
        """Numbers of at most so many claims that a run of this seed did not see in its epoch, or of any."""
        state = torch.load(run / "checkpoint.pt")["state"]
        left = self.batches(state["epoch"], seed)[state["step"] :]
        claims = [rows for rows in left if rows[0] < self.first] or [np.arange(self.first)]
        return np.concatenate(claims)[:most]


def main() -> None:
    """Train the network."""
    given = learning.options(__doc__, rows=ROWS, decay=DECAY, seed=SEED, peak=5e-5, trunk=True)
    data = Both(given.data)
    torch.manual_seed(given.seed)
    net = ReadingNet(given.trunk)

    def loss(rows: learning.Ints, device: torch.device) -> Tensor:
        with learning.reading(device):
            if rows[0] < data.first:
                batch = data.claims.batch(rows).to(device)
                claim, word = net.judge(batch.ids, batch.types, batch.mask)
            else:
                asked = {name: value.to(device) for name, value in data.questions.batch(rows - data.first).items()}
                answer, pieces = net.reader(asked["ids"], asked["types"], asked["mask"])
        if rows[0] < data.first:
            return judge.loss_of(claim, word, batch)
        return reader_train.loss_of(answer, pieces, asked)

    trunk, heads = net.groups()
    learning.learn(net, data, loss, given, ((trunk, 1.0), (heads, HEADS)))


if __name__ == "__main__":
    main()
