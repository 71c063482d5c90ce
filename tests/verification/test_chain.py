"""A chain of judges: the next one takes over, says so, and nothing is invented."""

from collections.abc import Callable
from threading import Event
from typing import Any

from cragraph.protocols import Notes, deadline
from cragraph.types import Claim, Passage
from cragraph.verification.judges import JudgeChain

Make = Callable[..., Any]


def test_the_deadline_of_the_run_stops_a_slow_judge_and_the_last_one_judges(
    scripted: Make, scoring: Make, claims: list[Claim], passages: list[Passage]
) -> None:
    release, notes, second = Event(), Notes(), scoring("second")
    slow = scripted(lambda claims, passages: release.wait(), "slow")
    with deadline(0.05):
        verdicts = JudgeChain([slow, second, scoring("last")])(claims, passages, notes)
    release.set()
    assert {verdict["judge"] for verdict in verdicts} == {"last"}
    assert second.asked == []
    assert notes.sentences[1] == (
        "Judge 'second' failed (TimeoutError: the deadline of the run has passed); 'last' took over."
    )
