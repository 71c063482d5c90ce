"""The lexical judge: words, figures, names and negation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim, Verdict
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.judges.verdicts import checked

APPLE = (
    "Apple Inc. reported total net sales of $383.3 billion for fiscal 2023. Services revenue grew to $85.2 billion. "
    "Mac sales fell 27 percent to $29.4 billion. The board declared a dividend of $0.24 per share on May 4, 2023. "
    "The company does not sell televisions."
)

VERDICTS = {
    "the same words": ("Services revenue grew to $85.2 billion.", "supported"),
    "the same figure in another scale": ("Services revenue grew to $85,200 million.", "supported"),
    "the same figure, rounded": ("Services revenue grew to $85 billion.", "supported"),
    "another figure": ("Apple reported total net sales of $394.3 billion for fiscal 2023.", "contradicted"),
    "another year": ("Apple reported total net sales of $383.3 billion for fiscal 2022.", "contradicted"),
    "another date": ("The board declared a dividend of $0.24 per share on May 5, 2023.", "contradicted"),
    "the same date in other words": ("The board declared a dividend of $0.24 per share on 2023-05-04.", "supported"),
    "another direction": ("Mac sales rose 27 percent to $29.4 billion.", "contradicted"),
    "a negation": ("Services revenue never grew to $85.2 billion.", "contradicted"),
    "a negation that is there": ("The company does not sell televisions.", "supported"),
    "a negation that is dropped": ("The company does sell televisions.", "contradicted"),
    "another matter": ("Bananas are grown in Ecuador by small farms.", "unsupported"),
}


def judged(answer: str, *passages: str) -> Verdict:
    return LexicalJudge()(split_claims(answer), as_passages(list(passages or (APPLE,))), Notes())[0]


@pytest.mark.parametrize(("claim", "expected"), VERDICTS.values(), ids=VERDICTS)
def test_a_claim_is_judged_by_what_the_passage_says(claim: str, expected: str) -> None:
    assert judged(claim)["verdict"] == expected


def test_394_billion_is_not_supported_by_383_billion_and_the_reason_says_why() -> None:
    verdict = judged("Apple's revenue was $394 billion.", "Apple's revenue was $383 billion.")
    assert verdict["verdict"] == "contradicted"
    assert verdict["support"] < 0.5
    assert verdict["contradiction"] > 0.75
    assert verdict["reasoning"].startswith("$383 billion in the passage, $394 billion in the claim")


def test_some_figures_of_several_are_partial_support() -> None:
    verdict = judged("Mac sales fell 27 percent to $31 billion.", "Mac sales fell 27 percent. They were large.")
    assert verdict["verdict"] == "partially_supported"
    assert "$31 billion is in no passage" in verdict["reasoning"]


def test_a_name_that_no_passage_has_is_partial_support_at_best() -> None:
    verdict = judged("Angela Merkel praised the plan of the council.", "Everyone praised the plan of the council.")
    assert verdict["verdict"] in ("partially_supported", "unsupported")
    assert "Angela Merkel is in no passage" in verdict["reasoning"]


def test_a_negation_that_the_passage_has_not_is_partial_support_at_best() -> None:
    verdict = judged(
        "The company did not return money to its shareholders.",
        "The company returned more than $90 billion to its shareholders.",
    )
    assert verdict["verdict"] in ("partially_supported", "unsupported")
    assert "the claim is negated, the passage is not" in verdict["reasoning"]


def test_a_negation_in_other_words_is_one_too() -> None:
    verdict = judged("The plan did not pass the council.", "The plan was unable to pass the council.")
    assert verdict["verdict"] == "supported"


def test_evidence_is_the_exact_quote_with_its_place() -> None:
    passages = as_passages(["Nothing here.", "The sun is hot. Sales rose in spring. Costs fell."])
    [verdict] = LexicalJudge()(split_claims("In spring, sales rose."), passages, Notes())
    evidence = verdict["evidence"]
    assert evidence is not None
    assert (evidence["quote"], evidence["passage"]) == ("Sales rose in spring.", 1)
    assert evidence["chunk_id"] == passages[1]["chunk_id"]
    assert passages[1]["text"][evidence["start"] : evidence["end"]] == evidence["quote"]


def test_markers_in_a_claim_are_not_its_words() -> None:
    assert judged("Sales [1] rose [2] in spring [3].", "Sales rose in spring.")["support"] == pytest.approx(
        judged("Sales rose in spring.", "Sales rose in spring.")["support"]
    )


def test_without_text_nothing_is_supported() -> None:
    verdict = judged("Sales rose.", "  ")
    assert (verdict["verdict"], verdict["support"], verdict["evidence"]) == ("unsupported", 0.0, None)


def test_no_claims_are_no_verdicts() -> None:
    assert LexicalJudge()([], as_passages([APPLE]), Notes()) == []


def test_more_of_a_claim_in_the_passage_never_means_less_support() -> None:
    claim = "Sales of phones and tablets rose in the spring quarter."
    parts = ["Sales.", "Sales of phones.", "Sales of phones and tablets.", "Sales of phones and tablets rose.", claim]
    scores = [judged(claim, part)["support"] for part in parts]
    assert scores == sorted(scores)
    assert scores[-1] > 0.8


@given(
    st.lists(st.text(min_size=1, max_size=80), min_size=1, max_size=3),
    st.lists(st.text(max_size=200) | st.just(APPLE), max_size=3),
)
@settings(max_examples=100, deadline=None)
def test_every_verdict_is_sound(texts: list[str], passages: list[str]) -> None:
    claims = [Claim(text=text, start=0, end=len(text), type="factual") for text in texts]
    held = as_passages(passages)
    verdicts = LexicalJudge()(claims, held, Notes())
    assert checked(verdicts, claims, held, "lexical") == verdicts
