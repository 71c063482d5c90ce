"""Contradictions between passages: found where two say the same but for a figure or a negation, and only there."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.passages import as_passages
from cragraph.verification.conflicts import find_conflicts

CONFLICTS = {
    "another figure": ("Apple's revenue in 2022 was $394 billion.", "In 2022 Apple's revenue was $383 billion."),
    "another percentage": ("Mac sales fell by 27 percent.", "Sales of the Mac fell by 21 percent."),
    "a negation": ("The store is open daily in summer.", "The store is not open daily in summer."),
    "an opposite word": ("Mac sales rose in the spring quarter.", "Mac sales fell in the spring quarter."),
    "a word for its opposite": ("The gallery is shut on Sundays.", "The gallery is open on Sundays."),
    "a direction": ("Sales rose 5 percent in 2023.", "Sales fell 5 percent in 2023."),
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


@given(st.lists(st.text(max_size=150), max_size=4))
@settings(max_examples=100, deadline=None)
def test_the_same_passages_twice_are_at_peace(texts: list[str]) -> None:
    assert find_conflicts(as_passages([*texts, *texts])) == find_conflicts(as_passages([*texts, *texts]))


def test_rows_of_two_tables_do_not_contradict_each_other() -> None:
    rows = ["Region: U.S. | Revenue: $524 million | Growth: 31%", "Region: U.S. | Revenue: $688 million | Growth: 31%"]
    assert find_conflicts(as_passages(rows)) == []
    assert find_conflicts(as_passages([row.replace(" |", ",") for row in rows]))
