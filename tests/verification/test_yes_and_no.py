"""A yes or a no is read with its question: its words stand in the passage whichever of them it should be."""

from typing import Any

import pytest

from cragraph.build import Parts
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import load_settings
from cragraph.types import Claim
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.verdicts import IN_SPITE
from tests.support.cases import cases

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


@pytest.mark.parametrize(("question", "answer"), cases("verification/yes_and_no", "a yes to what"))
def test_a_yes_to_what_the_answering_sentence_denies_is_not_supported(judge: Any, question: str, answer: str) -> None:
    [verdict] = verdicts(judge, question, answer)
    assert verdict["verdict"] == "unsupported"
    assert verdict["support"] <= IN_SPITE
    assert "deny it: “" in verdict["reasoning"]
    assert verdict["text"] in answer


@pytest.mark.parametrize(("question", "answer"), cases("verification/yes_and_no", "a no is worth"))
def test_a_no_is_worth_what_the_sentence_makes_of_it_that_denies_what_was_asked(
    judge: Any, question: str, answer: str
) -> None:
    [verdict] = verdicts(judge, question, answer)
    assert verdict["verdict"] == "supported"
    evidence = verdict["evidence"]
    assert PASSAGES[evidence["passage"]]["text"][evidence["start"] : evidence["end"]] == evidence["quote"]
