"""Train the cross-encoder; may be stopped at any time and goes on from its last checkpoint.

    python -m training.judge.train RUN [--rows 86000] [--decay 22000]     RUN (or --data) holds train.npz

The learning rate warms up, stays, and falls to zero over the last `--decay` rows, so that a run that must end sooner
is stopped and started again with fewer `--rows`: the decay then begins at once.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from training.judge.model import Batch, GroundingNet, loss_of
from training.judge.prepare import UNKNOWN, minilm

CLS, SEP = 101, 102
BATCH_PIECES = 4096
MOST_ROWS = 64
POOL = 64
"""Batches drawn together, sorted by length: little padding, still a mixed order."""
PEAK, WARMUP = 2e-4, 3000
"""The highest learning rate of a run from MiniLM's own weights, and the rows over which it is reached."""


class Rows:
    """The prepared examples, and the batches of an epoch in a fixed order for a seed."""

    def __init__(self, path: Path) -> None:
        data = np.load(path)
        self.ids, self.tags, self.labels = data["ids"], data["tags"], data["labels"]
        self.sizes: NDArray[np.int32] = data["sizes"]
        self.starts = np.concatenate([[0], np.cumsum(self.sizes.sum(1))])
        self.tag_starts = np.concatenate([[0], np.cumsum(self.sizes[:, 0])])
        prior = path.with_name("prior.npy")
        self.prior: NDArray[np.float32] | None = np.load(prior) if prior.exists() else None

    def batches(self, epoch: int, seed: int) -> list[NDArray[np.int64]]:
        """Row numbers of each batch: about `BATCH_PIECES` padded pieces, rows of like length."""
        rng = np.random.default_rng([seed, epoch])
        order = rng.permutation(len(self.labels))
        lengths = self.sizes.sum(1) + 3
        found: list[NDArray[np.int64]] = []
        step = POOL * 32
        for start in range(0, len(order), step):
            pool = order[start : start + step]
            pool = pool[np.argsort(lengths[pool], kind="stable")]
            here = []
            while len(pool):
                rows = int(np.searchsorted(np.arange(1, len(pool) + 1) * lengths[pool], BATCH_PIECES, "right"))
                rows = max(1, min(rows, MOST_ROWS))
                here.append(pool[:rows])
                pool = pool[rows:]
            found.extend(here[i] for i in rng.permutation(len(here)))
        return found

    def batch(self, rows: NDArray[np.int64]) -> Batch:
        """Padded tensors of some rows."""
        length = int(self.sizes[rows].sum(1).max()) + 3
        ids = np.zeros((len(rows), length), np.int64)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        tags = np.full_like(ids, UNKNOWN)
        for line, row in enumerate(rows):
            own = self.sizes[row, 0]
            text = self.ids[self.starts[row] : self.starts[row + 1]]
            full = np.concatenate([[CLS], text[:own], [SEP], text[own:], [SEP]])
            ids[line, : len(full)] = full
            types[line, own + 2 : len(full)] = 1
            mask[line, : len(full)] = 1
            tags[line, 1 : own + 1] = self.tags[self.tag_starts[row] : self.tag_starts[row + 1]]
        prior = None if self.prior is None else torch.from_numpy(self.prior[rows])
        arrays = (ids, types, mask, self.labels[rows].astype(np.int64), tags)
        return Batch(*(torch.from_numpy(a) for a in arrays), prior)


@dataclass(frozen=True)
class Schedule:
    """How many rows are seen, over how many of the last the learning rate falls, and its highest value."""

    rows: int
    decay: int
    peak: float = PEAK

    def rate(self, seen: int) -> float:
        """The learning rate after `seen` rows: warm-up, plateau, linear fall."""
        return self.peak * max(0.0, min(1.0, (seen + 1) / WARMUP, (self.rows - seen) / self.decay))


def train(run: Path, data: Rows, start: Path | None, schedule: Schedule, seed: int, save_every: float) -> None:
    """Train from MiniLM, or from the net of another run, and write the net at the end.

    A checkpoint is written every `save_every` seconds.
    """
    torch.manual_seed(seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    net = GroundingNet.from_minilm(minilm()).to(device)
    if start is not None:
        net.load_state_dict(torch.load(start / "net.pt", map_location=device))
    learned = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=schedule.peak, weight_decay=0.01, betas=(0.9, 0.98), fused=True)
    state = {"epoch": 0, "step": 0, "seen": 0}
    saved = run / "checkpoint.pt"
    if saved.exists():
        loaded = torch.load(saved, map_location=device)
        net.load_state_dict(loaded["net"])
        optimizer.load_state_dict(loaded["optimizer"])
        state = loaded["state"]

    def save() -> None:
        temporary = saved.with_suffix(".tmp")
        torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "state": state}, temporary)
        temporary.replace(saved)

    net.train()
    last, clock, total, count = time.monotonic(), time.monotonic(), 0.0, 0
    begun = state["seen"]
    for batch_rows in _from(data, state, seed):
        if state["seen"] >= schedule.rows:
            break
        torch.manual_seed(seed + state["seen"])
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate(state["seen"])
        batch = data.batch(batch_rows).to(device)
        with torch.autocast(device.type, torch.bfloat16):
            claim, word = net(batch.ids, batch.types, batch.mask)
        loss = loss_of(claim, word, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learned, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        state["seen"] += len(batch_rows)
        total, count = total + float(loss.detach()) * len(batch_rows), count + len(batch_rows)
        if count > 2000:
            speed = (state["seen"] - begun) / (time.monotonic() - clock)
            print(f"seen {state['seen']} loss {total / count:.4f} rows/s {speed:.1f}", flush=True)
            total, count = 0.0, 0
        if time.monotonic() - last > save_every:
            save()
            last = time.monotonic()
    save()
    torch.save(net.state_dict(), run / "net.pt")


def _from(data: Rows, state: dict[str, int], seed: int) -> Iterator[NDArray[np.int64]]:
    """Batches from where the state says; the state moves on with each."""
    while True:
        batches = data.batches(state["epoch"], seed)
        while state["step"] < len(batches):
            state["step"] += 1
            yield batches[state["step"] - 1]
        state["epoch"], state["step"] = state["epoch"] + 1, 0


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--data", type=Path, help="another run whose rows to train on, in the order of --seed")
    parser.add_argument("--start", type=Path, help="a run whose net.pt to go on from; MiniLM without it")
    parser.add_argument("--rows", type=int, default=86_000)
    parser.add_argument("--decay", type=int, default=22_000)
    parser.add_argument("--peak", type=float, default=PEAK, help="the highest learning rate")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--save-every", type=float, default=120.0, help="seconds between checkpoints")
    options = parser.parse_args()
    schedule = Schedule(options.rows, options.decay, options.peak)
    options.run.mkdir(parents=True, exist_ok=True)
    data = Rows((options.data or options.run) / "train.npz")
    train(options.run, data, options.start, schedule, options.seed, options.save_every)


if __name__ == "__main__":
    main()
