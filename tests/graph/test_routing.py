"""The two decisions of the loop."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.graph.context import Context
from cragraph.graph.routing import after_rerank, after_verify, best, progressed
from cragraph.graph.state import State
from cragraph.passages import as_passages
from cragraph.types import Attempt


def attempts(*confidences: float | None, new: int = 1) -> list[Attempt]:
    return [
        Attempt(
            attempt=n,
            answer=f"answer {n}",
            confidence=confidence,
            is_grounded=None,
            claims_checked=1,
            claims_supported=1,
            new_passages=new,
            queries=[],
        )
        for n, confidence in enumerate(confidences, 1)
    ]


def scored(*scores: float) -> list[Any]:
    return [p | {"rerank_score": s} for p, s in zip(as_passages([f"text {s}" for s in scores]), scores, strict=True)]


@pytest.mark.parametrize(
    ("held", "options", "goes_to"),
    [
        (scored(0.9, 0.8), {}, "generate"),
        (scored(0.9), {}, "finalize"),
        (scored(0.9), {"mode": "low"}, "generate"),
        (scored(0.9, 0.8), {"mode": "high"}, "finalize"),
        (scored(0.9, 0.8, 0.7), {"mode": "high"}, "generate"),
        (scored(0.9), {"min_chunks": 1}, "generate"),
        (scored(0.9), {"mode": "high", "min_chunks": 1}, "generate"),
        (scored(0.9, 0.1), {"relevance_floor": 0.2}, "finalize"),
        (scored(0.9, 0.2), {"relevance_floor": 0.2}, "generate"),
        ([], {"min_chunks": 0}, "finalize"),
    ],
    ids=str,
)
def test_the_evidence_gate_wants_enough_relevant_passages(held: Any, options: Any, goes_to: str) -> None:
    assert after_rerank(State(held=held, available=10), Context(**options)) == goes_to


def test_a_mode_asks_for_no_more_passages_than_there_are_but_high_does() -> None:
    state = State(held=scored(0.9), available=1)
    assert after_rerank(state, Context()) == "generate"
    assert after_rerank(state, Context(mode="high")) == "finalize"


def test_a_given_answer_is_judged_even_without_evidence() -> None:
    assert after_rerank(State(drafts=["given"], held=[]), Context()) == "generate"


@pytest.mark.parametrize(
    ("confidences", "options", "goes_to"),
    [
        ((0.7,), {}, "finalize"),
        ((0.69,), {}, "requery"),
        ((0.1,), {"confidence_threshold": 0.1}, "finalize"),
        ((0.1,), {"crag": False}, "finalize"),
        ((0.1,), {"max_crag_attempts": 0}, "finalize"),
        ((0.1, 0.2), {"max_crag_attempts": 1}, "finalize"),
        ((0.1, 0.2), {"max_crag_attempts": 2}, "requery"),
        ((0.1, 0.2, 0.3), {"max_crag_attempts": 2}, "finalize"),
        ((None,), {}, "finalize"),
    ],
    ids=str,
)
def test_it_corrects_below_the_threshold_while_attempts_are_left(confidences: Any, options: Any, goes_to: str) -> None:
    assert after_verify(State(attempts=attempts(*confidences)), Context(**options)) == goes_to


def test_it_stops_when_a_pass_found_nothing_new_and_was_no_better() -> None:
    assert after_verify(State(attempts=attempts(0.3, 0.3, new=0)), Context()) == "finalize"
    assert after_verify(State(attempts=attempts(0.3, 0.4, new=0)), Context()) == "requery"
    assert after_verify(State(attempts=attempts(0.3, 0.2, new=1)), Context()) == "requery"


def test_it_stops_at_the_deadline_and_after_a_part_failed() -> None:
    late = State(started=1.0, attempts=attempts(0.1))
    assert after_verify(late, Context(deadline_s=1.0)) == "finalize"
    assert after_verify(late, Context()) == "requery"
    assert after_verify(State(halted="the model is gone", attempts=attempts(0.1)), Context()) == "finalize"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_the_best_attempt_is_never_worse_than_any_and_the_earliest_of_equals(
    confidences: list[float],
) -> None:
    tried = attempts(*confidences)
    chosen = best(tried)
    assert chosen["confidence"] == max(confidences)
    assert chosen["attempt"] == confidences.index(max(confidences)) + 1


def test_the_first_pass_always_counts_as_progress() -> None:
    assert progressed(attempts(0.0, new=0))
