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
from lab.training.reading.net import FROZEN, ReadingNet

HEADS = 6.0
"""How many times the trunk's rate the heads learn at."""
SEED = 5
ROWS, DECAY, PEAK = 90_000, 16_000, 5e-5
"""The rows that the network learns from, over how many of the last the rate falls, and its highest value."""


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
    at = torch.arange(places.shape[1], device=places.device)
    right = {"answer": yes[:, None], "evidence": (batch["tags"] == 1) & yes[:, None]}
    figures = {"answer": answer.float()[:, None], "evidence": pieces[..., 2].float() + inside}
    for place, name in enumerate(("start", "end")):
        right[name] = (at == batch[name][:, None]) & (batch[name] > 0)[:, None] & yes[:, None]
        figures[name] = pieces[..., place].float() + inside
    numbers, own = batch["lists"].unique(return_inverse=True)
    loss = answer.new_zeros(len(numbers), dtype=torch.float32)
    for name, share in PARTS.items():
        every = _summed(figures[name], own, len(numbers))
        held = _summed(figures[name].masked_fill(~right[name], float("-inf")), own, len(numbers))
        if name == "answer":
            every, held = torch.logaddexp(every, torch.zeros_like(every)), held.masked_fill(held == float("-inf"), 0.0)
        loss = loss + share * torch.where(held == float("-inf"), 0.0, every - held.clamp(min=2 * OPEN))
    return loss.sum() / max(1, len(numbers))


def _summed(figures: Tensor, own: Tensor, lists: int) -> Tensor:
    """(lists,): the logarithm of the summed exponentials of each list's figures; `own` (rows,) is each row's list."""
    rows = torch.logsumexp(figures, 1)
    most = torch.full((lists,), float("-inf"), device=rows.device).scatter_reduce(0, own, rows.detach(), "amax")
    known = most.clamp(min=2 * OPEN)
    summed = torch.zeros(lists, device=rows.device).index_add(0, own, torch.exp(rows - known[own]))
    return torch.where(most == float("-inf"), most, known + torch.log(summed.clamp(min=1e-30)))


class Both:
    """The batches of both tasks in a mixed order: claims, questions and, where a folder has them, lists.

    Rows are numbered through, the claims of all folders first, then the questions, then the lists. Batches hold
    `batch` times as many pieces as for two cores.
    """

    def __init__(self, *folders: Path, batch: int = 1) -> None:
        for name in ("batch_pieces", "most_rows"):
            setattr(reader_train.Rows, name, getattr(judge.Rows, name))
        kinds = ((judge.Rows, "judge.npz"), (reader_train.Rows, "reader.npz"), (Lists, "lists.npz"))
        self.parts: list[learning.Rows] = []
        for kind, name in kinds:
            self.parts += [kind(folder / name) for folder in folders if (folder / name).exists()]
        for part in self.parts:
            part.batch_pieces, part.most_rows = part.batch_pieces * batch, part.most_rows * batch  # type: ignore[misc]
        self.claims = next(part for part in self.parts if isinstance(part, judge.Rows))
        self.questions = next(part for part in self.parts if isinstance(part, reader_train.Rows))
        self.firsts = np.cumsum([0, *(len(part.sizes) for part in self.parts)])

    def batches(self, epoch: int, seed: int) -> list[learning.Ints]:
        """Row numbers of each batch."""
        every = [
            rows + first
            for part, first in zip(self.parts, self.firsts[:-1], strict=True)
            for rows in part.batches(epoch, seed)
        ]
        return [every[i] for i in np.random.default_rng([seed, epoch, 2]).permutation(len(every))]

    def batch_of(self, rows: learning.Ints) -> "judge.Batch | dict[str, Tensor]":
        """The batch of some rows of one part; with `lists` where they are of lists."""
        place = int(np.searchsorted(self.firsts, rows[0], side="right")) - 1
        part = self.parts[place]
        assert isinstance(part, judge.Rows | reader_train.Rows)
        return part.batch(rows - self.firsts[place])

    def unseen(self, run: Path, most: int, seed: int = SEED) -> learning.Ints:
        """Numbers of at most so many claims that a run of this seed did not see in its epoch, or of any."""
        state = torch.load(run / "checkpoint.pt")["state"]
        left = self.batches(state["epoch"], seed)[state["step"] :]
        first = len(self.claims.sizes)
        claims = [rows for rows in left if rows[0] < first] or [np.arange(first)]
        return np.concatenate(claims)[:most]


def main() -> None:
    """Train the network."""
    given = learning.options(__doc__, ROWS, DECAY, SEED, PEAK, FROZEN)
    data = Both(*given.data, batch=given.batch)
    torch.manual_seed(given.seed)
    net = ReadingNet(given.trunk, given.frozen)

    def loss(batch: "judge.Batch | dict[str, Tensor]", device: torch.device) -> Tensor:
        if isinstance(batch, judge.Batch):
            own = batch.to(device)
            with learning.reading(device):
                claim, word = net.judge(own.ids, own.types, own.mask)
            return judge.loss_of(claim, word, own)
        asked = {name: value.to(device) for name, value in batch.items()}
        with learning.reading(device):
            answer, pieces = net.reader(asked["ids"], asked["types"], asked["mask"])
        alone = reader_train.loss_of(answer, pieces, asked)
        return alone + ranking_loss(answer, pieces, asked) if "lists" in asked else alone

    trunk, heads = net.groups()
    learning.learn(net, data, data.batch_of, loss, given, ((trunk, 1.0), (heads, HEADS)))


if __name__ == "__main__":
    main()
