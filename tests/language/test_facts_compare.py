"""Facts: which of a claim the evidence has, lacks or contradicts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.language.facts import Comparison, compare, extract


def compared(claim: str, evidence: str) -> Comparison:
    return compare(extract(claim), extract(evidence), evidence)


def test_another_value_of_the_same_kind_conflicts_and_is_named() -> None:
    [(mine, theirs)] = compared("It was $394 billion.", "It was $383 billion.").conflicting
    assert (mine.text, theirs.text) == ("$394 billion", "$383 billion")


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [("Unit 4 was closed.", "Unit 5 was closed."), ("The Boeing 737 flew.", "The Boeing 747 flew."),
     ("See page 3.", "See page 4.")],
)  # fmt: skip
def test_numbers_of_things_are_names_and_never_conflict(claim: str, evidence: str) -> None:
    assert not compared(claim, evidence).conflicting


@given(
    st.floats(0.1, 9999, allow_nan=False),
    st.sampled_from(["million", "billion", "km", "kg", "%", "dollars", "years", ""]),
)
@settings(deadline=None)
def test_a_fact_matches_itself(value: float, unit: str) -> None:
    text = f"It was {value:.2f} {unit}."
    assert compared(text, text).share == 1.0
