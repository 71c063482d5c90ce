from cragraph.search.questions import decompose


def test_there_are_never_more_than_six_parts() -> None:
    question = " ".join(f"What is the price of item number{n}?" for n in range(8))
    assert len(decompose(question)) == 6
