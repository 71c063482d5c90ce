"""A yes or a no is read with its question: its words stand in the passage whichever of them it should be."""

from typing import Any

import pytest

from cragraph.answers.answered import asks_whether, denies
from cragraph.answers.chat_answerer import without_false_yes
from cragraph.build import Parts
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import load_settings
from cragraph.types import Claim
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.encoder import split_word
from cragraph.verification.judges.verdicts import IN_SPITE

PAID = "Do volunteers get paid?"
PASSAGES = as_passages(
    [
        "Volunteers must be at least 16 years old. They work under a trained mechanic for their first six sessions. "
        "Volunteers are not paid, but they may use the workshop for their own bicycles on Thursday evenings.",
        "The workshop is open from Tuesday to Saturday. Swimming off the jetty is not permitted, because of the boats.",
        "We do not take American Express. Visa and Mastercard are accepted from five pounds.",
    ]
)


@pytest.fixture(scope="module")
def judge() -> Any:
    return Parts(load_settings(store=None)).judges["encoder"]


def verdicts(judge: Any, question: str, answer: str) -> Any:
    bare = Claim(text=answer, start=0, end=len(answer), type="factual")  # a yes alone is no claim to a splitter
    return judge(split_claims(answer) or [bare], PASSAGES, Notes(), question=question)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (PAID, "Yes, volunteers get paid."),
        (PAID, "Yes. [1]"),
        ("Can I go for a swim from the jetty?", "Yes, you can go for a swim from the jetty. [2]"),
        ("Is American Express accepted?", "Yes, American Express is accepted."),
    ],
)
def test_a_yes_to_what_the_answering_sentence_denies_is_not_supported(judge: Any, question: str, answer: str) -> None:
    [verdict] = verdicts(judge, question, answer)
    assert verdict["verdict"] == "unsupported"
    assert verdict["support"] <= IN_SPITE
    assert "deny it: “" in verdict["reasoning"]
    assert verdict["text"] in answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (PAID, "No, volunteers do not get paid."),
        (PAID, "No. [1]"),
        (PAID, "Yes, volunteers are not paid."),
        ("Is American Express accepted?", "No, we do not take American Express."),
        ("Is Visa accepted?", "Yes, Visa and Mastercard are accepted from five pounds."),
    ],
)
def test_a_no_is_worth_what_the_sentence_makes_of_it_that_denies_what_was_asked(
    judge: Any, question: str, answer: str
) -> None:
    [verdict] = verdicts(judge, question, answer)
    assert verdict["verdict"] == "supported"
    evidence = verdict["evidence"]
    assert PASSAGES[evidence["passage"]]["text"][evidence["start"] : evidence["end"]] == evidence["quote"]


def test_without_the_question_or_to_another_question_the_sentence_alone_is_judged(judge: Any) -> None:
    said = "Yes, you can go for a swim from the jetty."
    [alone] = verdicts(judge, "", said)
    [other] = verdicts(judge, "Where can I go for a swim?", said)
    assert alone["support"] == other["support"] > IN_SPITE


@pytest.mark.parametrize(
    ("text", "word", "rest"),
    [
        ("Yes, the shop is open. [1]", "yes", "the shop is open. [1]"),
        ("No \u2013 it is closed.", "no", "it is closed."),
        ("No. [2]", "no", "No. [2]"),
        ("No animal was given a dose.", "", "No animal was given a dose."),
        ("Yesterday, it rained.", "", "Yesterday, it rained."),
    ],
)
def test_the_word_is_told_from_the_sentence_after_it(text: str, word: str, rest: str) -> None:
    said, left = split_word(Claim(text=text, start=3, end=3 + len(text), type="factual"))
    assert (said, left["text"]) == (word, rest)
    assert left["end"] - left["start"] == len(rest)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Do volunteers get paid?", True),
        ("Were takings up or down?", False),
        ("Who gets paid?", False),
        ("Is it?", True),
    ],
)
def test_a_question_that_gives_a_choice_asks_for_no_yes(question: str, expected: bool) -> None:
    assert asks_whether(question) is expected


def test_a_sentence_denies_a_question_only_in_its_own_words() -> None:
    assert denies(PAID, "Volunteers are not paid.")
    assert not denies(PAID, "Volunteers need not bring tools.")
    assert not denies("Are volunteers not paid?", "Volunteers are not paid.")


def test_a_yes_before_a_sentence_that_says_no_is_left_out() -> None:
    assert without_false_yes(PAID, "Yes, volunteers are not paid. [3]") == "Volunteers are not paid. [3]"
    assert without_false_yes(PAID, "Yes, volunteers are paid. [3]") == ""
    assert without_false_yes("Who is paid?", "Yes, volunteers are not paid. [3]") == ""
