"""Edges of the two decisions that a mutation check found untested."""

import pytest

from cragraph.graph.context import Context
from cragraph.graph.routing import after_rerank, out_of_time, progressed, relevance, wanted_chunks
from cragraph.graph.state import State
from cragraph.passages import as_passages
from cragraph.types import Attempt


def attempts(*confidences: float | None, line: float = 0.7) -> list[Attempt]:
    return [
        Attempt(
            attempt=number,
            answer="x",
            confidence=confidence,
            is_grounded=None,
            accepted=None if confidence is None else confidence >= line,
            decision=None,
            claims_checked=1,
            claims_supported=1,
            new_passages=0,
            queries=[],
        )
        for number, confidence in enumerate(confidences, 1)
    ]


def test_a_passage_that_nobody_scored_is_wholly_relevant() -> None:
    assert relevance(as_passages(["x"])[0]) == 1.0


@pytest.mark.parametrize(
    ("confidences", "expected"),
    [
        ((0.2, 0.6, 0.4), False),  # better than the worst before it, not than the best
        ((0.2, 0.6, 0.7), True),
        ((None, 0.1), True),
        ((0.1, None), False),
        ((None, None), False),
        ((1.0, 1.0), False),
    ],
)
def test_progress_is_measured_against_the_best_attempt_before(
    confidences: tuple[float | None, ...], expected: bool
) -> None:
    assert progressed(attempts(*confidences)) is expected


@pytest.mark.parametrize(("now", "over"), [(109.0, False), (110.0, True), (111.0, True)])
def test_the_deadline_counts_from_the_start_of_the_run(now: float, over: bool) -> None:
    assert out_of_time(State(started=100.0), Context(deadline_s=10.0), now) is over
    assert not out_of_time(State(started=100.0), Context(), now)


@pytest.mark.parametrize(("available", "wanted"), [(0, 1), (1, 1), (2, 2), (9, 2)])
def test_a_small_store_asks_for_no_more_passages_than_it_holds_but_for_one(available: int, wanted: int) -> None:
    assert wanted_chunks(State(available=available), Context()) == wanted


def test_no_minimum_at_all_still_wants_one_passage() -> None:
    context = Context(min_chunks=0)
    assert wanted_chunks(State(available=9), context) == 0
    assert after_rerank(State(available=9), context) == "finalize"
    assert after_rerank(State(available=9, held=as_passages(["x"])), context) == "generate"
