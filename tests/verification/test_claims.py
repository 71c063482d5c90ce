"""Claims: what of an answer can be checked, where it stands, and of which kind it is."""

# ruff: noqa: E501

import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.language.markers import without_markers
from cragraph.language.sentences import LONGEST
from cragraph.protocols import ClaimExtractor, Notes
from cragraph.types import IDK
from cragraph.verification.claims import SentenceExtractor, claim_type, split_claims, uncovered_parts

CLAIMS = {
    "each sentence is a claim": ("Sales rose. Costs fell.", ["Sales rose.", "Costs fell."]),
    "markers behind a sentence stay outside": ("Sales rose. [1] Costs fell.[2]", ["Sales rose.", "Costs fell."]),
    "markers before the full stop stay outside": ("Sales rose [1]. Costs fell [2, 3].", ["Sales rose", "Costs fell"]),
    "markers inside stay": ("Sales [1] rose.", ["Sales [1] rose."]),
    "list marks stay outside": ("- Sales rose.\n2. Costs fell.", ["Sales rose.", "Costs fell."]),
    "a table's row": ("| year | sales |\n|---|---|\n| 2022 | 394 |", ["| 2022 | 394 |"]),
    "a question is none": ("Why did sales rise? Prices fell.", ["Prices fell."]),
    "a greeting is none": ("Hello! Sales rose.", ["Sales rose."]),
    "a polite opening is none": ("Sure! Sales rose. Let me know if you need more.", ["Sales rose."]),
    "yes alone is none": ("Yes. Sales rose.", ["Sales rose."]),
    "yes with a statement is one": ("Yes, sales rose.", ["Yes, sales rose."]),
    "thanks with a statement are one": ("Thanks for asking, it was 5.", ["Thanks for asking, it was 5."]),
    "a lead-in is none": ("Here is what I found:\n- Sales rose.", ["Sales rose."]),
    "a lead-in on sources is none": ("Based on the passages:\nSales rose.", ["Sales rose."]),
    "a short line with a colon is none": ("The answer is:\nSales rose.", ["Sales rose."]),
    "a colon after a statement is one": (
        "Apple has three main segments: phones, Macs and services.",
        ["Apple has three main segments: phones, Macs and services."],
    ),
    "a heading is none": ("## Results\nSales rose.", ["Sales rose."]),
    "a bold heading is none": ("**Results**\nSales rose.", ["Sales rose."]),
    "fenced code is none": ("Sales rose.\n```\nx = 1\n```", ["Sales rose."]),
    "abstaining is none": (IDK, []),
    "punctuation is none": ("---\n... Sales rose.", ["Sales rose."]),
    "an empty answer has none": ("", []),
    "a long sentence of two statements is two": (
        "Apple Inc. reported revenue of $394 billion in the year 2022 [1], and the net income was $99.8 billion [2].",
        ["Apple Inc. reported revenue of $394 billion in the year 2022", "the net income was $99.8 billion"],
    ),
    "a statement whose subject stands in the one before is not cut off": (
        "The chairman refused the use of the hall in March of last year; he said yes for April, against two members.",
        ["The chairman refused the use of the hall in March of last year; he said yes for April, against two members."],
    ),
    "what is left out in a second part is not cut off": (
        "The fee is £7 on weekdays and includes towels and soap; £9 at weekends, when the pool is open until ten.",
        ["The fee is £7 on weekdays and includes towels and soap; £9 at weekends, when the pool is open until ten."],
    ),
    "a long sentence is cut at a semicolon": (
        "Apple Inc. reported revenue of $394 billion in the year 2022; Google reported a profit of 60 billion dollars.",
        [
            "Apple Inc. reported revenue of $394 billion in the year 2022",
            "Google reported a profit of 60 billion dollars.",
        ],
    ),
    "a long list of names is not cut": (
        "The board of the company is made up of Anna Miller, Bert Jones, Carla Smith, Dora Brown, and Emil Green today.",
        ["The board of the company is made up of Anna Miller, Bert Jones, Carla Smith, Dora Brown, and Emil Green today."],
    ),
    "a long condition is not cut": (
        "If revenue in the next quarter rises by more than ten percent, the bonus is paid, and the shares are split in two.",
        ["If revenue in the next quarter rises by more than ten percent, the bonus is paid, and the shares are split in two."],
    ),
}  # fmt: skip

