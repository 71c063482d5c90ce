"""An answer that declines is `IDK`; an answer that answers is not."""

from cragraph.answers.chat_answerer import settled
from cragraph.types import IDK


def test_a_reflex_sentence_before_a_cited_answer_is_left_out() -> None:
    assert settled(f"{IDK} However, revenue was 5 [1].") == "However, revenue was 5 [1]."
