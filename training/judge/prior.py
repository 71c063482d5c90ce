"""What a claim alone gives away: a network that never sees a passage, so that training can discount it.

    python -m training.judge.prior RUN      RUN holds train.npz; gets prior.npy, log-probabilities (rows, 3)

In most collections the wording of a claim hints at its label: refuted claims have a *not* or an *only*, supported ones
are short. A network that learns this is right on such collections for the wrong reason, and wrong elsewhere. Here the
claims are cut into two halves, each half is learnt without passages and foretells the other; `train` adds what was
foretold to the network's own logits in the loss, so that only what the passage says is left to learn (product of
experts, Clark et al. 2019; He et al. 2019).
"""

import argparse
from pathlib import Path
from zlib import crc32

import numpy as np
import torch
from numpy.typing import NDArray

from training import learning
from training.judge.model import Batch, GroundingNet, loss_of
from training.judge.prepare import UNKNOWN, minilm
from training.judge.train import Rows
from training.learning import CLS, SEP, Schedule

FOLDS = 2
LONGEST = 48
"""Word pieces of a claim that are read."""
ROWS = 64
FROZEN = 3
"""Layers of the trunk that stay as they are: half the time, and a prior need not be perfect."""
PEAK = 2e-4


def claim_batch(data: Rows, rows: NDArray[np.int64]) -> Batch:
    """Claims without passages."""
    sizes = np.minimum(data.sizes[rows, 0], LONGEST)
    ids = np.zeros((len(rows), int(sizes.max()) + 2), np.int64)
    mask = np.zeros_like(ids)
    for line, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        start = data.starts[row]
        ids[line, : size + 2] = [CLS, *data.ids[start : start + size], SEP]
        mask[line, : size + 2] = 1
    tags = np.full_like(ids, UNKNOWN)
    labels = data.labels[rows].astype(np.int64)
    return Batch(*(torch.from_numpy(a) for a in (ids, np.zeros_like(ids), mask, labels, tags)))


def folds(data: Rows) -> NDArray[np.int64]:
    """The fold of each row; the same claim is always in one."""
    ends = data.starts[:-1] + data.sizes[:, 0]
    pairs = zip(data.starts[:-1], ends, strict=True)
    return np.array([crc32(data.ids[start:end].tobytes()) % FOLDS for start, end in pairs])


def batches(data: Rows, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Rows of like length together."""
    order = rows[np.argsort(data.sizes[rows, 0], kind="stable")]
    return [order[start : start + ROWS] for start in range(0, len(order), ROWS)]


def learnt(data: Rows, rows: NDArray[np.int64], seed: int, device: torch.device) -> GroundingNet:
    """A network that has seen the claims of `rows` once."""
    torch.manual_seed(seed)
    net = GroundingNet.from_minilm(minilm()).to(device)
    for layer in net.trunk.encoder.layer[:FROZEN]:
        layer.requires_grad_(False)
    parameters = [p for p in net.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=PEAK, weight_decay=0.01, fused=True)
    every = batches(data, rows)
    schedule = Schedule(len(rows), len(rows) // 2, PEAK)
    seen = 0
    for step in np.random.default_rng(seed).permutation(len(every)):
        batch = claim_batch(data, every[step])
        for group in optimizer.param_groups:
            group["lr"] = schedule.rate(seen)
        claim, word = _read(net, batch, device)
        loss = loss_of(claim, word, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seen += len(every[step])
    return net.eval()


def _read(net: GroundingNet, batch: Batch, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    with learning.reading(device):
        claim, word = net(batch.ids.to(device), batch.types.to(device), batch.mask.to(device))
    return claim.float().cpu(), word.float().cpu()


def prior(data: Rows, most: int, seed: int) -> NDArray[np.float32]:
    """Log-probabilities of the classes of every row, by a network that saw up to `most` others and not its claim."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    place = folds(data)
    found = np.zeros((len(place), 3), np.float32)
    for fold in range(FOLDS):
        net = learnt(data, np.flatnonzero(place != fold)[:most], seed + fold, device)
        with torch.inference_mode():
            for rows in batches(data, np.flatnonzero(place == fold)):
                claim, _ = _read(net, claim_batch(data, rows), device)
                found[rows] = torch.log_softmax(claim, -1).numpy()
        print(f"half {fold + 1} of {FOLDS} done", flush=True)
    return found


def main() -> None:
    """Learn from the claims alone and write what they give away."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--rows", type=int, default=100_000, help="the most claims that are learnt from")
    parser.add_argument("--seed", type=int, default=13)
    options = parser.parse_args()
    data = Rows(options.run / "train.npz")
    found = prior(data, options.rows, options.seed)
    np.save(options.run / "prior.npy", found)
    exact = data.labels < 3
    right = (found.argmax(1) == data.labels)[exact].mean()
    print(f"{len(found)} claims; of those with an exact label {right:.3f} foretold without a passage")


if __name__ == "__main__":
    main()
