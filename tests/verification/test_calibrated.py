from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.errors import WeightsError
from cragraph.verification.policies import (
    Curve,
    curves,
)

CURVE = Curve(slope=2.0, bias=-0.5, worst=0.5, number=-0.2, thresholds={"0.1": 0.4, "0.2": 0.5})
SHARE = st.floats(0.0, 1.0)


def test_the_curve_gives_the_hand_computed_values() -> None:
    # logit(0.8) = 1.3863; twice that less a half: 2.2726
    assert CURVE.claim(0.8) == pytest.approx(0.9066, abs=1e-4)
    # logits 1.3863 and 0: the mean 0.6931, half of the way to 0 is 0.3466, less 0.2 ln 2: 0.2079
    assert CURVE.answer([0.8, 0.5]) == pytest.approx(0.5518, abs=1e-4)


@given(st.lists(SHARE, min_size=1, max_size=6), st.data())
def test_more_support_for_a_claim_never_lowers_the_confidence(supports: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(supports) - 1))
    raised = list(supports)
    raised[place] = data.draw(st.floats(supports[place], 1.0))
    for curve in curves().values():
        assert 0.0 < curve.answer(supports) <= curve.answer(raised) + 1e-12 < 1.0 + 1e-9
        assert curve.claim(supports[0]) > 0.0


@pytest.mark.parametrize(("refused", "threshold"), [(0.1, 0.4), (0.15, 0.45), (0.2, 0.5), (0.05, 0.4), (0.5, 0.5)])
def test_the_threshold_follows_from_the_share_of_good_answers_that_may_be_refused(
    refused: float, threshold: float
) -> None:
    assert CURVE.threshold(refused) == pytest.approx(threshold)


@pytest.mark.parametrize("content", ["", "{}", '{"judges": {"x": {"curve": {"slope": 1}}}}', '{"judges": []}'])
def test_a_damaged_file_of_curves_says_what_to_do(tmp_path: Path, content: str) -> None:
    damaged = tmp_path / "confidence.json"
    damaged.write_text(content)
    with pytest.raises(WeightsError, match="reinstall"):
        curves(damaged)
