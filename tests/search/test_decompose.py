from cragraph.protocols import Notes
from cragraph.search.questions import Decompose, decompose


def test_a_part_in_the_words_of_the_whole_question_is_not_searched_again() -> None:
    question = "Where do penguins live? What do they eat?"
    assert Decompose()(question, Notes()) == ["Where do penguins live?"]


def test_a_long_range_of_years_is_asked_for_by_its_ends() -> None:
    assert decompose("Revenue from 1990 to 2020") == ["Revenue in 1990", "Revenue in 2020"]


def test_there_are_never_more_than_six_parts() -> None:
    question = " ".join(f"What is the price of item number{n}?" for n in range(8))
    assert len(decompose(question)) == 6
