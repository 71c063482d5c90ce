"""How readings of sentences become rows, and what the figures over rows say."""

import numpy as np
import pytest

from cragraph.models.grounding_features import unpack_idf
from lab.training.judge.metrics import auroc, balanced_accuracy, expected_calibration_error, f1
from lab.training.judge.rows import CONTRADICTED, NOT_SUPPORTED, SUPPORTED, UNSUPPORTED
from lab.training.reading.featurise import pack_idf
from lab.training.reading.table import Table

SCORES = np.array([2.0, -1.0, 0.5, 1.0, -2.0, 3.0, 0.0])


@pytest.fixture
def table() -> Table:
    """Two sentences of one answer and one of another; a claim before two groups of passages; a partial reply."""
    return Table({
        "names": np.array(["plain", "wice_oracle", "begin_dev"]),
        "source": np.array([0, 0, 0, 1, 1, 2, 2]),
        "row": np.array([0, 0, 1, 0, 1, 0, 1]),
        "answer": np.array([10, 10, 11, 12, 12, 13, 14]),
        "label": np.array([SUPPORTED, SUPPORTED, CONTRADICTED, SUPPORTED, SUPPORTED, UNSUPPORTED, NOT_SUPPORTED]),
    })  # fmt: skip


def test_a_row_is_the_mean_of_its_sentences_or_its_weakest_one(table: Table) -> None:
    scores, labels = table.rows(SCORES)["plain"]
    assert scores.tolist() == [0.5, 0.5]
    assert labels.tolist() == [SUPPORTED, CONTRADICTED]
    assert table.rows(SCORES, weakest=True)["plain"][0].tolist() == [-1.0, 0.5]


@pytest.mark.parametrize("weakest", [False, True])
def test_a_claim_before_several_groups_of_passages_counts_once_by_the_best(table: Table, weakest: bool) -> None:
    scores, labels = table.rows(SCORES, weakest=weakest)["wice_oracle"]
    assert (scores.tolist(), labels.tolist()) == ([1.0], [SUPPORTED])


def test_partial_replies_of_dialogues_are_left_out(table: Table) -> None:
    assert table.rows(SCORES)["begin_dev"][0].tolist() == [3.0]


def test_figures_worked_out_by_hand() -> None:
    true = np.array([True, True, False, False])
    assert auroc(np.array([0.9, 0.4, 0.4, 0.1]), true) == pytest.approx(3.5 / 4)
    assert np.isnan(auroc(np.array([0.9, 0.4]), np.array([True, True])))
    assert balanced_accuracy(np.array([True, False, False, False]), true) == pytest.approx(0.75)
    assert expected_calibration_error(np.array([0.85, 0.85, 0.05, 0.05]), true) == pytest.approx(0.1)
    assert f1(np.array([True, True, True, False]), true) == pytest.approx((2 / 3, 1.0, 0.8))


def test_an_idf_table_survives_its_packing_to_half_a_step() -> None:
    idf = np.linspace(0, 12, 50, dtype=np.float32)
    assert np.abs(unpack_idf(pack_idf(idf)) - idf).max() <= 1 / 32
