"""What was decided on an answer, through the loop: the same in the state, the response, and all that shows it."""

import json
from dataclasses import asdict
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.answers.extractive import ExtractiveGenerator
from cragraph.answers.later import Otherwise
from cragraph.answers.quotations import ALONE, READ
from cragraph.cli import render
from cragraph.cli.ask import EXITS
from cragraph.graph.context import Context
from cragraph.graph.state import State
from cragraph.log import record
from cragraph.nodes.verify import Verify
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.report import Report
from cragraph.testing import FakeReranker, verdict
from cragraph.types import IDK
from cragraph.verification.evidence import updated
from cragraph.verification.result import Verification
from tests.nodes.test_loop import BLUE, SEA, SKY, Loop, Reader

LOW = ("doubt", "abstain", "flag", "prune")
PASSAGES = ["The sea is salt.", "The sky is blue by day."]


@settings(max_examples=60)
@given(
    st.sampled_from([SEA, SKY, f"{SEA} {SKY}", f"{SEA} {BLUE}", "I think the sea is lovely."]),
    st.sampled_from([None, 0.0, 0.2, 0.41, 0.5, 0.7, 0.9, 1.0]),
    st.sampled_from(LOW),
    st.sampled_from(["auto", "claims", "weighted", "reliability"]),
    st.sampled_from([None, 0.2, 0.44, 0.95]),
)
def test_function_graph_and_everything_shown_say_the_same(
    answer: str, threshold: float | None, low: Any, policy: Any, probability: float | None
) -> None:
    given: dict[str, Any] = {"on_low_confidence": low, "policy": policy, "max_crag_attempts": 0, "show_claims": True}
    if threshold is not None:
        given["confidence_threshold"] = threshold
    loop = Loop([answer], scorer=None if probability is None else Reader(probability), **given)
    context, passages = Context(**given), FakeReranker()("", as_passages(PASSAGES), Notes())
    asked: dict[str, Any] = {"answer": answer, "passages": PASSAGES}

    alone = loop.acts["verify"].verifier("Is the sea salt?", answer, passages, Notes(), **context.judging)
    response = loop.ask(context=context, **asked)
    [attempt] = response["attempts"]
    assert attempt["decision"] == asdict(alone.decision) == attempt["verification"]["decision"]
    assert attempt["accepted"] is alone.accepted
    line = 0.7 if threshold is None else threshold
    decision = response["decision"]
    assert (decision["threshold"], decision["set_by"]) == (line, "default" if threshold is None else "person")
    assert json.loads(json.dumps(response)) == response

    # One outcome, in every field.
    outcome = decision["outcome"]
    assert response["abstained"] is (outcome == "refused") is (response["answer"] == IDK)
    assert response["accepted"] is response["verification"]["accepted"] is (outcome == "accepted")
    assert response["is_grounded"] is response["verification"]["is_grounded"]
    assert response["confidence"] == decision["confidence"] == response["verification"]["confidence"]
    if response["is_grounded"] or response["accepted"]:
        assert round(response["confidence"], 6) >= round(line, 6)
    if response["is_grounded"]:
        assert outcome != "refused"
    if outcome != "accepted":
        assert any(issue in decision["why"] for issue in response["issues"])

    # And in everything that shows it.
    assert EXITS.get(outcome, 0) == {"accepted": 0, "refused": 3, "doubtful": 5}[outcome]
    assert render.answer_line(response).plain.startswith("Doubtful (") is (outcome == "doubtful")
    assert (f"· {outcome} ·" in render.verdict_line(response).plain) is (outcome != "doubtful")
    page = str(Report(response, PASSAGES))
    assert f'<article class="cragraph {outcome}">' in page
    assert ('<p class="badge doubtful"><b>? Doubtful' in page) is (outcome == "doubtful")
    assert (record(response)["decision"], record(response)["accepted"]) == (outcome, response["accepted"])


@pytest.mark.parametrize("low", LOW)
@pytest.mark.parametrize("threshold", [0.95, 1.0])
def test_a_threshold_that_a_person_set_is_in_force_whatever_happens_below_it(threshold: float, low: Any) -> None:
    context = Context(confidence_threshold=threshold, on_low_confidence=low)
    response = Loop(scorer=Reader(0.94)).ask(context=context)
    assert (response["confidence"], response["accepted"], response["is_grounded"]) == (0.94, False, False)
    assert response["decision"]["set_by"] == "person"
    assert response["abstained"] is (low == "abstain")
    assert response["issues"][0] == f"Confidence 0.94 is below the threshold of {threshold:.2f}."


