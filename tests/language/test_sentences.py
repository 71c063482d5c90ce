"""Sentences: what ends one and what does not, with exact offsets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.language.sentences import sentence_spans, sentences

ANY_TEXT = st.text(max_size=300) | st.lists(
    st.sampled_from(
        [
            *"abXY1.!?…。()[]\"'“”„«»`*_|#->\n\t ",
            "Dr. ",
            "U.S. ",
            "[1]",
            "e.g. ",
            ". ",
            "```",
            "3.",
            " The ",
            "\n\n",
            "- ",
        ]
    ),
    max_size=60,
).map("".join)


@given(ANY_TEXT)
@settings(max_examples=400, deadline=None)
def test_spans_are_ordered_and_disjoint_and_cover_all_that_is_not_blank(text: str) -> None:
    spans = sentence_spans(text)
    at = 0
    for start, end in spans:
        assert at <= start < end <= len(text)
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()


WORDS = st.sampled_from(
    ["Sales", "rose", "in", "the", "U.S.", "Dr.", "Smith", "[1]", "3.14", "(so)", '"Yes."', "1990", "fell"]
)
ONE_LINE = st.lists(st.lists(WORDS, min_size=2, max_size=8).map(" ".join), min_size=1, max_size=5).map(
    lambda parts: ". ".join(parts) + "."
)


@given(ONE_LINE)
@settings(max_examples=200, deadline=None)
def test_a_sentence_is_not_split_again(text: str) -> None:
    for sentence in sentences(text):
        assert sentences(sentence) == [sentence]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["Apple Inc. sold $1.5 bn (see p. 5) in the U.S. [1]. ", "(", '"a ', "[1, ", "``", "(a (b", "1. ", "- a\n"]
)
def test_a_long_text_is_split_within_the_timeout_of_a_test(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    assert sentence_spans(text)[-1][1] <= len(text)


@pytest.mark.parametrize(
    "stamp", ["[5 Aug 2025, 19:30] ", "05/08/2025, 19:30 - ", "[5.8.25, 19:30:12] ", "2025-08-05 19:30 "]
)
def test_each_message_of_a_chat_is_a_sentence(stamp: str) -> None:
    messages = [f"{stamp}Ada: the press is mended, thanks to Tom and his brother", f"{stamp}Tom: gate key is here"]
    assert sentences("\n".join(messages)) == messages
    assert sentences("We came at\n12 and went home.") == ["We came at\n12 and went home."]
