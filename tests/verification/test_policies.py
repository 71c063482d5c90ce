import re
from dataclasses import FrozenInstanceError
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.errors import InputError, SettingsError
from cragraph.testing import verdict
from cragraph.verification.policies import (
    POLICIES,
    calculate_confidence,
    checked_weights,
    clamp,
    confidence_of_labels,
)
from cragraph.verification.result import Verification, mean_support

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


@pytest.mark.parametrize(
    ("labels", "confidence"),
    [
        ([S], 1.0),
        ([S, S, S, S, S], 1.0),
        ([S, S, S, S, U], 0.7),  # 4/5 - 0.1
        ([S, S, S, U], 0.65),  # 3/4 - 0.1
        ([S, U], 0.4),  # 1/2 - 0.1
        ([S, S, U, U], 0.3),  # 2/4 - 0.2
        ([U], 0.0),  # 0 - 0.1, clamped
        ([S, S, S, S, P], 1.0),  # 4.5/5 + 0.1
        ([S, P], 0.85),  # 1.5/2 + 0.1
        ([P], 0.6),  # 0.5 + 0.1
        ([P, P, U], 0.233333333),  # 1/3 - 0.1
        ([S, C], 0.4),  # contradicted counts as unsupported
        ([S, U, C], 0.133333333),  # 1/3 - 0.2
        ([S, J], 0.5),  # neither penalty nor bonus
        ([J], 0.0),
        ([J, J], 0.0),
        ([], 0.0),  # nothing to be confident of
    ],
)
def test_the_claims_policy_gives_the_hand_computed_value(labels: list[str], confidence: float) -> None:
    assert calculate_confidence(labels) == pytest.approx(confidence, abs=1e-9)
    assert POLICIES["claims"]([verdict(label) for label in labels]) == pytest.approx(confidence, abs=1e-9)


def test_opinions_and_questions_are_not_counted_against_an_answer() -> None:
    claims = [verdict(S), verdict(U, type="opinion"), verdict(U, "Is it so?"), verdict(U, "Is “it” so?”")]
    assert calculate_confidence(claims) == 1.0
    assert calculate_confidence(Verification(confidence=0.0, claims=tuple(claims))) == 1.0


def test_an_answer_of_opinions_alone_is_worth_what_the_passages_hold_of_it() -> None:
    assert calculate_confidence([verdict(S, type="opinion")]) == 1.0
    assert calculate_confidence([verdict(U, type="opinion")]) == 0.0
    assert calculate_confidence([verdict(S, type="opinion"), verdict(U)]) == 0.0


def test_verdicts_without_a_type_may_stand_among_others() -> None:
    assert calculate_confidence([{"text": "A claim.", "verdict": S}, verdict(U)]) == pytest.approx(0.4)


def test_a_conditional_claim_counts() -> None:
    assert calculate_confidence([verdict(S), verdict(U, type="conditional")]) == 0.4


def test_labels_may_be_capitals_or_members_of_an_enumeration() -> None:
    class Status(Enum):
        SUPPORTED = "supported"
        UNSUPPORTED = "unsupported"

    assert calculate_confidence(["SUPPORTED", "UNSUPPORTED"]) == 0.4
    assert calculate_confidence([Status.SUPPORTED, Status.UNSUPPORTED]) == 0.4
    assert calculate_confidence([{"verdict": "supported"}, {"verdict": "unsupported"}]) == 0.4


@pytest.mark.parametrize("value", ["supported", 3, None, {"verdict": "supported"}])
def test_anything_but_a_verification_or_a_list_is_refused(value: object) -> None:
    with pytest.raises(InputError, match="wanted a Verification or a list of labels"):
        calculate_confidence(value)


def test_an_unknown_label_is_refused_with_those_that_exist() -> None:
    with pytest.raises(InputError, match=r"'true'; wanted one of supported, partially_supported, unsupported"):
        calculate_confidence(["true"])


@given(LABELS)
def test_confidence_stays_within_its_bounds(labels: list[str]) -> None:
    assert 0.0 <= confidence_of_labels(labels) <= 1.0


@given(LABELS)
def test_one_more_supported_claim_never_lowers_the_confidence(labels: list[str]) -> None:
    assert confidence_of_labels([*labels, S]) >= confidence_of_labels(labels)


@given(LABELS.filter(bool), st.data())
def test_supporting_a_claim_that_was_not_never_lowers_the_confidence(labels: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(labels) - 1))
    better = [*labels[:index], S, *labels[index + 1 :]]
    assert confidence_of_labels(better) >= confidence_of_labels(labels)


@given(LABELS)
def test_an_unjudged_claim_never_raises_the_confidence(labels: list[str]) -> None:
    assert confidence_of_labels([*labels, J]) <= confidence_of_labels(labels)


@given(LABELS)
def test_an_unsupported_claim_never_raises_the_confidence(labels: list[str]) -> None:
    assert confidence_of_labels([*labels, U]) <= confidence_of_labels(labels)


@given(LABELS, st.randoms())
def test_the_order_of_the_claims_does_not_matter(labels: list[str], random: object) -> None:
    shuffled = list(labels)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert confidence_of_labels(shuffled) == confidence_of_labels(labels)


def test_the_weighted_policy_gives_the_hand_computed_value() -> None:
    # 0.4 x 0.45 + 0.3 x 1.0 + 0.3 x 1.0
    signals = {"alignment": 0.45, "citation_coverage": 1.0, "fact_score": 1.0}
    assert POLICIES["weighted"]([], signals) == pytest.approx(0.78)


def test_each_weight_of_the_weighted_policy_is_its_own() -> None:
    names = ("alignment", "citation_coverage", "fact_score")
    values = [POLICIES["weighted"]([], dict.fromkeys(names, 0.0) | {name: 1.0}) for name in names]
    assert values == pytest.approx([0.4, 0.3, 0.3])


