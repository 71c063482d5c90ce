import pytest

from cragraph.generation.candidates import is_noise
from cragraph.generation.phrases import meaning_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The CEO spoke.", "The chief executive officer spoke."),
        ("net sales", "revenues"),
        ("corporate offices", "principal executive offices"),
        ("It was established.", "It was founded."),
        ("revenue declined", "revenue fell"),
    ],
)
def test_two_wordings_of_one_thing_meet(one: str, other: str) -> None:
    assert set(meaning_words(one)) == set(meaning_words(other)) != set()


@pytest.mark.parametrize(
    ("one", "other"),
    [("founded", "Foundation"), ("chief executive officer", "chief financial officer"), ("net sales", "net income")],
)
def test_wordings_that_only_look_alike_do_not_meet(one: str, other: str) -> None:
    assert not set(meaning_words(one)) & set(meaning_words(other))


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
