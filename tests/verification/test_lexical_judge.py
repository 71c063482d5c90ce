"""The lexical judge: words, figures, names and negation."""

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


def judged(answer: str, *passages: str) -> Verdict:
    return LexicalJudge()(split_claims(answer), as_passages(list(passages or (APPLE,))), Notes())[0]


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
