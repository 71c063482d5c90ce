import pytest

from cragraph.answers.yes_no import lead


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        ("Is the museum open on Mondays?", "The museum is closed on Mondays. [1]", "No"),
        ("Is the museum open on Mondays?", "The museum is open on Mondays. [1]", "Yes"),
        ("Was the grant approved?", "The council approved the grant in June. [2]", "Yes"),
        ("Has the lease been signed?", "The lease was signed on 3 May. [1]", "Yes"),
        ("Must visitors sign in?", "All visitors must sign in at the gate. [1]", "Yes"),
        ("May guests use the sauna?", "Guests may not use the sauna. [1]", "No"),
        ("Is smoking allowed on the balcony?", "Smoking is forbidden in the house and on the balcony. [1]", "No"),
        ("Is there a lift in the building?", "The building has no lift. [1]", "No"),
    ],
)
def test_a_sentence_that_is_the_question_but_for_what_says_so_has_a_lead(question: str, answer: str, said: str) -> None:
    assert lead(question, answer) == said


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is the pool heated in winter?", "The pool is heated from May to September. [1]"),
        ("Are dogs allowed in the café?", "Dogs are allowed in the café if they are kept on a lead. [1]"),
        ("Do members pay a fee?", "Not all members pay a fee. [1]"),
        ("Do all members pay a fee?", "Members pay a fee. [1]"),
        ("Will the shop open on Sunday?", "The shop opened on Sunday. [1]"),
        ("Is the tile cutter dearer than the drill?", "The drill is dearer than the tile cutter. [1]"),
        ("Did Ann Lee sell the mill to Bob Hart?", "Bob Hart sold the mill to Ann Lee. [1]"),
        ("Is the hall or the loft open on Mondays?", "The hall is open on Mondays. [1]"),
        ("When is the museum open?", "The museum is open on Mondays. [1]"),
        ("Is the museum open on Mondays?", "The museum is open on Mondays. [1] The museum is closed on Mondays. [2]"),
        ("Is the mill not open on Mondays?", "The mill is closed on Mondays. [1]"),
        ("Is the museum open on Mondays?", "Yes, the museum is open on Mondays. [1]"),
        ("Is it?", "It is. [1]"),
        ("", ""),
    ],
)
def test_what_is_bounded_turned_round_or_said_both_ways_has_none(question: str, answer: str) -> None:
    assert lead(question, answer) is None
