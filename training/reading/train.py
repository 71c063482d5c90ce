"""Train both tasks on one trunk, batches in turn; may be stopped at any time and goes on from its last checkpoint.

    python -m training.reading.train RUN --trunk FOLDER --data ROWS [--rows 100000] [--decay 30000]

FOLDER holds all-mpnet-base-v2, ROWS what `training.reading.prepare` wrote. A run that must end sooner is stopped and
started again with fewer `--rows`: the decay then begins at once.
"""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from training import learning
from training.judge import model as judge
from training.judge import train as judge_train
from training.reader import train as reader_train
from training.reading.net import ReadingNet

HEADS = 6.0
"""How many times the trunk's rate the heads learn at."""
PIECES = 2304
"""Padded pieces in a batch."""


class Both:
    """The batches of both tasks in a mixed order; the numbers of questions begin after those of the claims."""

    def __init__(self, folder: Path) -> None:
        judge_train.Rows.batch_pieces = reader_train.Rows.batch_pieces = PIECES
        judge_train.Rows.most_rows = reader_train.Rows.most_rows = 40
        self.claims = judge_train.Rows(folder / "judge.npz")
        self.questions = reader_train.Rows(folder / "reader.npz")
        self.first = len(self.claims.sizes)

    def batches(self, epoch: int, seed: int) -> list[learning.Ints]:
        """Row numbers of each batch."""
        every = [*self.claims.batches(epoch, seed)]
        every += [rows + self.first for rows in self.questions.batches(epoch, seed)]
        return [every[i] for i in np.random.default_rng([seed, epoch, 2]).permutation(len(every))]


def main() -> None:
    """Train the network."""
    given = learning.options(__doc__, rows=100_000, decay=30_000, seed=5, peak=5e-5, trunk=True)
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
