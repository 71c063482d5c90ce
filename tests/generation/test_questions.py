import pytest

from cragraph.generation.questions import MOST_PARTS, Kind, read_question, split_question


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
    ("question", "sentence", "offered"),
    [
        ("When was it opened?", "It was opened on 3 May 1932.", 1),
        ("When was it opened?", "It was opened by the mayor.", 0),
        ("When is it closed?", "It is closed on Mondays.", 1),
        ("When does it close?", "It closes at 5 pm.", 1),
        ("When in 1932 was it opened?", "It was opened in 1932.", 0),
        ("How many died?", "Twelve sailors died.", 1),
        ("Who led Apple?", "It was led by Tim Cook.", 1),
        ("Who led Apple?", "That year Apple was led well.", 0),
        ("What percentage left?", "Some 12.5% of them left.", 1),
        ("What percentage left?", "Some 12 of them left.", 0),
        ("Why did it fall?", "It fell because demand was weak.", 1),
        ("Which lock is red?", "The first one is.", None),
    ],
)
def test_a_sentence_offers_an_answer_only_if_it_has_one_that_the_question_lacks(
    question: str, sentence: str, offered: float | None
) -> None:
    assert read_question(question).answered_in_kind(sentence) == offered


@pytest.mark.parametrize(
    ("question", "sentence", "offered"),
    [
        ("When was Acme founded?", "It is a bank under the Bank Holding Company Act of 1956.", 0),
        ("When was Acme founded?", "It was founded in the May of 1956.", 1),
        ("What was Acme's total revenue in 2021?", "Its customers made up 13% of total revenue in 2021.", 0),
        ("What was Acme's total revenue in 2021?", "Total revenue was $81.3 billion in 2021.", 1),
        ("What was Acme's net income?", "Net income increased by $150 million.", 0),
        (
            "How many aircraft did Acme deliver?",
            "Most of the aircraft in stock at December 31, 2022 were delivered.",
            0,
        ),
        ("How much is paid?", "Whatever is not paid for 11 calendar months may be stopped.", 0),
        ("Who is the head of Acme?", "He is, since 2020, President and Chief Executive Officer.", 0),
        ("Who is the head of Acme?", "The head is, since 2020, of Acme Services.", 0),
        ("Who is the head of Acme?", "The head is Ann Lee.", 1),
    ],
)
def test_figures_and_names_of_something_else_are_no_answer(question: str, sentence: str, offered: float) -> None:
    assert read_question(question).answered_in_kind(sentence) == offered


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What were Adobe's net sales in FY2018?", ("Adobe",)),
        ("How did Q1 compare with Q2 2023?", ()),
        ("Who led Best Buy in May 2019?", ("Best Buy",)),
        ("Which orders of Kira Weber are open?", ("Kira Weber",)),
        ("When is the bakery open?", ()),
        ("Acme Tools: who founded it?", ("Acme Tools",)),
    ],
)
def test_years_quarters_months_and_possessives_are_no_names(question: str, names: tuple[str, ...]) -> None:
    assert read_question(question).names == names


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
