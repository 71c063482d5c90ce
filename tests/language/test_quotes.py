"""Quotes and claims are found in the text, or known not to be there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.language.quotes import find, placed
from cragraph.passages import as_passages
from cragraph.verification.judges.verdicts import quoted
from tests.support.cases import cases

ANSWER = "Apple's net sales were $383.3 billion in 2023 [1]. They fell by 3% [1][2]. The company is based in Cupertino."
PASSAGES = as_passages(
    ["Total net sales decreased 3% or $11.0 billion\nduring 2023.", "The “Company” is based in\tCupertino, California."]
)


@pytest.mark.parametrize(
    ("claim", "text"),
    cases("language/quotes", "a claim is placed"))  # fmt: skip
def test_a_claim_is_placed_where_the_answer_makes_it(claim: str, text: str) -> None:
    span = placed(claim, ANSWER)
    assert span is not None
    assert ANSWER[span[0] : span[1]] == text


@pytest.mark.parametrize("claim", ["Microsoft was founded by Bill Gates.", "", "...", "All of the above is verified."])
def test_a_claim_that_the_answer_does_not_make_has_no_place(claim: str) -> None:
    assert placed(claim, ANSWER) is None


def test_the_same_words_twice_are_placed_one_after_the_other() -> None:
    answer = "It rose. Then it fell. It rose."
    first = placed("It rose.", answer)
    assert first == (0, 7)
    assert placed("It rose.", answer, after=7) == (23, 30)


@pytest.mark.parametrize(("quote", "passage", "exact"), cases("language/quotes", "a quote is found"))
def test_a_quote_is_found_with_its_exact_text_and_offsets(quote: str, passage: int, exact: str) -> None:
    found = quoted(quote, PASSAGES)
    assert found is not None
    assert (found["passage"], found["quote"], found["chunk_id"]) == (passage, exact, PASSAGES[passage]["chunk_id"])
    assert PASSAGES[passage]["text"][found["start"] : found["end"]] == exact


@given(st.text(max_size=60), st.text(max_size=200))
def test_what_is_found_always_lies_within_the_text(needle: str, text: str) -> None:
    span = find(needle, text)
    assert span is None or 0 <= span[0] < span[1] <= len(text)


@given(st.text(min_size=1, max_size=80), st.data())
def test_every_piece_of_a_passage_that_has_a_word_is_found_again(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    piece = text[start:end]
    if (
        any(character.isalpha() and character.isascii() for character in piece)
        and "..." not in piece
        and "…" not in piece
    ):
        assert quoted(piece, as_passages([text])) is not None
