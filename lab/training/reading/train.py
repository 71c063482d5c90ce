"""Train both tasks on one trunk, batches in turn; may be stopped at any time and goes on from its last checkpoint.

Questions are learned in two ways: a part of a text by itself, and (where ROWS has lists.npz) the parts of all passages
beside each other, where what answers must lie above what does not.

    python -m lab.training.reading.train RUN --trunk FOLDER --data ROWS [--rows 90000] [--decay 16000]

FOLDER holds all-mpnet-base-v2, ROWS what `training.reading.prepare` and `lists` wrote. A run that must end sooner is
stopped and started again with fewer `--rows`: the decay then begins at once.
"""

from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from lab.training import learning
from lab.training.judge import model as judge
from lab.training.reader import train as reader_train
from lab.training.reading.net import ReadingNet

HEADS = 6.0
"""How many times the trunk's rate the heads learn at."""
SEED = 5
ROWS, DECAY = 90_000, 16_000
"""The rows that the network learns from, and over how many of the last the rate falls."""


PARTS = {"answer": 1.0, "start": 0.25, "end": 0.25, "evidence": 0.5}
"""What the ranking of a list's parts by each of the reader's figures counts, beside the loss of each part alone."""
OPEN = -1e4
"""The logit of what is not there."""


class Lists(reader_train.Rows):
    """Questions with the parts of all passages; a batch holds whole lists."""

    batch_pieces: ClassVar[int] = 4608

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.lists = self.data["lists"]
        self.begins = np.flatnonzero(np.diff(self.lists, prepend=-1))

    def batches(self, epoch: int, seed: int) -> list[learning.Ints]:
        """Row numbers of each batch: lists in a mixed order, as many as fit."""
        ends = [*self.begins[1:], len(self.lists)]
        rng = np.random.default_rng([seed, epoch, 3])
        every: list[learning.Ints] = []
        batch: list[learning.Ints] = []
        for number in rng.permutation(len(self.begins)):
            batch.append(np.arange(self.begins[number], ends[number]))
            rows = np.concatenate(batch)
            if (int(self.sizes[rows].sum(1).max()) + 3) * len(rows) > self.batch_pieces:
                every.append(rows)
                batch = []
        return every + ([np.concatenate(batch)] if batch else [])

    def batch(self, rows: learning.Ints) -> dict[str, Tensor]:
        """Padded tensors of some rows, with the number of each row's list; both answers count alike."""
        batch = super().batch(rows)
        share = float(batch["answer"].mean())
        weight = torch.where(batch["answer"] > 0, 0.5 / max(share, 1e-6), 0.5 / max(1 - share, 1e-6))
        return {**batch, "lists": torch.from_numpy(self.lists[rows].astype(np.int64)), "weight": weight}


def ranking_loss(answer: Tensor, pieces: Tensor, batch: dict[str, Tensor]) -> Tensor:
    """How far what answers is from having all the probability of its list: as a part, a start, an end, and evidence.

    One softmax over the pieces of all texts, as in Clark and Gardner 2018, "Simple and effective multi-paragraph
    reading comprehension". Among the parts stands a logit of 0 for "none of these": where no part answers, none may lie
    above it.
    """
    yes = batch["answer"] > 0
    places = batch["places"].clone()
    places[:, 0] = 0
    inside = OPEN * (1 - places)
    rows = torch.arange(len(yes), device=yes.device)
    right = {"answer": yes[:, None], "evidence": (batch["tags"] == 1) & yes[:, None]}
    figures = {"answer": answer.float()[:, None], "evidence": pieces[..., 2].float() + inside}
    for place, name in enumerate(("start", "end")):
        marked = torch.zeros_like(places, dtype=torch.bool)
        marked[rows, batch[name].clamp(min=0)] = (batch[name] > 0) & yes
        right[name], figures[name] = marked, pieces[..., place].float() + inside
    lists = batch["lists"].unique()
    none = answer.new_zeros(1, dtype=torch.float32)
    loss = none.sum()
    for number in lists:
        own = batch["lists"] == number
        for name, share in PARTS.items():
            every, held = figures[name][own].flatten(), figures[name][own][right[name][own]]
            if name == "answer":
                every, held = torch.cat([every, none]), held if len(held) else none
            if len(held):
                loss = loss + share * (torch.logsumexp(every, 0) - torch.logsumexp(held, 0))
    return loss / max(1, len(lists))


class Both:
    """The batches of both tasks in a mixed order; the numbers of questions begin after those of the claims, and those
    of lists, where there are any, after those."""

    def __init__(self, folder: Path) -> None:
        for name in ("batch_pieces", "most_rows"):
            setattr(reader_train.Rows, name, getattr(judge.Rows, name))
        self.claims = judge.Rows(folder / "judge.npz")
        self.questions = reader_train.Rows(folder / "reader.npz")
        self.first = len(self.claims.sizes)
        self.second = self.first + len(self.questions.sizes)
        self.lists = Lists(folder / "lists.npz") if (folder / "lists.npz").exists() else None

    def batches(self, epoch: int, seed: int) -> list[learning.Ints]:
        """Row numbers of each batch."""
        every = [*self.claims.batches(epoch, seed)]
        every += [rows + self.first for rows in self.questions.batches(epoch, seed)]
        if self.lists is not None:
            every += [rows + self.second for rows in self.lists.batches(epoch, seed)]
        return [every[i] for i in np.random.default_rng([seed, epoch, 2]).permutation(len(every))]

    def questions_of(self, rows: learning.Ints) -> dict[str, Tensor]:
        """The batch of some rows that are not claims; with `lists` where they are of lists."""
        if self.lists is not None and rows[0] >= self.second:
            return self.lists.batch(rows - self.second)
        return self.questions.batch(rows - self.first)

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
                asked = {name: value.to(device) for name, value in data.questions_of(rows).items()}
                answer, pieces = net.reader(asked["ids"], asked["types"], asked["mask"])
        if rows[0] < data.first:
            return judge.loss_of(claim, word, batch)
        alone = reader_train.loss_of(answer, pieces, asked)
        return alone + ranking_loss(answer, pieces, asked) if "lists" in asked else alone

    trunk, heads = net.groups()
    learning.learn(net, data, loss, given, ((trunk, 1.0), (heads, HEADS)))


if __name__ == "__main__":
    main()
