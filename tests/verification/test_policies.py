import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.errors import InputError, SettingsError
from cragraph.testing import verdict
from cragraph.verification.policies import (
    POLICIES,
    calculate_confidence,
    checked_weights,
    confidence_of_labels,
)
from tests.support.cases import cases

S, P, U, C, J = "supported", "partially_supported", "unsupported", "contradicted", "unjudged"
LABELS = st.lists(st.sampled_from([S, P, U, C, J]), max_size=12)
UNIT = st.floats(0, 1)

RELIABLE = {
    "retrieval_quality": 0.8,
    "source_agreement": 0.6,
    "hallucination": 0.2,
    "internal_consistency": 1.0,
    "knowledge_consistency": 0.5,
}


@pytest.mark.parametrize(("labels", "confidence"), cases("verification/policies", "the claims policy gives"))
def test_the_claims_policy_gives_the_hand_computed_value(labels: list[str], confidence: float) -> None:
    assert calculate_confidence(labels) == pytest.approx(confidence, abs=1e-9)
    assert POLICIES["claims"]([verdict(label) for label in labels]) == pytest.approx(confidence, abs=1e-9)


@pytest.mark.parametrize("value", ["supported", 3, None, {"verdict": "supported"}])
def test_anything_but_a_verification_or_a_list_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="wanted a Verification or a list of labels"):
        calculate_confidence(value)


@given(LABELS.filter(bool), st.data())
def test_supporting_a_claim_that_was_not_never_lowers_the_confidence(labels: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(labels) - 1))
    better = [*labels[:index], S, *labels[index + 1 :]]
    assert confidence_of_labels(better) >= confidence_of_labels(labels)


@given(LABELS)
def test_an_unjudged_claim_never_raises_the_confidence(labels: list[str]) -> None:
    assert confidence_of_labels([*labels, J]) <= confidence_of_labels(labels)


def test_the_weighted_policy_gives_the_hand_computed_value() -> None:
    # 0.4 x 0.45 + 0.3 x 1.0 + 0.3 x 1.0
    signals = {"alignment": 0.45, "citation_coverage": 1.0, "fact_score": 1.0}
    assert POLICIES["weighted"]([], signals) == pytest.approx(0.78)


def test_the_reliability_policy_gives_the_hand_computed_value() -> None:
    # 0.3 x 0.8 + 0.25 x 0.6 + 0.25 x (1 - 0.2) + 0.2 x min(1, 0.5)
    assert POLICIES["reliability"]([], RELIABLE) == pytest.approx(0.69)


def test_the_similarity_policy_gives_the_hand_computed_value() -> None:
    # 0.35 x 0.9 + 0.40 x 0.85 + 0.25 x 0.8
    signals = {"relevance": 0.9, "faithfulness": 0.85, "completeness": 0.8, "uncertainty": 0.0}
    assert POLICIES["similarity"]([], signals) == pytest.approx(0.855)
    assert POLICIES["similarity"]([], signals | {"uncertainty": 1 / 3}) == pytest.approx(0.755)
    assert POLICIES["similarity"]([], dict.fromkeys(signals, 0.0) | {"uncertainty": 1.0}) == 0.0


GOOD = {n: (-1 if n in ("hallucination", "uncertainty") else 1) for p in POLICIES.values() for n in p.needs}


@given(st.fixed_dictionaries(dict.fromkeys(GOOD, UNIT)), st.sampled_from(sorted(GOOD)), UNIT)
def test_a_better_signal_never_lowers_a_policy(signals: dict[str, float], name: str, other: float) -> None:
    ends = sorted((signals[name], other), key=lambda value: value * GOOD[name])
    for policy in POLICIES.values():
        worse, better = (policy([], signals | {name: value}) for value in ends)
        assert better >= worse


@pytest.mark.parametrize(("weights", "message"), cases("verification/policies", "weights that do not"))
def test_weights_that_do_not_add_up_are_refused(weights: dict[str, float], message: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)):
        checked_weights(POLICIES["reliability"], weights)
