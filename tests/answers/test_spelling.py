import pytest

from cragraph.answers.spelling import corrected


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("how old must voluntears be at lesat", "how old must volunteers be at least"),
        ("who are the visitors", "who are the visitors"),
        ("what is a zzyzx", "what is a zzyzx"),
    ],
)
def test_a_word_that_nobody_knows_becomes_the_nearest_of_the_texts(question: str, read: str) -> None:
    texts = "Volunteers must be at least 16 years old. The volunteers visit."
    known = {"must", "what", "visitors"}
    assert corrected(question, texts, known.__contains__) == read
