import pytest

from lab.evals.metrics import (
    auroc,
    balanced_accuracy,
    unsupported_class,
)
from tests.support.cases import cases

T, F = True, False


@pytest.mark.parametrize(("truth", "predicted", "value"), cases("lab/evals/classification", "balanced accuracy"))
def test_balanced_accuracy_is_the_mean_of_both_classes(truth, predicted, value) -> None:
    assert balanced_accuracy(truth, predicted) == value


@pytest.mark.parametrize(
    ("truth", "predicted", "precision", "recall", "f1"), cases("lab/evals/classification", "f1 is")
)
def test_f1_is_that_of_finding_the_unsupported(truth, predicted, precision, recall, f1) -> None:
    found = unsupported_class(truth, predicted)
    assert found == {
        "precision": None if precision is None else pytest.approx(precision),
        "recall": None if recall is None else pytest.approx(recall),
        "f1": None if f1 is None else pytest.approx(f1),
    }


@pytest.mark.parametrize(("truth", "scores", "value"), cases("lab/evals/classification", "auroc is the share"))
def test_auroc_is_the_share_of_pairs_in_the_right_order(truth, scores, value) -> None:
    assert auroc(truth, scores) == value
