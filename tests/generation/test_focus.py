from collections import defaultdict

import pytest

from cragraph.generation.candidates import Candidate
from cragraph.generation.focus import Focus, focus_of
from cragraph.generation.questions import read_question


def focus(question: str) -> Focus:
    return focus_of(read_question(question), defaultdict(lambda: 1.0))


def fit(question: str, text: str, document: str = "", kind: float = 1.0, likeness: float = 0.0) -> float:
    return focus(question).fit(Candidate(0, 0, len(text), text), kind, document, likeness)


def test_the_focus_leaves_out_names_years_and_words_for_spans_of_time() -> None:
    found = focus("How many stores did Acme Tools operate at the end of fiscal 2023?")
    assert set(found.words) == {"store", "oper"}
    assert (found.question.names, found.years) == (("Acme Tools",), {"2023"})


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("When was Acme founded?", "Acme was established in 1850.", "Acme is a bank under the law of 1956."),
        (
            "Who is the CEO of Acme?",
            "Ann Lee is chief executive of Acme.",
            "Bob Ray is chief financial officer of Acme.",
        ),
        ("Who runs Acme?", "Ann Lee runs Acme.", "Ann Lee runs Acme Paints."),
        ("Who runs Acme?", "Ann Lee runs Acme.", "Ann Lee runs Bolt."),
        ("Who is head of Acme?", "Ann Lee is head of Acme.", "Ann Lee was previously head of Acme."),
        ("What were sales in 2023?", "Sales were $5 in 2023.", "Sales were $5 in 2021, too."),
        ("What was paid per share?", "They paid $5 per share.", "They paid $5 in all for the share."),
        ("What was the revenue?", "Revenue was $5.", "The remaining variation in revenue is $5."),
    ],
)
def test_a_candidate_that_strays_from_the_question_loses(question: str, better: str, worse: str) -> None:
    assert fit(question, better) == 1.0
    assert fit(question, worse) < 0.8


def test_a_name_may_be_known_from_the_document() -> None:
    text = "We were founded in 1850."
    assert fit("When was Acme Tools founded?", text, "ACMETOOLS_2022.pdf") == 1.0
    assert fit("When was Acme Tools founded?", text, "BOLT_2022.pdf") < 1.0


def test_a_heading_does_not_cover_the_focus() -> None:
    text = "It opened."
    below = Candidate(0, 0, len(text), text, context="Dividends")
    assert focus("What are dividends?").covered(below) == 0.0


def test_a_figure_that_is_not_offered_costs() -> None:
    assert fit("How many stores are there?", "There are stores.", kind=0.0) < 0.8


def test_likeness_stands_in_for_some_words_but_not_for_all() -> None:
    question = "Why did the quick brown foxes of Acme jump?"
    some, none = "The foxes at Acme were in a hurry.", "Those at Acme were in a hurry."
    assert fit(question, some, likeness=0.9) > fit(question, some)
    assert fit(question, none, likeness=0.9) == fit(question, none)
