import pytest

from cragraph.generation.candidates import is_noise
from cragraph.generation.phrases import corrected


@pytest.mark.parametrize(
    "sentence",
    [
        "See “Item 10. Directors” in Part III.",
        "Refer to Note 4 for more.",
        "Source: Acme, Inc.",
        "10.4 | Deed between Acme and Bolt is incorporated by reference from our report.",
    ],
)
def test_what_only_points_elsewhere_is_noise(sentence: str) -> None:
    assert is_noise(sentence)


@pytest.mark.parametrize("sentence", ["We see strong demand in Part of Asia.", "The source of the Nile is a lake."])
def test_what_says_something_is_no_noise(sentence: str) -> None:
    assert not is_noise(sentence)


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
