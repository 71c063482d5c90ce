import json

import pytest

from cragraph.passages import as_passages, doubts_of
from cragraph.testing import quoted, verdict
from cragraph.verification.result import Verification, claim_row

PASSAGES = as_passages(["Revenue was $394 billion.", "Costs fell."])


def verification(*labels: str, confidence: float = 0.9, **fields: object) -> Verification:
    return Verification(confidence=confidence, claims=tuple(verdict(label) for label in labels), **fields)


def test_the_row_has_the_documented_shape() -> None:
    held = verdict("supported", "Revenue was $394 billion.", evidence=quoted(PASSAGES, 0, "$394 billion"))
    bare = verdict("unsupported", "Costs rose.", start=26, reasoning="It says fell.")
    bare["correction"], bare["unsupported_spans"] = "Costs fell.", [(32, 36)]
    row = Verification(
        confidence=0.4, claims=(held, bare), signals={"fact_score": 0.5}, issues=("x",), ms=12.34
    ).to_dict()
    assert json.loads(json.dumps(row)) == row
    assert {"confidence", "level", "is_grounded", "claims", "signals", "issues", "ms"} <= row.keys()
    assert (row["confidence"], row["level"], row["is_grounded"], row["ms"]) == (0.4, "very low", False, 12.3)
    assert row["claims"][0] == {
        "text": "Revenue was $394 billion.",
        "start": 0,
        "end": 25,
        "type": "factual",
        "verdict": "supported",
        "support": 1.0,
        "contradiction": 0.0,
        "judge": "fake",
        "reasoning": "",
        "evidence": {"quote": "$394 billion", "passage": 0, "start": 12, "end": 24},
        "sources": [PASSAGES[0]["chunk_id"]],
    }
    assert row["claims"][1]["evidence"] is None
    assert row["claims"][1]["reasoning"] == "It says fell."
    assert row["claims"][1]["correction"] == "Costs fell."
    assert row["claims"][1]["unsupported_spans"] == [[32, 36]]
    assert row["suggested_corrections"] == ["Costs fell."]


def test_what_a_judge_need_not_say_is_left_out_of_a_row_and_what_every_verdict_has_is_there() -> None:
    row = claim_row(verdict())
    assert row.keys().isdisjoint({"correction", "unsupported_spans"})
    assert (row["reasoning"], row["evidence"]) == ("", None)


@pytest.mark.parametrize(
    ("labels", "confidence", "threshold", "grounded"),
    [
        (["supported"], 0.7, 0.7, True),
        (["supported"], 0.76, 0.7, True),
        (["supported"], 0.69, 0.7, False),
        (["supported"], 0.69, 0.6, True),
        (["supported"], 0.1 + 0.6 - 1e-12, 0.7, True),
        (["supported"] * 4 + ["unsupported"], 0.7, 0.7, True),
        (["supported"] * 7 + ["unsupported"] * 3, 0.9, 0.7, False),
        (["unsupported"], 0.9, 0.7, False),
    ],
)
def test_an_answer_is_grounded_where_the_run_accepts_it_and_its_verdicts_agree(
    labels: list[str], confidence: float, threshold: float, grounded: bool
) -> None:
    found = verification(*labels, confidence=confidence, threshold=threshold)
    assert found.is_grounded is grounded


@pytest.mark.parametrize(("supports", "score"), [([1.0, 1.0], 0.0), ([0.7, 0.7], 0.3), ([1.0, 0.2], 0.4)])
def test_the_hallucination_score_is_one_less_the_mean_support(supports: list[float], score: float) -> None:
    found = Verification(confidence=1.0, claims=tuple(verdict(support=s) for s in supports))
    assert found.hallucination_score == pytest.approx(score)


def test_a_supported_verdict_of_low_support_is_grounded_where_the_confidence_reaches_the_threshold() -> None:
    found = Verification(confidence=0.7, claims=(verdict("supported", support=0.68),))
    assert (found.is_grounded, found.level, found.warnings) == (True, "medium", [])


