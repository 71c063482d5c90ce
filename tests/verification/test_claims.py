"""Claims: what of an answer can be checked, where it stands, and of which kind it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.language.sentences import LONGEST
from cragraph.verification.claims import split_claims, uncovered_parts


@given(
    st.text(max_size=300)
    | st.lists(
        st.sampled_from(
            ["Sales rose", ". ", "[1]", "- ", "\n", ", and it was so ", "; ", "**", "if ", "?", ":", "Yes, "]
        )
    ).map("".join)
)
@settings(max_examples=300, deadline=None)
def test_offsets_are_exact_and_claims_do_not_overlap(answer: str) -> None:
    at = 0
    for claim in split_claims(answer):
        assert answer[claim["start"] : claim["end"]] == claim["text"]
        assert claim["start"] >= at
        assert claim["text"].strip()
        at = claim["end"]


@pytest.mark.parametrize("unit", ["x", "[1]", "1,", "a-", "(a ", "word ", "[1] "])
def test_no_claim_is_longer_than_can_be_read_at_once_and_none_of_it_is_lost(unit: str) -> None:
    answer = f"The sea is salt {unit * 2000}. The sky is blue."
    claims = split_claims(answer)
    assert max(len(claim["text"]) for claim in claims) <= LONGEST
    assert all(answer[claim["start"] : claim["end"]] == claim["text"] for claim in claims)
    assert claims[0]["text"].startswith("The sea is salt")
    assert claims[-1]["text"] == "The sky is blue."
    assert not uncovered_parts(answer, claims)
    assert uncovered_parts(answer, claims[:-1])[0]["text"].strip(".") == "The sky is blue"
