"""The lexical judge: words, figures, names and negation."""

from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim
from cragraph.verification.judges.embedded import LexicalJudge
from cragraph.verification.judges.verdicts import checked

APPLE = (
    "Apple Inc. reported total net sales of $383.3 billion for fiscal 2023. Services revenue grew to $85.2 billion. "
    "Mac sales fell 27 percent to $29.4 billion. The board declared a dividend of $0.24 per share on May 4, 2023. "
    "The company does not sell televisions."
)


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
