"""A training run that was stopped goes on as if it had not been."""

from argparse import Namespace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is for training alone and not installed here")

from lab.training import learning  # noqa: E402


class Rows(learning.Rows):
    batch_pieces: ClassVar[int] = 200
    most_rows: ClassVar[int] = 8
    pool: ClassVar[int] = 64


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 20, (90, 2)).astype(np.int32)
    np.savez(tmp_path / "train.npz", ids=rng.integers(200, 900, sizes.sum()).astype(np.uint16), sizes=sizes)
    return Rows(tmp_path / "train.npz")


def trained(rows: Rows, run: Path, *counts: int) -> torch.Tensor:
    """The weight of a small network that learnt to tell long pairs, stopped after each count but the last."""
    for count in counts:
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Linear(1, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))

        def loss(batch: learning.Ints, device: torch.device, net: torch.nn.Module = net) -> torch.Tensor:
            sizes = torch.from_numpy(rows.sizes[batch].sum(1)).float()
            return torch.nn.functional.binary_cross_entropy_with_logits(
                net(sizes[:, None] / 40)[:, 0], sizes.gt(20).float()
            )

        given = Namespace(run=run, start=None, rows=count, decay=1, peak=0.01, seed=3, save_every=1e9)
        learning.learn(net, rows, loss, given)
    return torch.load(run / "net.pt")["0.weight"]


def test_a_stopped_run_goes_on_where_it_was(rows: Rows, tmp_path: Path) -> None:
    whole = trained(rows, tmp_path / "whole", 200)
    assert torch.equal(whole, trained(rows, tmp_path / "stopped", 40, 130, 200))
    assert not torch.equal(whole, trained(rows, tmp_path / "short", 130))


def test_an_epoch_holds_every_row_once(rows: Rows) -> None:
    batches = rows.batches(0, 3)
    assert sorted(np.concatenate(batches)) == list(range(90))
    assert max(len(b) for b in batches) <= Rows.most_rows
    assert not np.array_equal(batches[0], rows.batches(1, 3)[0])


def test_a_pair_stands_between_its_marks(rows: Rows) -> None:
    ids, second = rows.pair(5)
    own, other = rows.sizes[5]
    assert ids[0] == learning.CLS
    assert ids[own + 1] == ids[-1] == learning.SEP
    assert second.tolist() == [0] * (own + 2) + [1] * (other + 1)
