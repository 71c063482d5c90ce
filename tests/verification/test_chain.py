"""A chain of judges: the next one takes over, says so, and nothing is invented."""

from collections.abc import Callable, Sequence
from threading import Event
from typing import Any

import pytest

from cragraph.errors import ModelUnavailableError
from cragraph.protocols import Notes, deadline
from cragraph.types import Claim, Passage
from cragraph.verification.fallback import JudgeChain
from cragraph.verification.judges.verdicts import unjudged, verdict_of

Make = Callable[..., Any]


def broken(error: Exception) -> Callable[..., Any]:
    def script(claims: Sequence[Claim], passages: Sequence[Passage]) -> Any:
        raise error

    return script


def nan(claims: Sequence[Claim], passages: Sequence[Passage]) -> Any:
    return [verdict_of(claim, "supported", float("nan"), 0.0, None, "", "bad") for claim in claims]


FAILURES: dict[str, Callable[..., Any]] = {
    "an exception": broken(ModelUnavailableError("the server is away.")),
    "a bug": broken(KeyError("x")),
    "too few": lambda claims, passages: [unjudged(claims[0], "")],
    "nothing": lambda claims, passages: [],
    "none": lambda claims, passages: None,
    "garbage": lambda claims, passages: ["supported"] * len(claims),
    "not a number": nan,
}


@pytest.mark.parametrize("script", FAILURES.values(), ids=FAILURES)
def test_the_next_judge_takes_over_and_it_is_said(
    script: Callable[..., Any], scripted: Make, scoring: Make, claims: list[Claim], passages: list[Passage]
) -> None:
    notes, second = Notes(), scoring("second")
    verdicts = JudgeChain([scripted(script, "first"), second])(claims, passages, notes)
    assert [verdict["judge"] for verdict in verdicts] == ["second"] * 3
    [said] = notes.sentences
    assert said.startswith("Judge 'first' failed (")
    assert said.endswith("'second' took over.")
    assert notes.models["judge"] == "second"


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