@pytest.mark.parametrize("policy", ["claims", "weighted"])
def test_a_withheld_sentence_stands_nowhere_in_the_response(policy: Any) -> None:
    loop = Loop([f"{SEA} {SKY}"], policy=policy, crag=False, on_low_confidence="abstain", confidence_threshold=1.0)
    response = loop.ask()
    assert response["abstained"]
    assert SKY[:-1] not in str(response)


class Broken(FakeReranker):
    """Fails, or returns what it was not given."""

    def __init__(self, how: str) -> None:
        super().__init__("mine")
        self.how = how

    def __call__(self, query: str, passages: Any, notes: Notes) -> Any:
        match self.how:
            case "raises":
                raise RuntimeError("out of memory")
            case "strangers":
                return as_passages(["Something else."])
            case "scores":
                return [{**passage, "rerank_score": float("nan")} for passage in passages]
        return None


@pytest.mark.parametrize("how", ["raises", "strangers", "scores", "nothing"])
def test_a_reranker_that_fails_leaves_the_order_of_the_search_and_is_noted(how: str) -> None:
    loop = Loop()
    object.__setattr__(loop.acts["rerank"], "reranker", Broken(how))
    response = loop.ask()
    assert response["answer"].startswith(SEA[:-1])
    assert any("The reranker 'mine' failed" in sentence for sentence in response["degraded"])


def test_of_several_drafts_an_accepted_one_goes_before_a_surer_one_that_does_not_hold() -> None:
    held = {"text": SEA, "start": 0, "support": 0.9}
    found = {
        "sure": Verification(0.95, (verdict("unsupported", **held),), policy="calibrated", threshold=0.7),
        "held": Verification(0.8, (verdict("supported", **held),), policy="calibrated", threshold=0.7),
    }
    judge: Any = lambda question, answer, *_, **__: found[answer]  # noqa: E731
    state = State(question="Is the sea salt?", drafts=["sure", "held"], held=as_passages([SEA]))
    [attempt] = Verify(judge)(state, Context().resolved(), Notes())["attempts"]
    assert (attempt["answer"], attempt["accepted"]) == ("held", True)


@pytest.mark.parametrize(
    ("searched", "before", "looks"),
    [(["is the sea salt"], [], True), ([], [["is the sea salt"], []], True), ([], [], False), ([], [[]], False)],
)
def test_a_later_document_is_looked_for_in_every_attempt_of_a_run_that_searched(
    searched: list[str], before: list[list[str]], looks: bool
) -> None:
    """Without a query left, the last attempt of a run searches nothing itself; a caller's passages are all there is."""
    judge: Any = lambda *_, ratio, **__: Verification(  # noqa: E731
        round(0.9 * min(ratio, 1.0), 2), (verdict("supported", text=SEA, start=0, support=0.9),), threshold=0.7
    )
    later: Any = lambda *_: Otherwise("From May the sea is sweet.", "minutes.md", 3.0)  # noqa: E731
    state = State(
        question="Is the sea salt?",
        drafts=[f"{SEA} [1]"],
        held=as_passages([SEA]),
        searched=searched,
        attempts=[cast(Any, {"queries": queries}) for queries in before],
        models={"generator": ExtractiveGenerator.name},
    )
    attempt = Verify(judge, rereads=lambda *_: (0.5, 9.0), later=later)(state, Context().resolved(), Notes())[
        "attempts"
    ][-1]
    assert attempt["accepted"] is not looks


@pytest.mark.parametrize(
    ("odds", "confidence", "told"), [(-6.0, 0.9, 0), (-2.6, 0.9, 0), (-1.0, 0.52, 1), (3.0, 0.05, 1)]
)
def test_what_no_later_document_is_likely_to_change_is_as_sure_as_before(
    odds: float, confidence: float, told: int
) -> None:
    judge: Any = lambda *_, ratio, **__: Verification(  # noqa: E731
        updated(0.9, min(ratio, 1.0)), (verdict("supported", text=SEA, start=0, support=0.9),), threshold=0.7
    )
    later: Any = lambda *_: Otherwise("From May the sea is sweet.", "minutes.md", odds)  # noqa: E731
    state = State(
        question="Is the sea salt?",
        drafts=[f"{SEA} [1]"],
        held=as_passages([SEA]),
        searched=["is the sea salt"],
        models={"generator": ExtractiveGenerator.name},
    )
    node = Verify(judge, rereads=lambda *_: (0.5, -ALONE / READ), later=later)
    [attempt] = node(state, Context().resolved(), Notes())["attempts"]
    assert attempt["confidence"] == pytest.approx(confidence, abs=0.05)
    assert sum("later document" in issue for issue in attempt["verification"]["issues"]) == told