def test_the_reliability_policy_gives_the_hand_computed_value() -> None:
    # 0.3 x 0.8 + 0.25 x 0.6 + 0.25 x (1 - 0.2) + 0.2 x min(1, 0.5)
    assert POLICIES["reliability"]([], RELIABLE) == pytest.approx(0.69)


@pytest.mark.parametrize(
    ("signal", "lost"),
    [("retrieval_quality", 0.3), ("source_agreement", 0.25), ("internal_consistency", 0.2)],
)
def test_each_weight_of_the_reliability_policy_is_its_own(signal: str, lost: float) -> None:
    best = dict.fromkeys(RELIABLE, 1.0) | {"hallucination": 0.0}
    assert POLICIES["reliability"]([], best) == pytest.approx(1.0)
    assert POLICIES["reliability"]([], best | {signal: 0.0}) == pytest.approx(1.0 - lost)


def test_hallucination_costs_a_quarter_and_inconsistency_of_either_kind_a_fifth() -> None:
    best = dict.fromkeys(RELIABLE, 1.0) | {"hallucination": 0.0}
    assert POLICIES["reliability"]([], best | {"hallucination": 1.0}) == pytest.approx(0.75)
    assert POLICIES["reliability"]([], best | {"knowledge_consistency": 0.0}) == pytest.approx(0.8)


def test_the_similarity_policy_gives_the_hand_computed_value() -> None:
    # 0.35 x 0.9 + 0.40 x 0.85 + 0.25 x 0.8
    signals = {"relevance": 0.9, "faithfulness": 0.85, "completeness": 0.8, "uncertainty": 0.0}
    assert POLICIES["similarity"]([], signals) == pytest.approx(0.855)
    assert POLICIES["similarity"]([], signals | {"uncertainty": 1 / 3}) == pytest.approx(0.755)
    assert POLICIES["similarity"]([], dict.fromkeys(signals, 0.0) | {"uncertainty": 1.0}) == 0.0


@given(st.fixed_dictionaries({n: UNIT for p in POLICIES.values() for n in p.needs}), LABELS)
def test_every_policy_stays_within_its_bounds(signals: dict[str, float], labels: list[str]) -> None:
    for policy in POLICIES.values():
        assert 0.0 <= policy([verdict(label, judge="lexical") for label in labels], signals) <= 1.0


GOOD = {n: (-1 if n in ("hallucination", "uncertainty") else 1) for p in POLICIES.values() for n in p.needs}


@given(st.fixed_dictionaries(dict.fromkeys(GOOD, UNIT)), st.sampled_from(sorted(GOOD)), UNIT)
def test_a_better_signal_never_lowers_a_policy(signals: dict[str, float], name: str, other: float) -> None:
    ends = sorted((signals[name], other), key=lambda value: value * GOOD[name])
    for policy in POLICIES.values():
        worse, better = (policy([], signals | {name: value}) for value in ends)
        assert better >= worse


def test_a_policy_names_the_signals_that_it_misses() -> None:
    with pytest.raises(InputError, match=r"'weighted' came without citation_coverage, fact_score; it needs"):
        POLICIES["weighted"]([], {"alignment": 1.0})


def test_custom_weights_take_the_place_of_the_defaults() -> None:
    weights = {"alignment": 0.0, "citation": 0.0, "facts": 1.0}
    signals = {"alignment": 0.1, "citation_coverage": 0.1, "fact_score": 0.9}
    assert POLICIES["weighted"]([], signals, weights) == pytest.approx(0.9)
    half = {"retrieval_quality": 0.5, "source_agreement": 0.05}  # 0.25 and 0.2 stay
    assert POLICIES["reliability"]([], RELIABLE, half) == pytest.approx(0.5 * 0.8 + 0.05 * 0.6 + 0.25 * 0.8 + 0.2 * 0.5)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"retrieval_quality": 0.5}, "(sum 1.2); wanted weights of 0..1 that sum to 1"),
        ({"retrieval_quality": 1.3, "source_agreement": -0.75}, "retrieval_quality=1.3"),
        ({"trust": 0.1}, "has no weight trust; it has retrieval_quality, source_agreement"),
    ],
)
def test_weights_that_do_not_add_up_are_refused(weights: dict[str, float], message: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(message)):
        checked_weights(POLICIES["reliability"], weights)


def test_weights_may_sum_to_one_as_floats_do() -> None:
    weights = {"relevance": 0.1, "faithfulness": 0.2, "completeness": 0.7}
    assert checked_weights(POLICIES["similarity"], weights) == weights
    assert checked_weights(POLICIES["similarity"], {}) == POLICIES["similarity"].weights
    with pytest.raises(SettingsError, match="has no weight facts; it has none"):
        checked_weights(POLICIES["claims"], {"facts": 1.0})


def test_nan_is_an_error_and_never_a_confidence() -> None:
    with pytest.raises(InputError, match="NaN"):
        clamp(float("nan"))


def test_verdicts_and_labels_in_one_list_are_refused_not_dropped() -> None:
    with pytest.raises(InputError, match="wanted one of supported"):
        calculate_confidence([verdict(S), "unsupported"])


def test_a_policy_cannot_be_changed_in_passing() -> None:
    with pytest.raises(FrozenInstanceError):
        POLICIES["claims"].needs = ("fact_score",)  # type: ignore[misc]


def test_no_claims_have_no_support() -> None:
    assert mean_support([]) == 0.0


def test_the_default_weights_of_every_policy_sum_to_one() -> None:
    for policy in POLICIES.values():
        assert sum(policy.weights.values()) == pytest.approx(1.0 if policy.weights else 0.0)
