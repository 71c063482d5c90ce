import pytest

from cragraph.protocols import Notes
from cragraph.search.questions import Decompose, decompose


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who wrote Dune and when was it published?", ["Who wrote Dune", "when was it published Dune"]),
        (
            "Compare the revenue of Apple and Microsoft in 2020",
            ["the revenue of Apple in 2020", "the revenue of Microsoft in 2020"],
        ),
        (
            "What is the difference between a russian blue and a british blue cat?",
            ["a russian blue", "a british blue cat"],
        ),
        ("How does the balanced mode differ from the high mode?", ["the balanced mode", "the high mode"]),
        (
            "How does Apple's revenue compare to Microsoft's?",
            ["Apple's revenue", "Microsoft's revenue"],
        ),
        ("Is Apple more profitable than Microsoft?", ["Apple profitable", "Microsoft profitable"]),
        (
            "What was revenue in 2019, 2020 and 2021?",
            ["What was revenue in 2019?", "What was revenue in 2020?", "What was revenue in 2021?"],
        ),
        ("Revenue from 2019 to 2021", ["Revenue in 2019", "Revenue in 2020", "Revenue in 2021"]),
        ("Umsatz 2018 und 2019", ["Umsatz 2018", "Umsatz 2019"]),
        (
            "How did sales in 2020 change from those in 2021?",
            ["How did sales in 2020 change from those?", "How did sales change from those in 2021?"],
        ),
        (
            "What did Apple and Intel report?",
            ["What did Apple report?", "What did Intel report?"],
        ),
        (
            "What are the price and weight of the bicycle?",
            ["What are the price of the bicycle?", "What are the weight of the bicycle?"],
        ),
        ("Where do penguins live? What do they eat?", ["Where do penguins live?", "What do they eat penguins live"]),
    ],
)
def test_a_question_that_asks_several_things_is_taken_apart(question: str, parts: list[str]) -> None:
    assert decompose(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of France?",
        "How much was spent on research and development?",
        "What do the terms and conditions say?",
        "What happened in 2019?",
        "Who won the war?",
        "",
        "?",
        "and",
    ],
)
def test_a_simple_question_stays_whole(question: str) -> None:
    assert decompose(question) == []


def test_a_part_in_the_words_of_the_whole_question_is_not_searched_again() -> None:
    question = "Where do penguins live? What do they eat?"
    assert Decompose()(question, Notes()) == ["Where do penguins live?"]


def test_a_long_range_of_years_is_asked_for_by_its_ends() -> None:
    assert decompose("Revenue from 1990 to 2020") == ["Revenue in 1990", "Revenue in 2020"]


def test_there_are_never_more_than_six_parts() -> None:
    question = " ".join(f"What is the price of item number{n}?" for n in range(12))
    assert len(decompose(question)) == 6
