"""Train low-rank additions to the reading network, which read a question and a quotation with another text.

    python -m lab.training.quotations.train RUN --trunk FOLDER --start BASE --data ROWS [--rows 508000]
        [--additions RUN --others 0.02 --frozen 4]

FOLDER holds all-mpnet-base-v2, BASE the net.pt that `training.reading.restore` made of the weights that ship; ROWS gets
the prepared pairs, if it has none: of the folders that were written to mislead all, of the others a share.
`--additions` is a run from whose additions this one goes on; those of the first `--frozen` layers stay as they are. Two
tasks are learned at once: that a quotation answers its question, from what stands around it, and that a later text
changes the answer. The layers stay as they are: beside each linear layer two narrow ones are learned (Hu and others
2021, "LoRA: Low-rank adaptation of large language models"); only the last layer of the judge's head goes on itself. At
the end RUN/aside.json says how well what was put aside is told apart.
"""

import json
import math
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from cragraph.models.reader import MAX_CLAIM, MAX_PIECES
from cragraph.models.weights import open_tokenizer
from lab.evals.metrics import auroc
from lab.training import learning
from lab.training.judge.model import GroundingNet
from lab.training.quotations.answering import answering, misleading
from lab.training.quotations.rows import Example, aside, examples
from lab.training.reading.net import ReadingNet

RANK = 16
"""Width of the narrow layers."""
ROWS, DECAY, PEAK, SEED = 508_000, 280_000, 1e-3, 6
LAST = 0.25
"""How many times the rate the last layer learns at: it has learned before."""
DRAWS = 4
"""How often all texts on what changes are drawn, each time with other passages beside them;"""
MISLEADING = 2
"""and how often the quotations of the folders that were written to mislead."""
SURE = 0.96
"""A label counts as .98 or .02: some of what is not marked is so too."""
ANSWERS, CHANGES = 0, 2
"""The classes of the judge's head that the two tasks learn, each against the others."""


PIECES, MOST_ROWS, POOL = 2304, 32, 32 * 24
"""Pieces and rows of a batch, and rows drawn together: for two cores; `--batch` multiplies them."""


class Added(nn.Module):
    """A linear layer that stays as it is, with two narrow ones beside it: `base(x) + wide(narrow(x))`."""

    def __init__(self, base: nn.Linear, rank: int = RANK) -> None:
        super().__init__()
        self.base = base
        self.narrow = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.wide = nn.Parameter(torch.zeros(base.out_features, rank))
        self.settled = False

    def settle(self) -> None:
        """Take the additions into the layer that they stand beside: they learn no more."""
        self.base.weight.add_(self.wide @ self.narrow)
        self.settled = True

    def forward(self, x: Tensor) -> Tensor:
        """The sum of both."""
        return self.base(x) if self.settled else F.linear(F.linear(x, self.narrow), self.wide) + self.base(x)


