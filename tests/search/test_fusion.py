from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.search.retriever import Curves, falling, fuse


def test_each_ranking_adds_weight_times_share_over_constant_plus_rank() -> None:
    fused = fuse([([("a", 0.8), ("b", 0.4)], 0.4), ([("b", 2.0), ("c", 1.0)], 0.6)], constant=60)
    assert fused == pytest.approx({"b": 0.4 * 0.5 / 62 + 0.6 / 61, "a": 0.4 / 61, "c": 0.6 * 0.5 / 62})
    assert list(fused) == ["b", "a", "c"]


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
