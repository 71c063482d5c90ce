import pytest

from lab.evals.metrics import (
    auroc,
    balanced_accuracy,
    unsupported_class,
)

T, F = True, False


@pytest.mark.parametrize(
    ("truth", "predicted", "value"),
    [
        ([T, T, F, F], [T, T, F, F], 1.0),
        ([T, T, F, F], [F, F, T, T], 0.0),
        ([T, T, T, F], [T, T, T, T], 0.5),
        ([T, T, T, T, F, F], [T, T, T, F, F, T], (0.75 + 0.5) / 2),
        ([T, T], [T, F], None),
        ([F], [F], None),
        ([], [], None),
    ],
)
def test_balanced_accuracy_is_the_mean_of_both_classes(truth, predicted, value) -> None:
    assert balanced_accuracy(truth, predicted) == value


@pytest.mark.parametrize(
    ("truth", "predicted", "precision", "recall", "f1"),
    [
        ([F, F, T], [F, F, T], 1.0, 1.0, 1.0),
        ([F, F, T, T], [F, T, F, T], 0.5, 0.5, 0.5),
        ([F, F, F, T], [F, F, T, F], 2 / 3, 2 / 3, 2 / 3),
        ([F, T], [T, T], None, 0.0, 0.0),
        ([T, T], [T, F], 0.0, None, None),
        ([T], [T], None, None, None),
    ],
)
def test_f1_is_that_of_finding_the_unsupported(truth, predicted, precision, recall, f1) -> None:
    found = unsupported_class(truth, predicted)
    assert found == {
        "precision": None if precision is None else pytest.approx(precision),
        "recall": None if recall is None else pytest.approx(recall),
        "f1": None if f1 is None else pytest.approx(f1),
    }


@pytest.mark.parametrize(
    ("truth", "scores", "value"),
    [
        ([T, T, F, F], [0.9, 0.8, 0.2, 0.1], 1.0),
        ([T, T, F, F], [0.1, 0.2, 0.8, 0.9], 0.0),
        ([T, F], [0.5, 0.5], 0.5),
        ([T, T, F], [0.9, 0.3, 0.5], 0.5),
        ([T, T, F, F], [0.9, 0.5, 0.5, 0.1], 0.875),
        ([T, T], [0.1, 0.2], None),
    ],
)
def test_auroc_is_the_share_of_pairs_in_the_right_order(truth, scores, value) -> None:
    assert auroc(truth, scores) == value
