"""What became of a question, and the figures over many."""

import pytest

from lab.evals.answers import AskedRow, Outcome, cause, figures, run

BUILT, RED, HEADING = "It was built in 1894.", "The bridge is painted red every year.", "The Bridge of Ayr"
ROW = AskedRow("1", "When was the bridge built?", (f"{BUILT} {HEADING}. It is red.",), ("1894",), (), True)
NONE = AskedRow("2", "Who painted it?", ("It is red.",), (), (), False)


@pytest.mark.parametrize(
    ("row", "text", "abstained", "shortlist", "said"),
    [
        (ROW, BUILT, False, (BUILT,), "right"),
        (ROW, BUILT, True, (BUILT,), "right, but refused"),
        (ROW, "", True, (BUILT, RED), "stood first, but refused"),
        (ROW, RED, False, (RED, BUILT), "stood second"),
        (ROW, HEADING, False, (HEADING, BUILT), "a heading or fragment stood first"),
        (ROW, "It closed in 1990.", False, ("It closed in 1990.", BUILT), "stood second"),
        (ROW, RED, False, (RED,), "not in the shortlist"),
        (ROW, RED, False, (), "another sentence chosen"),
        (AskedRow("3", "When?", ("It is red.",), ("1894",), (), True), RED, False, (RED,), "not in the passages"),
        (NONE, "", True, (RED,), "rightly refused"),
        (NONE, RED, False, (RED,), "answered without an answer"),
    ],
)
def test_every_question_has_one_cause(
    row: AskedRow, text: str, abstained: bool, shortlist: tuple[str, ...], said: str
) -> None:
    assert cause(row, Outcome(text, 0.5, abstained, shortlist=shortlist), row.is_right(text)) == said


def test_the_oracle_takes_the_right_one_of_the_shortlist_and_refuses_the_rest() -> None:
    found = figures([ROW, NONE], [Outcome(RED, 0.6, False, 0, (RED, BUILT)), Outcome(RED, 0.4, False, 0, (RED,))])
    assert (found["utility"], found["oracle"], found["precision"]) == (0, 1, 0)
    assert found["causes"] == {"stood second": 1, "answered without an answer": 1}


def test_progress_is_told_as_a_bar_wants_it() -> None:
    told: list[tuple[int, int]] = []
    run({"one": [ROW, NONE]}, {"refuser": lambda *_: Outcome("", 0.0, True)}, lambda *counts: told.append(counts))
    assert told == [(1, 2), (2, 2)]
