"""The decision on an answer, as a pure function, and what a verification makes of it."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.testing import verdict
from cragraph.types import OnLowConfidence, distinct_digits, doubt_of, standing
from cragraph.verification.decision import WORTH_SHOWING, Decision, Threshold, decide
from cragraph.verification.result import Verification
from tests.support.cases import cases

SHARE = st.floats(0, 1)
LOW = st.sampled_from(["doubt", "abstain", "flag", "prune"])
SETTERS = st.sampled_from(["default", "calibration", "person"])


def decided(confidence: float, at: float, low: OnLowConfidence, **about: bool) -> Decision:
    return decide(
        confidence, Threshold(at, "person"), low, **{"sound": True, "supported": True, "judged": True} | about
    )


@given(SHARE, SHARE, LOW, SETTERS, st.booleans(), st.booleans(), st.booleans())
def test_a_decision_follows_from_the_number_the_line_and_what_was_chosen(
    confidence: float, at: float, low: OnLowConfidence, who: str, sound: bool, supported: bool, judged: bool
) -> None:
    found = decide(confidence, Threshold(at, who), low, sound=sound, supported=supported, judged=judged)  # type: ignore[arg-type]
    at_line = round(confidence, 6) >= round(at, 6)
    assert found.accepted is (found.outcome == "accepted") is (at_line and sound and judged)
    assert found.reached is at_line
    if not found.accepted:
        assert (found.outcome == "refused") is (
            low == "abstain"
            or (low == "prune" and judged)
            or (low == "doubt" and judged and not (supported and round(confidence, 6) >= WORTH_SHOWING))
        )
    assert (found.confidence, found.threshold, found.set_by) == (confidence, at, who)
    assert found.why.endswith(".")
    assert Decision(**json.loads(json.dumps(asdict(found)))) == found
    assert bool(doubt_of(asdict(found))) is (found.outcome == "doubtful")
    assert f" · {found.outcome} · the threshold is {distinct_digits(confidence, at)[1]}" in standing(asdict(found))


@pytest.mark.parametrize(
    ("confidence", "low", "outcome"),
    cases("verification/decision", "abstain refuses flag shows"))  # fmt: skip
def test_abstain_refuses_flag_shows_and_where_nobody_chose_it_depends(
    confidence: float, low: OnLowConfidence, outcome: str
) -> None:
    assert decided(confidence, 0.9, low).outcome == outcome


def test_what_nobody_judged_is_shown_unless_somebody_chose_to_abstain() -> None:
    found = {low: decided(0.0, 0.7, low, judged=False).outcome for low in ("doubt", "flag", "prune", "abstain")}
    assert found == {"doubt": "doubtful", "flag": "doubtful", "prune": "doubtful", "abstain": "refused"}
    assert decided(0.0, 0.0, "abstain", judged=False).outcome == "refused"


def test_why_says_what_speaks_against_the_answer() -> None:
    assert decided(0.4, 0.7, "flag").why == "Confidence 0.40 is below the threshold of 0.70."
    assert decided(0.6996, 0.7, "flag").why == "Confidence 0.6996 is below the threshold of 0.7000."
    assert decided(0.7, 0.7, "flag").why == "Confidence 0.70 reaches the threshold of 0.70."
    assert decided(0.69999999, 0.7, "flag").why == "Confidence 0.70 reaches the threshold of 0.70."
    assert "do not support every claim" in decided(0.8, 0.7, "flag", sound=False).why
    doubted = decide(0.9, Threshold(0.7), "doubt", sound=True, supported=True, judged=True, doubts=("It may be 9.",))
    assert (doubted.outcome, doubted.why) == ("doubtful", "It may be 9.")
    assert "No judge could judge" in decided(0.8, 0.7, "flag", judged=False).why


@given(SHARE, SHARE, LOW, st.lists(st.sampled_from(["supported", "unsupported", "contradicted"]), max_size=4))
def test_grounded_never_stands_beside_a_refusal_or_a_number_below_the_line(
    confidence: float, at: float, low: OnLowConfidence, labels: list[str]
) -> None:
    claims = tuple(verdict(label) for label in labels)  # type: ignore[arg-type]
    found = Verification(confidence, claims, threshold=at, set_by="person", on_low_confidence=low)
    if found.is_grounded:
        assert found.decision.outcome != "refused"
        assert round(confidence, 6) >= round(at, 6)
        assert set(labels) <= {"supported", "unsupported"}
    assert found.accepted is found.to_dict()["accepted"] is found.summary()["accepted"]
