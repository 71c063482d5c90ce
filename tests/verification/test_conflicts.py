"""Contradictions between passages: found where two say the same but for a figure or a negation, and only there."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.passages import as_passages
from cragraph.verification.conflicts import MOST_CONFLICTS, find_conflicts

CONFLICTS = {
    "another figure": ("Apple's revenue in 2022 was $394 billion.", "In 2022 Apple's revenue was $383 billion."),
    "another percentage": ("Mac sales fell by 27 percent.", "Sales of the Mac fell by 21 percent."),
    "a negation": ("The store is open daily in summer.", "The store is not open daily in summer."),
    "an opposite word": ("Mac sales rose in the spring quarter.", "Mac sales fell in the spring quarter."),
    "a word for its opposite": ("The gallery is shut on Sundays.", "The gallery is open on Sundays."),
    "a direction": ("Sales rose 5 percent in 2023.", "Sales fell 5 percent in 2023."),
}
PEACE = {
    "another unit of a plant": ("Unit 4 has 120 rooms in all.", "Unit 5 has 90 rooms in all."),
    "another model": ("The Boeing 737 carries 180 passengers.", "The Boeing 747 carries 410 passengers."),
    "the same": ("Apple's revenue in 2022 was $394 billion.", "In 2022 Apple's revenue was $394 billion."),
    "the same, rounded": ("Apple's revenue in 2022 was $394 billion.", "In 2022 Apple's revenue was $394.3 billion."),
    "another year": ("Apple's revenue in 2022 was $394 billion.", "In 2021 Apple's revenue was $365 billion."),
    "one without a year": ("Apple's revenue in 2022 was $394 billion.", "Apple's revenue was $365 billion."),
    "another company": ("Apple's revenue in 2022 was $394 billion.", "In 2022 Google's revenue was $282 billion."),
    "another matter": ("Apple's revenue was $394 billion.", "Apple's operating costs for research were $26 billion."),
    "a possibility": ("The store may open daily in summer.", "The store does not open daily in summer."),
    "too little said": ("It was 5.", "It was 6."),
    "an added figure": ("Mac sales fell by 27 percent.", "Mac sales fell by 27 percent, that is 5 points."),
}


@pytest.mark.parametrize(("one", "other"), CONFLICTS.values(), ids=CONFLICTS)
def test_passages_that_contradict_each_other_are_reported_with_both_quotes(one: str, other: str) -> None:
    passages = as_passages([f"The sun is hot. {one}", f"{other} The moon is far."])
    [conflict] = find_conflicts(passages)
    for evidence, quote in ((conflict.one, one), (conflict.other, other)):
        assert evidence["quote"] == quote
        assert passages[evidence["passage"]]["text"][evidence["start"] : evidence["end"]] == quote
        assert quote in conflict.issue
    assert conflict.issue.startswith("Passages 1 and 2 contradict each other (")


@pytest.mark.parametrize(("one", "other"), PEACE.values(), ids=PEACE)
def test_passages_on_other_things_do_not_contradict_each_other(one: str, other: str) -> None:
    assert find_conflicts(as_passages([one, other])) == []


def test_a_passage_does_not_contradict_itself() -> None:
    assert find_conflicts(as_passages([" ".join(CONFLICTS["another figure"])])) == []


def test_no_more_conflicts_are_returned_than_asked_for() -> None:
    one = " ".join(pair[0] for pair in CONFLICTS.values())
    other = " ".join(pair[1] for pair in CONFLICTS.values())
    assert len(find_conflicts(as_passages([one, other]))) == MOST_CONFLICTS
    assert len(find_conflicts(as_passages([one, other]), most=2)) == 2


def test_the_issue_names_what_differs() -> None:
    [conflict] = find_conflicts(as_passages(list(CONFLICTS["another figure"])))
    assert conflict.difference == "$394 billion and $383 billion"


def test_a_long_quote_is_shortened_in_the_issue() -> None:
    tail = " and of many other things that the company sells in its shops" * 4
    [conflict] = find_conflicts(as_passages([f"Sales rose by 5 percent{tail}.", f"Sales rose by 9 percent{tail}."]))
    assert conflict.issue.count("…") == 2
    assert len(conflict.one["quote"]) > 200


def test_no_passages_are_no_conflict() -> None:
    assert find_conflicts([]) == []


@given(st.lists(st.text(max_size=150), max_size=4))
@settings(max_examples=100, deadline=None)
def test_the_same_passages_twice_are_at_peace(texts: list[str]) -> None:
    assert find_conflicts(as_passages([*texts, *texts])) == find_conflicts(as_passages([*texts, *texts]))


def test_rows_of_two_tables_do_not_contradict_each_other() -> None:
    rows = ["Region: U.S. | Revenue: $524 million | Growth: 31%", "Region: U.S. | Revenue: $688 million | Growth: 31%"]
    assert find_conflicts(as_passages(rows)) == []
    assert find_conflicts(as_passages([row.replace(" |", ",") for row in rows]))
