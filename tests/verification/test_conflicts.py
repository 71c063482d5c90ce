"""Contradictions between passages: found where two say the same but for a figure or a negation, and only there."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.passages import as_passages
from cragraph.verification.conflicts import find_conflicts


@given(st.lists(st.text(max_size=150), max_size=4))
@settings(max_examples=100, deadline=None)
def test_the_same_passages_twice_are_at_peace(texts: list[str]) -> None:
    assert find_conflicts(as_passages([*texts, *texts])) == find_conflicts(as_passages([*texts, *texts]))


def test_rows_of_two_tables_do_not_contradict_each_other() -> None:
    rows = ["Region: U.S. | Revenue: $524 million | Growth: 31%", "Region: U.S. | Revenue: $688 million | Growth: 31%"]
    assert find_conflicts(as_passages(rows)) == []
    assert find_conflicts(as_passages([row.replace(" |", ",") for row in rows]))
