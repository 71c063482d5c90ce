"""Train low-rank additions to the reading network, on claims of question and earlier text and on later texts.

    python -m lab.training.superseding.train RUN --trunk FOLDER --start BASE --data ROWS [--rows 50000]

FOLDER holds all-mpnet-base-v2, BASE the net.pt that `training.reading.restore` made of the weights that ship; ROWS gets
the prepared pairs, if it has none. The
layers stay as they are: beside each linear layer two narrow ones are learned (Hu and others 2021, "LoRA: Low-rank
adaptation of large language models"); only the last layer of the judge's head goes on itself. At the end RUN/aside.json
says how well what was put aside is told apart.
"""

import json
import math
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from cragraph.models.reader import MAX_CLAIM, MAX_PIECES
from cragraph.models.weights import open_tokenizer
from lab.evals.metrics import auroc
from lab.training import learning
from lab.training.judge.model import GroundingNet
from lab.training.reading.net import FROZEN, ReadingNet
from lab.training.superseding.rows import Example, aside, examples

RANK = 16
"""Width of the narrow layers."""
ROWS, DECAY, PEAK, SEED = 50_000, 25_000, 4e-4, 5
LAST = 0.25
"""How many times the rate the last layer learns at: it has learned before."""
DRAWS = 2
"""How often all texts are drawn, each time with other passages beside them."""
SURE = 0.96
"""A label counts as .98 or .02: some of what is not marked changes the answer too."""
NOT_CONTRADICTED, CONTRADICTED = slice(0, 2), 2


class Added(nn.Module):
    """A linear layer that stays as it is, with two narrow ones beside it: `base(x) + wide(narrow(x))`."""

    def __init__(self, base: nn.Linear, rank: int = RANK) -> None:
        super().__init__()
        self.base = base
        self.narrow = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.wide = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: Tensor) -> Tensor:
        """The sum of both."""
        return F.linear(F.linear(x, self.narrow), self.wide) + self.base(x)


def added(judge: GroundingNet) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Put additions beside the linear layers, but those of the first and the last; what is learned: the additions, and
    the last layer."""
    judge.requires_grad_(False)
    holders: list[tuple[nn.Module, str]] = [(judge, "mix")]
    for layer in judge.trunk.net.encoder.layer[FROZEN:]:  # type: ignore[union-attr]
        holders += [(layer.attention.attn, name) for name in "qkvo"]
        holders += [(layer.intermediate, "dense"), (layer.output, "dense")]
    for holder, name in holders:
        setattr(holder, name, Added(getattr(holder, name)))
    narrow = [p for module in judge.modules() if isinstance(module, Added) for p in (module.narrow, module.wide)]
    last = [*judge.claim.parameters()]
    for parameter in (*narrow, *last):
        parameter.requires_grad_(True)
    return narrow, last


def changes(claim: Tensor) -> Tensor:
    """The log odds, (rows,), that the later text changes the answer, from the judge's (rows, 3) logits."""
    scores = claim.float()
    return scores[:, CONTRADICTED] - torch.logsumexp(scores[:, NOT_CONTRADICTED], dim=1)


@dataclass(frozen=True)
class Batch:
    """Padded rows: ids, types and mask are (rows, length); labels (rows,)."""

    ids: Tensor
    types: Tensor
    mask: Tensor
    labels: Tensor


class Rows(learning.Rows):
    """The prepared pairs with their labels."""

    batch_pieces: ClassVar[int] = 2304
    most_rows: ClassVar[int] = 32
    pool: ClassVar[int] = 32 * 24

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.labels = self.data["labels"]

    def batch(self, rows: learning.Ints) -> Batch:
        """Padded tensors of some rows."""
        ids, types, mask = self.pairs(rows)
        return Batch(*map(torch.from_numpy, (ids, types, mask, self.labels[rows].astype(np.float32))))


def prepare(every: list[Example], path: Path) -> None:
    """Write examples as word pieces."""
    tokenizer = open_tokenizer()
    ids, sizes = [], []
    for e in every:
        own = tokenizer.encode(e.claim, add_special_tokens=False).ids[:MAX_CLAIM]
        later = f"{e.heading}: {e.later}" if e.heading else e.later
        other = tokenizer.encode(later, add_special_tokens=False).ids[: MAX_PIECES - len(own) - 3]
        ids += [*own, *other]
        sizes.append((len(own), len(other)))
    labels = [e.changes for e in every]
    np.savez(path, ids=np.array(ids, np.uint16), sizes=np.array(sizes, np.int32), labels=np.array(labels))


def tested(judge: GroundingNet, rows: Rows) -> dict[str, Any]:
    """How well the rows put aside are told apart."""
    judge.eval()
    said, truth = [], []
    with torch.no_grad():
        for numbers in rows.batches(0, SEED):
            batch = rows.batch(numbers)
            with learning.reading(torch.device("cpu")):
                claim, _ = judge(batch.ids, batch.types, batch.mask)
            said.append(changes(claim).numpy())
            truth.append(batch.labels.numpy())
    odds, right = np.concatenate(said), np.concatenate(truth) > 0
    among = {f"{share:.1f}": float(right[odds >= np.quantile(odds[right], share)].mean()) for share in (0.2, 0.5)}
    return {"rows": len(right), "changing": int(right.sum()), "auroc": auroc(right, odds), "right above": among}


def main() -> None:
    """Prepare, train, and test on what was put aside."""
    given: Namespace = learning.options(__doc__, ROWS, DECAY, SEED, PEAK, 0)
    [folder] = given.data
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "rows.npz").exists():
        rng = Random(given.seed)
        drawn = [e for _ in range(DRAWS) for e in examples(rng)]
        prepare([e for e in drawn if not aside(e.group)], folder / "rows.npz")
        prepare([e for e in examples(rng) if aside(e.group)], folder / "aside.npz")
    torch.manual_seed(given.seed)
    net = ReadingNet(given.trunk, 0)
    net.load_state_dict(torch.load(given.start / "net.pt"))
    given.start = None  # the additions are not in it
    narrow, last = added(net.judge)
    data = Rows(folder / "rows.npz")

    def loss(batch: Batch, device: torch.device) -> Tensor:
        with learning.reading(device):
            claim, _ = net.judge(batch.ids, batch.types, batch.mask)
        wanted = batch.labels * SURE + (1 - SURE) / 2
        return F.binary_cross_entropy_with_logits(changes(claim), wanted)

    learning.learn(net.judge, data, data.batch, loss, given, ((narrow, 1.0), (last, LAST)))
    report = tested(net.judge, Rows(folder / "aside.npz"))
    (given.run / "aside.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report))


if __name__ == "__main__":
    main()
