"""The two decisions of the loop."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cragraph.graph.context import Context
from cragraph.graph.routing import (
    EDGES,
    FIRST,
    after_rerank,
    after_verify,
    best,
)
from cragraph.graph.state import State
from cragraph.passages import as_passages
from cragraph.types import Attempt
from tests.support.cases import cases


def attempts(*confidences: float | None, new: int = 1, line: float = 0.7) -> list[Attempt]:
    return [
        Attempt(
            attempt=n,
            answer=f"answer {n}",
            confidence=confidence,
            is_grounded=None,
            accepted=None if confidence is None else confidence >= line,
            decision=None,
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
        ([], {"min_chunks": 0}, "finalize"),
    ],
    ids=str,
)
def test_the_evidence_gate_wants_enough_passages(held: Any, options: Any, goes_to: str) -> None:
    assert after_rerank(State(held=held, available=10), Context(**options)) == goes_to


@pytest.mark.parametrize(
    ("confidences", "options", "goes_to"),
    [
        ((0.7,), {}, "finalize"),
        ((0.69,), {}, "requery"),
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


@example([0.0, 0.5])
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_the_best_attempt_is_never_worse_than_any_and_the_earliest_of_equals(
    confidences: list[float],
) -> None:
    tried = attempts(*confidences)
    chosen = best(tried)
    assert chosen["confidence"] == max(confidences)
    assert chosen["attempt"] == confidences.index(max(confidences)) + 1


def with_claims(attempt: Attempt, *claims: tuple[str, str]) -> Attempt:
    """The attempt with claims of these types and verdicts."""
    return {**attempt, "verdicts": [{"type": type_, "verdict": verdict} for type_, verdict in claims]}  # type: ignore[typeddict-item]


FAULTY = [with_claims(attempts(0.3)[0], ("factual", "unsupported"))]
FAULTLESS = [with_claims(attempts(0.3)[0], ("factual", "supported"), ("opinion", "unsupported"))]


@pytest.mark.parametrize(("tried", "new", "goes_to"), cases("graph/routing", "a correction reads or"))
def test_a_correction_reads_or_is_asked_something_new(tried: list[Attempt], new: int, goes_to: str) -> None:
    state = State(held=scored(0.9, 0.8), available=10, attempts=tried, new_passages=new, models={"generator": "one"})
    assert after_rerank(state, Context()) == goes_to


@pytest.mark.parametrize(("confidences", "asks", "goes_to"), cases("graph/routing", "a person is asked"))
def test_a_person_is_asked_where_no_attempt_is_good_enough(confidences: Any, asks: bool, goes_to: str) -> None:
    context = Context(on_low_confidence="ask" if asks else "doubt", max_crag_attempts=0)
    assert after_verify(State(attempts=attempts(*confidences)), context) == goes_to


@pytest.mark.parametrize(("line", "goes_to"), [(0.3, "finalize"), (0.31, "requery")])
def test_what_was_decided_on_an_attempt_decides_and_nothing_else(line: float, goes_to: str) -> None:
    context = Context(confidence_threshold=0.9 if goes_to == "finalize" else 0.1)
    assert after_verify(State(attempts=attempts(0.3, line=line)), context) == goes_to


def test_the_table_of_edges_holds_every_node_and_leads_to_no_other() -> None:
    assert {name for edge in EDGES.values() for name in edge.to} | {FIRST} == EDGES.keys()
    assert [name for name, edge in EDGES.items() if len(edge.to) > 1] == [name for name, e in EDGES.items() if e.by]


def test_it_stops_at_the_deadline_and_after_a_part_failed() -> None:
    late = State(started=1.0, attempts=attempts(0.1))
    assert after_verify(late, Context(deadline_s=1.0)) == "finalize"
    assert after_verify(late, Context()) == "requery"
    assert after_verify(State(halted="the model is gone", attempts=attempts(0.1)), Context()) == "finalize"


def test_a_mode_asks_for_no_more_passages_than_there_are_but_high_does() -> None:
    state = State(held=scored(0.9), available=1)
    assert after_rerank(state, Context()) == "generate"
    assert after_rerank(state, Context(mode="high")) == "finalize"
