import pytest

from cragraph.search import unanswered_parts
from cragraph.testing import HashEmbeddings
from cragraph.types import IDK

COMPOUND = "Who wrote Dune and when did the war end?"


@pytest.fixture
def embeddings() -> HashEmbeddings:
    return HashEmbeddings(256)


@pytest.mark.parametrize("answer", ["", "  ", IDK, "[1]"])
def test_without_an_answer_all_of_the_question_is_open(answer: str, embeddings: HashEmbeddings) -> None:
    assert unanswered_parts("Who wrote Dune?", answer, embeddings) == ["Who wrote Dune?"]


def test_the_half_that_no_sentence_is_about_is_open(embeddings: HashEmbeddings) -> None:
    answer = "Frank Herbert wrote Dune, a novel of many pages [1]."
    assert unanswered_parts(COMPOUND, answer, embeddings) == ["when did the war end?"]


def test_nothing_is_open_where_both_halves_are_spoken_of(embeddings: HashEmbeddings) -> None:
    answer = "Frank Herbert wrote Dune. The war came to its end in 1945."
    assert unanswered_parts(COMPOUND, answer, embeddings) == []


def test_each_side_of_a_comparison_has_to_be_spoken_of(embeddings: HashEmbeddings) -> None:
    question = "Compare the revenue of Apple and Intel"
    answer = "The revenue of Apple was 383 billion dollars in that year."
    assert unanswered_parts(question, answer, embeddings) == ["the revenue of Intel"]


def test_a_terse_answer_answers_a_single_question(embeddings: HashEmbeddings) -> None:
    assert unanswered_parts("How many points did they score?", "308 [1]", embeddings) == []


def test_an_answer_about_something_else_leaves_the_question_open(embeddings: HashEmbeddings) -> None:
    answer = "Whales sing in groups, yet nobody knows the reason."
    assert unanswered_parts("Who wrote Dune?", answer, embeddings) == ["Who wrote Dune?"]
