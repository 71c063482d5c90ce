import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.errors import InputError, WeightsError
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.testing import quoted, verdict
from cragraph.types import Label, Verdict
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.decision import Line
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.policies import (
    FITTED,
    Curve,
    Own,
    best_policy,
    calibrated_confidence,
    curves,
    has_curve,
    line_of,
)
from cragraph.verification.result import word_for_word
from cragraph.verification.verifier import Verifier

CURVE = Curve(slope=2.0, bias=-0.5, worst=0.5, number=-0.2, thresholds={"0.1": 0.4, "0.2": 0.5})
PASSAGES = as_passages(["The mill opened in 1820. It burned down in 1901."])
SHARE = st.floats(0.0, 1.0)


def judged(support: float, label: Label = "supported", **other: object) -> Verdict:
    return verdict(label, support=support, judge="lexical", **other)  # type: ignore[arg-type]


def test_the_curve_gives_the_hand_computed_values() -> None:
    # logit(0.8) = 1.3863; twice that less a half: 2.2726
    assert CURVE.claim(0.8) == pytest.approx(0.9066, abs=1e-4)
    # logits 1.3863 and 0: the mean 0.6931, half of the way to 0 is 0.3466, less 0.2 ln 2: 0.2079
    assert CURVE.answer([0.8, 0.5]) == pytest.approx(0.5518, abs=1e-4)


@given(SHARE)
def test_an_answer_of_one_claim_has_the_chance_of_that_claim(chance: float) -> None:
    for curve in curves().values():
        assert curve.answer([chance]) == pytest.approx(min(0.995, max(0.005, chance)))


@given(st.lists(SHARE, min_size=1, max_size=6), st.data())
def test_more_support_for_a_claim_never_lowers_the_confidence(supports: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(supports) - 1))
    raised = list(supports)
    raised[place] = data.draw(st.floats(supports[place], 1.0))
    for curve in curves().values():
        assert 0.0 < curve.answer(supports) <= curve.answer(raised) + 1e-12 < 1.0 + 1e-9
        assert curve.claim(supports[0]) > 0.0


@pytest.mark.parametrize("judge", ["encoder", "embedding", "lexical"])
def test_the_judges_that_ship_have_curves_on_which_support_speaks_for_a_claim(judge: str) -> None:
    assert curves()[judge].claim(0.05) < 0.4 < curves()[judge].claim(0.95)


@pytest.mark.parametrize(("refused", "threshold"), [(0.1, 0.4), (0.15, 0.45), (0.2, 0.5), (0.05, 0.4), (0.5, 0.5)])
def test_the_threshold_follows_from_the_share_of_good_answers_that_may_be_refused(
    refused: float, threshold: float
) -> None:
    assert CURVE.threshold(refused) == pytest.approx(threshold)


@pytest.mark.parametrize("policy", ["calibrated", "claims", "weighted", "reliability", "similarity"])
def test_every_policy_accepts_from_the_one_line_unless_a_calibration_has_another(policy: str) -> None:
    own = {"lexical": Own(threshold=0.6), "encoder": Own(threshold=0.9)}
    assert (
        line_of(policy, [judged(0.9)]) == line_of(policy, [judged(0.9)], {"encoder": Own(0.9)}) == Line(0.7, "default")
    )
    assert line_of(policy, [judged(0.9)], own) == (Line(0.6, "calibration") if policy == "calibrated" else Line())


def test_an_answer_in_the_words_of_its_evidence_is_certain() -> None:
    quote = judged(0.9, text="the mill opened in 1820", evidence=quoted(PASSAGES, 0))
    assert word_for_word(quote)
    assert calibrated_confidence([quote]) == 1.0
    doubtful = judged(0.5)
    assert calibrated_confidence([quote, doubtful]) == calibrated_confidence([doubtful])


@pytest.mark.parametrize("label", ["partially_supported", "contradicted", "unsupported"])
def test_words_of_the_evidence_do_not_make_a_claim_certain_that_is_not_supported(label: Label) -> None:
    assert not word_for_word(judged(0.3, label, text="the mill opened", evidence=quoted(PASSAGES, 0)))


def test_marks_of_citation_do_not_keep_a_quotation_from_being_one() -> None:
    assert word_for_word(judged(0.9, text="The mill opened in 1820 [1].", evidence=quoted(PASSAGES, 0)))


def test_a_claim_that_nobody_judged_has_no_support() -> None:
    lost = verdict("unjudged", judge="none", support=0.0)
    assert calibrated_confidence([judged(0.9), lost]) == calibrated_confidence([judged(0.9), judged(0.0)])


def test_nothing_to_judge_gives_no_confidence() -> None:
    assert calibrated_confidence([]) == 0.0
    assert calibrated_confidence([verdict("unjudged", judge="none")]) == 0.0
    assert not has_curve([])


def test_verdicts_of_another_judge_are_refused_and_left_to_the_claims_policy() -> None:
    with pytest.raises(InputError, match="came from llm: choose the policy 'claims'"):
        calibrated_confidence([verdict(judge="llm")])
    assert best_policy([verdict(judge="llm"), judged(0.9)]) == "claims"
    assert best_policy([judged(0.9)]) == "calibrated"


@pytest.mark.parametrize("content", ["", "{}", '{"judges": {"x": {"curve": {"slope": 1}}}}', '{"judges": []}'])
def test_a_damaged_file_of_curves_says_what_to_do(tmp_path: Path, content: str) -> None:
    damaged = tmp_path / "confidence.json"
    damaged.write_text(content)
    with pytest.raises(WeightsError, match="reinstall"):
        curves(damaged)


def test_the_file_states_a_threshold_for_each_share_and_what_it_was_measured_on() -> None:
    for judge in json.loads(FITTED.read_text())["judges"].values():
        thresholds = judge["curve"]["thresholds"]
        assert {"0.1", "0.2"} <= thresholds.keys()
        assert list(thresholds.values()) == sorted(thresholds.values())
        assert 0.0 < judge["other_files"]["refused_good"] < 0.5


@pytest.mark.parametrize(("policy", "used"), [("auto", "calibrated"), ("claims", "claims")])
def test_the_verifier_takes_the_best_policy_unless_one_is_asked_for(policy: str, used: str) -> None:
    verifier = Verifier({"lexical": LexicalJudge()}, ("lexical",), SentenceExtractor())
    found = verifier("", "The mill was opened in 1820.", PASSAGES, Notes(), judge="lexical", policy=policy)
    assert found.policy == used
    assert not any("olicy" in sentence for sentence in found.degraded)
    assert 0.0 < found.confidence <= 1.0
