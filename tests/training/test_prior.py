"""What a claim alone gives away is discounted in the loss, so that the passage has to say the rest."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is for training alone and not installed here")
pytest.importorskip("transformers", reason="transformers is for training alone and not installed here")

from training.judge.model import Batch, loss_of  # noqa: E402
from training.judge.prior import LONGEST, batches, claim_batch, folds  # noqa: E402
from training.judge.train import Rows  # noqa: E402
from training.learning import CLS, SEP, Schedule  # noqa: E402


@pytest.fixture
def rows(tmp_path: Path) -> Rows:
    """Forty claims of 3 to 60 pieces, each before two passages."""
    rng = np.random.default_rng(0)
    claims = [rng.integers(1000, 2000, size) for size in rng.integers(3, 60, 40)]
    ids, sizes = [], []
    for claim in claims * 2:
        passage = rng.integers(1000, 2000, 20)
        ids += [claim, passage]
        sizes.append((len(claim), len(passage)))
    np.savez(
        tmp_path / "train.npz",
        ids=np.concatenate(ids).astype(np.uint16),
        tags=np.zeros(sum(own for own, _ in sizes), np.int8),
        sizes=np.array(sizes, np.int32),
        labels=np.arange(80) % 4,
    )
    return Rows(tmp_path / "train.npz")


def batch_of(labels: list[int], prior: object) -> Batch:
    shape = (len(labels), 4)
    zeros = torch.zeros(shape, dtype=torch.long)
    return Batch(zeros, zeros, zeros, torch.tensor(labels), torch.full(shape, -100), prior)


def test_the_same_claim_is_always_in_the_same_half(rows: Rows) -> None:
    place = folds(rows)
    assert (place[:40] == place[40:]).all()
    assert set(place.tolist()) == {0, 1}


def test_claims_are_read_without_their_passages(rows: Rows) -> None:
    picked = np.array([0, 1])
    batch = claim_batch(rows, picked)
    for line, row in enumerate(picked):
        size = min(int(rows.sizes[row, 0]), LONGEST)
        start = rows.starts[row]
        expected = [CLS, *rows.ids[start : start + size].tolist(), SEP]
        assert batch.ids[line, : size + 2].tolist() == expected
        assert int(batch.mask[line].sum()) == size + 2
    assert not batch.types.any()


def test_every_row_is_in_one_batch(rows: Rows) -> None:
    assert sorted(np.concatenate(batches(rows, np.arange(80))).tolist()) == list(range(80))


@pytest.mark.parametrize("label", [0, 1, 2, 3])
def test_what_the_claim_gave_away_is_not_charged_again(label: int) -> None:
    undecided = torch.zeros(1, 3)
    sure = torch.log_softmax(torch.tensor([[4.0, -1.0, -1.0]] if label == 0 else [[-3.0, 1.0, 1.0]]), -1)
    if label in (1, 2):
        sure = torch.log_softmax(torch.nn.functional.one_hot(torch.tensor([label]), 3) * 6.0, -1)
    plain = loss_of(undecided, torch.zeros(1, 4), batch_of([label], None))
    known = loss_of(undecided, torch.zeros(1, 4), batch_of([label], sure))
    wrong = loss_of(undecided, torch.zeros(1, 4), batch_of([(label + 1) % 3], sure))
    assert float(known) < float(plain) < float(wrong)


def test_a_prior_that_says_nothing_changes_nothing() -> None:
    claim = torch.tensor([[0.3, -0.2, 1.0], [0.0, 2.0, 0.1]])
    even = torch.log_softmax(torch.zeros(2, 3), -1)
    plain = loss_of(claim, torch.zeros(2, 4), batch_of([0, 3], None))
    assert float(loss_of(claim, torch.zeros(2, 4), batch_of([0, 3], even))) == pytest.approx(float(plain), rel=1e-5)


def test_the_rows_of_a_run_carry_their_prior(rows: Rows, tmp_path: Path) -> None:
    assert rows.batch(np.array([0, 1])).prior is None
    prior = np.log(np.random.default_rng(1).dirichlet([1, 1, 1], 80)).astype(np.float32)
    np.save(tmp_path / "prior.npy", prior)
    found = Rows(tmp_path / "train.npz").batch(np.array([5, 2])).prior
    assert found is not None
    np.testing.assert_array_equal(found.numpy(), prior[[5, 2]])


def test_the_rate_warms_up_stays_and_falls_to_nothing() -> None:
    schedule = Schedule(rows=20_000, decay=5_000, peak=1e-4)
    rates = [schedule.rate(seen) for seen in (0, 1_500, 3_000, 10_000, 15_000, 17_500, 20_000)]
    assert rates == pytest.approx([0.0, 0.5e-4, 1e-4, 1e-4, 1e-4, 0.5e-4, 0.0], abs=1e-7)