NOTHING_STATED = (
    "Sure! Here you go [1].", "Of course! Here is the answer. [1]", "Certainly, happy to help! [2]", "Done! [1]",
    "Here's what I found. [1]", "The answer is below. [1]", "See passage 1. [1]", "As requested. [1]", "No problem. [1]",
    "You can find the answer in the passages. [1]", "The passages answer this question. [1]", "The answer is yes. [1]",
    "Please see the cited sources above. [1][2]", "Based on the passages, here is my answer: [1]",
)  # fmt: skip

STATED = (
    "He said yes. [1]", "The documents are kept in the cellar. [1]", "They can go. [1]", "The help desk is open. [1]",
    "It is in the information centre. [1]", "The source of the river is in Wales. [1]",
)  # fmt: skip

TYPES = {
    "Revenue was $394 billion.": "factual",
    "The company thinks about its customers.": "factual",
    "I think revenue will rise.": "opinion",
    "In my opinion the plan failed.": "opinion",
    "You should read the filing.": "opinion",
    "It is a great film!": "opinion",
    "The passages do not mention the price.": "opinion",
    "If sales fall, the bonus is lost.": "conditional",
    "The bonus is paid unless sales fall.": "conditional",
    "Wenn es regnet, bleibt er da.": "conditional",
    "They asked if sales fell.": "factual",
    "It looks as if sales fell.": "factual",
}


@pytest.mark.parametrize(("answer", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_an_answer_is_split_into_claims(answer: str, expected: list[str]) -> None:
    assert [claim["text"] for claim in split_claims(answer)] == expected


@pytest.mark.parametrize("answer", NOTHING_STATED)
def test_what_states_nothing_is_no_claim(answer: str) -> None:
    assert split_claims(answer) == []


@pytest.mark.parametrize("answer", STATED)
def test_what_states_something_in_such_words_is_one(answer: str) -> None:
    assert len(split_claims(answer)) == 1


@pytest.mark.parametrize(("text", "expected"), TYPES.items())
def test_a_claim_has_a_type(text: str, expected: str) -> None:
    assert claim_type(text) == expected


def test_the_text_to_judge_has_neither_markers_nor_emphasis() -> None:
    assert without_markers("Sales **rose** [1] in 2022 (Source: 10-K).") == "Sales rose in 2022."


def test_the_extractor_keeps_the_protocol_and_says_that_it_ran() -> None:
    extractor: ClaimExtractor = SentenceExtractor()
    notes = Notes()
    assert [claim["text"] for claim in extractor("Sales rose.", notes)] == ["Sales rose."]
    assert notes.models == {"claims": "sentences"}


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


def test_a_long_block_of_code_is_no_claim() -> None:
    assert split_claims("```\n" + "print(1) # the sea is salt\n" * 100 + "```") == []


@pytest.mark.parametrize("unit", ["x", "[1]", "1,", "A. ", "Salt is old. "])
def test_twice_as_long_an_answer_takes_about_twice_the_calls(unit: str) -> None:
    def calls(size: int) -> int:
        count = 0

        def counting(*_: Any) -> None:
            nonlocal count
            count += 1

        answer = (unit * size)[:size]
        before = sys.getprofile()
        sys.setprofile(counting)
        try:
            uncovered_parts(answer, split_claims(answer))
        finally:
            sys.setprofile(before)
        return count

    calls(100)
    assert calls(16_000) <= 2.6 * calls(8_000)
