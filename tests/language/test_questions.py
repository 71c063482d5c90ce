import pytest

from cragraph.language.questions import MOST_PARTS, corrected, read_question, split_question
from tests.support.cases import cases


@pytest.mark.parametrize(("question", "all_of_them"), cases("language/questions", "a question may ask"))
def test_a_question_may_ask_for_every_one_there_is(question: str, all_of_them: bool) -> None:
    assert read_question(question).wants_all is all_of_them


def test_a_question_is_split_once_per_part_and_not_into_any_number() -> None:
    assert split_question("What were sales? When was it founded? What were sales?") == [
        "What were sales?", "When was it founded?"
    ]  # fmt: skip
    text = " ".join(f"What is the thing {n}?" for n in range(MOST_PARTS + 1))
    assert split_question(text) == [text]


@pytest.mark.parametrize(("question", "read"), cases("language/questions", "a word that nobody"))
def test_a_word_that_nobody_knows_becomes_the_nearest_of_the_texts(question: str, read: str) -> None:
    texts = "Volunteers must be at least 16 years old. The volunteers visit."
    known = {"must", "what", "visitors"}
    assert corrected(question, texts, known.__contains__) == read
