"""Facts: what is read out of a text, with its value and its place."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cragraph.language.facts import Fact, extract

PIECES = ["$", "394", ".", ",", " ", "billion", "Jan", "5", "2023", "%", "km", "-", "IBM", "New York", "one"]


def one(text: str) -> Fact:
    [fact] = [fact for fact in extract(text) if fact.kind != "name"]
    return fact


@pytest.mark.parametrize(
    ("text", "bound"),
    [("about 400 cars", "~"), ("more than 400 cars", ">"), ("under 400 cars", "<"), ("400 cars", "")],
)
def test_a_number_knows_what_bounds_it(text: str, bound: str) -> None:
    assert one(f"There were {text}.").bound == bound


@pytest.mark.parametrize(
    ("text", "figures"),
    [("It took a year and a half.", [1.5]), ("A full plot owes two a year and a half plot one.", [2.0])],
)
def test_a_half_after_a_rate_is_no_part_of_it(text: str, figures: list[float]) -> None:
    assert [fact.figure for fact in extract(text)] == figures


@given(st.text(max_size=200) | st.lists(st.sampled_from(PIECES)).map("".join))
@example("0\x1fG")
@settings(max_examples=300, deadline=None)
def test_facts_stand_where_they_say(text: str) -> None:
    for fact in extract(text):
        assert text[fact.start : fact.end] == fact.text
        assert fact.text


@given(st.integers(0, 999_999))
@settings(deadline=None)
def test_grouping_thousands_does_not_change_a_number(value: int) -> None:
    grouped = [fact.value for fact in extract(f"It sold {value:,} cars") if fact.kind == "number"]
    assert grouped == [value]
