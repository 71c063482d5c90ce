"""Train the cross-encoder; may be stopped at any time and goes on from its last checkpoint.

    python -m training.judge.train RUN [--rows 86000] [--decay 22000]     RUN (or --data) holds train.npz

The learning rate warms up, stays, and falls to zero over the last `--decay` rows, so that a run that must end sooner
is stopped and started again with fewer `--rows`: the decay then begins at once.
"""

from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from training import learning
from training.judge.model import Batch, GroundingNet, loss_of
from training.judge.prepare import UNKNOWN, minilm


class Rows(learning.Rows):
    """The prepared claims with their passages, labels and tags, and what a prior foretells where there is one."""

    batch_pieces: ClassVar[int] = 4096
    most_rows: ClassVar[int] = 64
    pool: ClassVar[int] = 64 * 32

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.tags, self.labels = self.data["tags"], self.data["labels"]
        self.tag_starts = np.concatenate([[0], np.cumsum(self.sizes[:, 0])])
        prior = path.with_name("prior.npy")
        self.prior: NDArray[np.float32] | None = np.load(prior) if prior.exists() else None

    def batch(self, rows: learning.Ints) -> Batch:
        """Padded tensors of some rows."""
        ids, types, mask = self.pairs(rows)
        tags = np.full_like(ids, UNKNOWN)
        for line, row in enumerate(rows):
            own = self.sizes[row, 0]
            tags[line, 1 : own + 1] = self.tags[self.tag_starts[row] : self.tag_starts[row + 1]]
        prior = None if self.prior is None else torch.from_numpy(self.prior[rows])
        arrays = (ids, types, mask, self.labels[rows].astype(np.int64), tags)
        return Batch(*(torch.from_numpy(a) for a in arrays), prior)


def main() -> None:
    """Train the judge's network."""
    given = learning.options(__doc__, rows=86_000, decay=22_000, seed=13)
    data = Rows((given.data or given.run) / "train.npz")
    torch.manual_seed(given.seed)
    net = GroundingNet.from_minilm(minilm())
    learning.freeze(net.trunk, given.frozen)

    def loss(rows: learning.Ints, device: torch.device) -> Tensor:
        batch = data.batch(rows).to(device)
        with learning.reading(device):
            claim, word = net(batch.ids, batch.types, batch.mask)
        return loss_of(claim, word, batch)

    learning.learn(net, data, loss, given)


if __name__ == "__main__":
    main()
