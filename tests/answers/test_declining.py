"""An answer that declines is `IDK`; an answer that answers is not."""

import pytest

from cragraph.answers.chat_answerer import settled
from cragraph.types import IDK


@pytest.mark.parametrize(
    "answer",
    [
        IDK,
        "I don't know based on the documents",
        "“I don’t know based on the documents.”",
        "I do not know.",
        "I'm sorry, but I cannot find the answer in the passages.",
        "The passages do not contain the answer.",
        "The provided context does not mention the date of the merger.",
        "There is no information about this in the documents.",
        "There is not enough information to answer.",
        "The date is not mentioned in the provided passages.",
        "The telephone number is not mentioned in any of the provided passages.",
        "The question cannot be answered from the given documents.",
        "Unknown.",
        "N/A",
        "Das weiß ich nicht: ich weiß es nicht.",
        "I don't know based on the documents. The passages are about apples.",
    ],
)
def test_declining_in_any_words_is_idk(answer: str) -> None:
    assert settled(answer) == IDK


@pytest.mark.parametrize(
    "answer",
    [
        "Support is not provided on weekends.",
        "Net sales were $383 billion [1].",
        "The contract does not mention a penalty [2].",
        "The unknown soldier lies in Paris.",
        "Revenue was 5 [1]. The documents do not mention profit.",
        "No answer was given by the minister [3].",
        "Nobody knows the date; it was lost.",
    ],
)
def test_answering_in_the_negative_is_an_answer(answer: str) -> None:
    assert settled(answer) == answer


def test_a_reflex_sentence_before_a_cited_answer_is_left_out() -> None:
    assert settled(f"{IDK} However, revenue was 5 [1].") == "However, revenue was 5 [1]."
