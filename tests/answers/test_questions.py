import pytest

from cragraph.answers.questions import MOST_PARTS, Kind, read_question, split_question


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who discovered radium?", Kind.PERSON),
        ("which president signed it", Kind.PERSON),
        ("When was the bridge opened?", Kind.TIME),
        ("In which year did the war end?", Kind.TIME),
        ("Where is the head office?", Kind.PLACE),
        ("In what country is Normandy located?", Kind.PLACE),
        ("How many plants are there?", Kind.NUMBER),
        ("What is the population of Warsaw?", Kind.NUMBER),
        ("How much did it cost?", Kind.MONEY),
        ("What was the net income in 2019?", Kind.MONEY),
        ("What percentage of sales came from Asia?", Kind.PERCENT),
        ("Why did margins fall?", Kind.REASON),
        ("What caused the fire?", Kind.REASON),
        ("How does a lock work?", Kind.MANNER),
        ("What is a monad?", Kind.DEFINITION),
        ("What are the three methods?", Kind.LIST),
        ("Does it run on Windows?", Kind.YES_NO),
        ("Wann wurde die Brücke eröffnet?", Kind.TIME),
        ("Wie viele Einwohner hat Berlin?", Kind.NUMBER),
        ("Which chloroplast is red?", Kind.OTHER),
        ("", Kind.OTHER),
    ],
)
def test_the_wording_of_a_question_tells_what_it_asks_for(question: str, kind: Kind) -> None:
    assert read_question(question).kind is kind


@pytest.mark.parametrize(
    ("question", "all_of_them"),
    [
        ("Which orders are open?", True),
        ("List the exits.", True),
        ("Who placed order K-12?", False),
        ("What is the price of the lamp?", False),
    ],
)
def test_a_question_may_ask_for_every_one_there_is(question: str, all_of_them: bool) -> None:
    assert read_question(question).wants_all is all_of_them


def test_a_question_is_split_once_per_part_and_not_into_any_number() -> None:
    assert split_question("What were sales? When was it founded? What were sales?") == [
        "What were sales?", "When was it founded?"
    ]  # fmt: skip
    text = " ".join(f"What is the thing {n}?" for n in range(MOST_PARTS + 1))
    assert split_question(text) == [text]
