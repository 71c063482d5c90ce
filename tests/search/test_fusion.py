from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.search.fusion import Curves, falling, fuse


def test_each_ranking_adds_weight_times_share_over_constant_plus_rank() -> None:
    fused = fuse([([("a", 0.8), ("b", 0.4)], 0.4), ([("b", 2.0), ("c", 1.0)], 0.6)], constant=60)
    assert fused == pytest.approx({"b": 0.4 * 0.5 / 62 + 0.6 / 61, "a": 0.4 / 61, "c": 0.6 * 0.5 / 62})
    assert list(fused) == ["b", "a", "c"]


def test_a_ranking_that_falls_off_steeply_is_heard_louder_at_its_top() -> None:
    flat = [("x", 0.5), ("y", 0.49), ("z", 0.48)]
    decided = [("z", 9.0), ("y", 1.0), ("x", 0.5)]
    assert next(iter(fuse([(flat, 0.5), (decided, 0.5)]))) == "z"


def test_equal_scores_keep_the_order_they_came_in() -> None:
    assert list(fuse([([("a", 0.0)], 1.0), ([("b", 0.0)], 1.0)])) == ["a", "b"]


def test_nothing_found_fuses_to_nothing() -> None:
    assert fuse([([], 1.0), ([], 1.0)]) == {}


@pytest.mark.parametrize(
    ("values", "level"),
    [
        ([0.9, 0.5, 0.1], [0.9, 0.5, 0.1]),
        ([0.2, 0.6], [0.4, 0.4]),
        ([0.9, 0.1, 0.3, 0.2], [0.9, 0.2, 0.2, 0.2]),
        ([0.1, 0.2, 0.9], [0.4, 0.4, 0.4]),
        ([], []),
    ],
)
def test_what_rises_shares_its_mean_with_what_stands_before_it(values: list[float], level: list[float]) -> None:
    assert falling(values) == pytest.approx(level)


@given(st.lists(st.floats(0, 1)))
def test_levelled_scores_never_rise_and_keep_their_sum(values: list[float]) -> None:
    level = falling(values)
    assert all(a >= b - 1e-12 for a, b in pairwise(level))
    assert sum(level) == pytest.approx(sum(values))


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_relevance_is_within_0_and_1_and_rises_with_each_score(dense: float, lexical: float, more: float) -> None:
    calibration = Curves()
    for curve in (calibration.dense, calibration.lexical, calibration.hybrid):
        at = curve(dense, lexical)
        assert 0.0 <= at <= 1.0
        assert curve(dense + more, lexical) >= at
        assert curve(dense, lexical + more) >= at