def added(judge: GroundingNet, frozen: int) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Put additions beside the linear layers, but the last; what is learned: the additions of all but the first
    `frozen` layers, and the last layer."""
    judge.requires_grad_(False)
    holders: list[tuple[nn.Module, str, bool]] = [(judge, "mix", True)]
    for number, layer in enumerate(judge.trunk.net.encoder.layer):  # type: ignore[arg-type]
        linear = [(layer.attention.attn, name) for name in "qkvo"]
        linear += [(layer.intermediate, "dense"), (layer.output, "dense")]
        holders += [(holder, name, number >= frozen) for holder, name in linear]
    narrow = []
    for holder, name, learns in holders:
        module = Added(getattr(holder, name)).requires_grad_(False)
        setattr(holder, name, module)
        narrow += [module.narrow, module.wide] if learns else []
    last = [*judge.claim.parameters()]
    for parameter in (*narrow, *last):
        parameter.requires_grad_(True)
    return narrow, last


def additions_of(run: Path) -> dict[str, Tensor]:
    """What a run learned; in layers that it left as they were the additions are settled, and none are taken twice."""
    state: dict[str, Tensor] = torch.load(run / "net.pt")
    return {name: value for name, value in state.items() if name.endswith((".narrow", ".wide")) or name[:6] == "claim."}


@torch.no_grad()
def make_ready(judge: GroundingNet) -> None:
    """Settle the additions that do not learn, and hold the layers beside the others in the precision they are read in:
    cast once, and not for each batch."""
    for module in judge.modules():
        if isinstance(module, Added):
            if not module.narrow.requires_grad:
                module.settle()
            if learning.halves(module.narrow.device):
                module.base.to(torch.bfloat16)


def log_odds(claim: Tensor, answering: Tensor) -> Tensor:
    """The log odds, (rows,), from the judge's (rows, 3) logits: that the quotation answers, where `answering`, else
    that the later text changes the answer."""
    scores = claim.float()
    answers = scores[:, ANSWERS] - torch.logsumexp(scores[:, ANSWERS + 1 :], dim=1)
    changes = scores[:, CHANGES] - torch.logsumexp(scores[:, :CHANGES], dim=1)
    return torch.where(answering, answers, changes)


@dataclass(frozen=True)
class Batch(learning.Batch):
    """Padded rows, and which of them ask whether a quotation answers, (rows,)."""

    answering: Tensor


class Rows(learning.Rows):
    """The prepared pairs with their labels."""

    batch_pieces = PIECES
    most_rows = MOST_ROWS
    pool = POOL

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.labels, self.answering = self.data["labels"], self.data["answering"]

    def batch(self, rows: learning.Ints) -> Batch:
        """Padded tensors of some rows."""
        ids, types, mask = self.pairs(rows)
        labels = self.labels[rows].astype(np.float32)
        return Batch(*map(torch.from_numpy, (ids, types, mask, labels, self.answering[rows])))


def prepare(every: list[Example], path: Path) -> None:
    """Write examples as word pieces."""
    tokenizer = open_tokenizer()
    ids, sizes = [], []
    for e in every:
        own = tokenizer.encode(e.claim, add_special_tokens=False).ids[:MAX_CLAIM]
        text = f"{e.heading}: {e.text}" if e.heading else e.text
        other = tokenizer.encode(text, add_special_tokens=False).ids[: MAX_PIECES - len(own) - 3]
        ids += [*own, *other]
        sizes.append((len(own), len(other)))
    labels, answering = np.array([e.is_so for e in every]), np.array([e.task == "answers" for e in every])
    np.savez(path, ids=np.array(ids, np.uint16), sizes=np.array(sizes, np.int32), labels=labels, answering=answering)


def tested(judge: GroundingNet, rows: Rows) -> dict[str, Any]:
    """How well the rows put aside are told apart, by task."""
    judge.eval()
    device = next(judge.parameters()).device
    said, truth, tasks = [], [], []
    with torch.no_grad():
        for numbers in rows.batches(0, SEED):
            batch = rows.batch(numbers).to(device)
            with learning.reading(device):
                claim, _ = judge(batch.ids, batch.types, batch.mask)
            said.append(log_odds(claim, batch.answering).cpu().numpy())
            truth.append(batch.labels.cpu().numpy() > 0)
            tasks.append(batch.answering.cpu().numpy())
    odds, right, task = map(np.concatenate, (said, truth, tasks))
    return {
        name: {"rows": int(own.sum()), "so": int(right[own].sum()), "auroc": auroc(right[own], odds[own])}
        for name, own in (("answers", task), ("changes", ~task))
    }


def prepared(folder: Path, seed: int, share: float, again: int) -> None:
    """Draw the rows, of the other folders and texts a share, and write those to learn from and those put aside."""
    rng = Random(seed)
    answers, own = [*answering(rng)], [*misleading(rng)]
    others = [*(e for _ in range(DRAWS) for e in examples(rng)), *answers]
    drawn = rng.sample(others, round(share * len(others)))
    drawn += [*own, *(e for _ in range(again - 1) for e in own if e.task == "answers")]
    prepare([e for e in drawn if not aside(e.group)], folder / "rows.npz")
    once = [*examples(rng), *answers]
    prepare([e for e in once if aside(e.group)], folder / "aside.npz")


def going_on(parser: ArgumentParser) -> None:
    """The options of a run that goes on from another."""
    parser.add_argument("--additions", type=Path, help="a run whose additions to go on from")
    parser.add_argument("--others", type=float, default=1.0, help="share of the rows of all other folders and texts")


def main() -> None:
    """Prepare, train, and test on what was put aside."""
    given: Namespace = learning.options(__doc__, ROWS, DECAY, SEED, PEAK, 0, going_on)
    [folder] = given.data
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "rows.npz").exists():
        prepared(folder, given.seed, given.others, 1 if given.additions else MISLEADING)
    torch.manual_seed(given.seed)
    net = ReadingNet(given.trunk, 0)
    net.load_state_dict(torch.load(given.start / "net.pt"))
    given.start = None  # the additions are not in it
    narrow, last = added(net.judge, given.frozen)
    if given.additions is not None:
        net.judge.load_state_dict(additions_of(given.additions), strict=False)
    make_ready(net.judge)
    data = Rows(folder / "rows.npz")
    data.batch_pieces, data.most_rows, data.pool = PIECES * given.batch, MOST_ROWS * given.batch, POOL * given.batch

    def loss(batch: Batch, device: torch.device) -> Tensor:
        batch = batch.to(device)
        with learning.reading(device):
            claim, _ = net.judge(batch.ids, batch.types, batch.mask)
        wanted = batch.labels * SURE + (1 - SURE) / 2
        return F.binary_cross_entropy_with_logits(log_odds(claim, batch.answering), wanted)

    learning.learn(net.judge, data, data.batch, loss, given, ((narrow, 1.0), (last, LAST)))
    report = tested(net.judge, Rows(folder / "aside.npz"))
    (given.run / "aside.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(report))


if __name__ == "__main__":
    main()