@pytest.mark.parametrize("label", ["unjudged", "contradicted"])
def test_an_answer_with_an_unjudged_or_a_contradicted_claim_is_never_grounded(label: str) -> None:
    claims = (*[verdict(support=1.0)] * 9, verdict(label, support=1.0))
    assert not Verification(confidence=1.0, claims=claims).is_grounded


def test_an_answer_without_a_claim_is_not_grounded_and_does_not_pass() -> None:
    empty = Verification(confidence=0.0)
    assert (empty.is_grounded, empty.passed, empty.hallucination_score) == (False, False, 0.0)
    assert "No claim to check was found in the answer" in empty.warnings


def test_a_failed_verification_is_not_grounded_whatever_it_holds() -> None:
    assert not verification("supported", failed=True).is_grounded


def test_an_opinion_is_neither_counted_nor_held_against_the_answer() -> None:
    claims = (verdict("supported"), verdict("contradicted", type="opinion"))
    found = Verification(confidence=1.0, claims=claims)
    assert (found.claims_checked, found.claims_supported, found.is_grounded, found.passed) == (1, 1, True, True)
    assert found.unsupported_claims == []


def test_claims_are_counted_by_what_became_of_them() -> None:
    found = verification("supported", "partially_supported", "unsupported", "contradicted", "unjudged")
    assert (found.claims_checked, found.claims_supported) == (4, 1)
    assert [v["verdict"] for v in found.unsupported_claims] == ["unsupported", "contradicted"]
    assert len(found.unverified_claims) == 4
    assert found.warnings == ["Found 2 unsupported claim(s)", "1 claim(s) could not be judged"]


def test_low_confidence_is_warned_of_with_both_figures() -> None:
    assert verification("supported", confidence=0.45).warnings == ["Low confidence: 0.45 (threshold 0.70)"]
    assert verification("supported", confidence=0.6996).warnings == ["Low confidence: 0.6996 (threshold 0.7000)"]


@pytest.mark.parametrize("confidence", [0.7, 0.1 + 0.6 - 1e-12, 0.3 + 0.4])
def test_at_exactly_the_threshold_there_is_no_warning(confidence: float) -> None:
    assert verification("supported", confidence=confidence).warnings == []
    assert verification("supported", confidence=confidence).passed
    assert verification("supported", confidence=0.7, threshold=0.71).warnings


def test_verified_sources_are_the_chunks_of_the_evidence_once_each() -> None:
    claims = tuple(
        verdict(label, evidence=quoted(PASSAGES, place))
        for label, place in [("supported", 1), ("supported", 0), ("supported", 1), ("unsupported", 0)]
    )
    found = Verification(confidence=1.0, claims=claims)
    assert found.verified_sources == [PASSAGES[1]["chunk_id"], PASSAGES[0]["chunk_id"]]


def test_the_summary_holds_no_claim_and_the_weighted_fields_only_where_they_were_measured() -> None:
    plain = verification("supported")
    assert plain.summary() == {
        "confidence": 0.9, "is_grounded": True, "accepted": True, "claims_checked": 1, "claims_supported": 1,
    }  # fmt: skip
    full = verification(
        "supported",
        signals={"alignment": 0.45, "citation_coverage": 1.0, "fact_score": 1.0},
        policy_scores={"weighted": 0.78},
        issues=("Answer may not be well-supported by retrieved sources",),
    )
    assert full.summary() == plain.summary() | {
        "overall_score": 0.78,
        "answer_source_alignment": 0.45,
        "citation_coverage": 1.0,
        "fact_verification_score": 1.0,
        "issues": ["Answer may not be well-supported by retrieved sources"],
        "verified_sources": [],
        "unverified_claims": [],
    }


def test_every_source_that_supports_a_claim_is_verified_and_claims_map_to_their_sources() -> None:
    first = verdict("supported", "Revenue was $394 billion.", evidence=quoted(PASSAGES, 0))
    first["sources"] = [PASSAGES[0]["chunk_id"], "other"]
    bad = verdict("unsupported", "Costs rose.")
    bad["sources"] = ["nowhere"]
    found = Verification(confidence=1.0, claims=(first, bad))
    assert found.verified_sources == [PASSAGES[0]["chunk_id"], "other"]
    assert found.attributions == {"Revenue was $394 billion.": [PASSAGES[0]["chunk_id"], "other"], "Costs rose.": []}


