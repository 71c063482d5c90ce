"""Windows: adjacent sentences of a passage, and which of them a claim most likely rests on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.passages import as_passages
from cragraph.verification.reading import SPAN, space


def windows(text: str) -> list[str]:
    return [window.text for window in space(["x"], as_passages([text])).windows]


def test_korean_and_chinese_are_compared_by_pairs_of_characters() -> None:
    found = space(
        ["한국의 수도는 서울이다.", "中国的首都"], as_passages(["서울은 한국의 수도이다.", "北京是中国的首都。"])
    )
    assert found.coverage[:, 0].max() > 0.5
    assert found.coverage[:, 1].max() == pytest.approx(1.0)


@given(st.lists(st.text(max_size=120), max_size=4), st.lists(st.text(max_size=40), max_size=3))
@settings(max_examples=150, deadline=None)
def test_windows_are_exact_and_coverage_is_a_share(texts: list[str], claims: list[str]) -> None:
    found = space(claims, as_passages(texts))
    for window in found.windows:
        assert texts[window.passage][window.start : window.end] == window.text
        assert 0 <= window.last - window.first < SPAN
    assert ((found.coverage >= 0) & (found.coverage <= 1.0001)).all()
    for column in range(len(claims)):
        assert len(found.best(column, 2)) <= 2
