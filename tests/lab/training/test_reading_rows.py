"""What the network behind judge and reader is trained on, and what of it a run did not get to see."""

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is for training alone and not installed here")
pytest.importorskip("transformers", reason="transformers is for training alone and not installed here")

from lab.training.reading.train import SEED, Both  # noqa: E402

CLAIMS, QUESTIONS = 300, 200


@pytest.fixture
def rows(tmp_path: Path) -> Both:
    rng = np.random.default_rng(0)
    for name, count in (("judge", CLAIMS), ("reader", QUESTIONS)):
        sizes = rng.integers(5, 40, (count, 2)).astype(np.int32)
        ids = rng.integers(200, 900, sizes.sum()).astype(np.uint16)
        kinds = {"judge": {"tags": np.zeros(sizes[:, 0].sum(), np.int8), "labels": np.zeros(count, np.int8)}}
        kinds["reader"] = {
            "tags": np.zeros(sizes[:, 1].sum(), np.int8),
            "answer": np.zeros(count, np.int8),
            "span": np.full((count, 2), -1, np.int32),
        }
        np.savez(tmp_path / f"{name}.npz", ids=ids, sizes=sizes, **kinds[name])
    return Both(tmp_path)


def test_an_epoch_holds_every_claim_and_every_question_once_and_no_batch_both(rows: Both) -> None:
    batches = rows.batches(0, SEED)
    assert sorted(np.concatenate(batches).tolist()) == list(range(CLAIMS + QUESTIONS))
    assert all((batch < CLAIMS).all() or (batch >= CLAIMS).all() for batch in batches)


def test_claims_that_a_stopped_run_did_not_see_are_those_of_the_batches_left(rows: Both, tmp_path: Path) -> None:
    torch.save({"state": {"epoch": 0, "step": 5, "seen": 0}}, tmp_path / "checkpoint.pt")
    seen = set(np.concatenate(rows.batches(0, SEED)[:5]).tolist())
    left = rows.unseen(tmp_path, 10_000).tolist()
    assert sorted(left) == sorted(set(range(CLAIMS)) - seen)
    assert len(rows.unseen(tmp_path, 7)) == 7


def test_where_a_run_saw_all_of_its_epoch_any_claim_does(rows: Both, tmp_path: Path) -> None:
    steps = len(rows.batches(0, SEED))
    torch.save({"state": {"epoch": 0, "step": steps, "seen": 0}}, tmp_path / "checkpoint.pt")
    assert len(rows.unseen(tmp_path, 10_000)) == CLAIMS