def test_a_verification_is_restored_from_what_it_wrote_down() -> None:
    found = verification(
        "supported",
        "unsupported",
        signals={"fact_score": 0.5},
        issues=("x",),
        threshold=0.95,
        set_by="person",
        on_low_confidence="flag",
        policy_scores={"claims": 0.9},
    )
    written = json.loads(json.dumps(found.to_dict()))
    again = Verification.from_dict(written, found.claims)
    assert again == found
    assert (again.decision.outcome, again.decision.set_by, again.accepted) == ("doubtful", "person", False)
    assert Verification.from_dict(written, written["claims"]) == found


def test_rows_that_were_written_down_still_say_which_chunk_holds_their_evidence() -> None:
    held = verdict("supported", "Revenue was $394 billion.", evidence=quoted(PASSAGES, 0, "$394 billion"))
    found = Verification(confidence=1.0, claims=(held,))
    written = json.loads(json.dumps(found.to_dict()))
    again = Verification.from_dict(
        written, [{k: v for k, v in row.items() if k != "reasoning"} for row in written["claims"]]
    )
    assert again.claims[0]["reasoning"] == ""
    assert (again.verified_sources, again.attributions) == (found.verified_sources, found.attributions)


def test_it_prints_as_a_line_with_the_outcome_and_a_line_per_claim() -> None:
    claims = (verdict("supported", "Revenue rose.", support=0.98), verdict("unsupported", "Costs " * 40, support=0.03))
    found = Verification(confidence=0.7, claims=claims, issues=("Mind this",), judge="encoder", policy="calibrated")
    lines = repr(found).splitlines()
    assert lines[0] == (
        "Verification: Confidence 0.70 (medium) · refused · the threshold is 0.70; 1 of 2 claims supported; "
        "judge encoder, policy calibrated"
    )
    assert lines[1] == "  ✓ supported           0.98  Revenue rose."
    assert lines[2].startswith("  ✗ unsupported         0.03  Costs Costs")
    assert lines[2].endswith("…")
    assert lines[3:] == ["  issue: Mind this"]
    assert all(len(line) <= 120 for line in lines[1:])


def test_attribution_coverage_is_none_where_it_was_not_measured() -> None:
    assert verification("supported").attribution_coverage is None
    assert verification("supported", signals={"attribution_coverage": 0.5}).attribution_coverage == 0.5


@pytest.mark.parametrize("threshold", [0.7, 0.72, 0.9])
def test_the_threshold_is_held_against_the_confidence_as_it_is_stated(threshold: float) -> None:
    found = Verification(0.72, (verdict(),), policy="weighted", threshold=threshold, answered=0.72, supported=1.0)
    assert found.accepted is found.is_grounded is (threshold <= 0.72)


def test_an_answer_that_rests_on_a_doubtful_reading_is_not_accepted() -> None:
    sure, doubted = as_passages(["Paint costs 4.", {"text": "Brushes cost 9.", "doubts": ["The scan is blurred."]}])
    for place, outcome in ((0, "accepted"), (1, "doubtful")):
        claim = verdict("supported", evidence=quoted([sure, doubted], place))
        found = Verification(0.97, (claim,), passages=(sure, doubted))
        assert found.decision.outcome == outcome
    assert found.decision.why == "The scan is blurred."
    about = {"doubts": ["The scan is blurred.", "A page is missing."], "doubted": [[0, 0, 5]]}
    parts = [{"chunk_id": "a", "start": 0, "end": 9, "from": 2, "about": about},
             {"chunk_id": "b", "start": 9, "end": 14, "from": 0}]  # fmt: skip
    found = [doubts_of({**sure, "parts": parts}, *place) for place in ((0, 3), (3, 9), (9, 14))]
    assert found == [about["doubts"], ["A page is missing."], []]
