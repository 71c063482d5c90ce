from cragraph.search.questions import decompose


def test_a_long_range_of_years_is_asked_for_by_its_ends() -> None:
    assert decompose("Revenue from 1990 to 2020") == ["Revenue in 1990", "Revenue in 2020"]


def test_there_are_never_more_than_six_parts() -> None:
    question = " ".join(f"What is the price of item number{n}?" for n in range(8))
    assert len(decompose(question)) == 6
