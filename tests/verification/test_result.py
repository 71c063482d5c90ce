import json

import pytest

from cragraph.passages import as_passages, doubts_of
from cragraph.testing import quoted, verdict
from cragraph.verification.result import NO_TIME, Verification
from tests.support.cases import cases

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


@pytest.mark.parametrize(
    ("labels", "confidence", "threshold", "grounded"), cases("verification/result", "an answer is grounded")
)
def test_an_answer_is_grounded_where_the_run_accepts_it_and_its_verdicts_agree(
    labels: list[str], confidence: float, threshold: float, grounded: bool
) -> None:
    found = verification(*labels, confidence=confidence, threshold=threshold)
    assert found.is_grounded is grounded


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


def test_an_answer_that_rests_on_a_doubtful_reading_is_not_accepted() -> None:
    sure, doubted = as_passages(["Paint costs 4.", {"text": "Brushes cost 9.", "doubts": ["The scan is blurred."]}])
    for place, outcome in ((0, "accepted"), (1, "doubtful")):
        claim = verdict("supported", evidence=quoted([sure, doubted], place))
        found = Verification(0.97, (claim,), passages=(sure, doubted))
        assert found.decision.outcome == outcome
    assert found.decision.why == "The scan is blurred."
    about = {"doubts": ["The scan is blurred.", "A page is missing."], "doubted": [[0, 0, 5]]}
    found = [doubts_of({**sure, "metadata": about}, *place) for place in ((0, 3), (5, 9))]
    assert found == [about["doubts"], ["A page is missing."]]


@pytest.mark.parametrize(
    ("question", "answer", "outcome"),
    [
        ("When did the mill burn down?", "The mill burned down to its stone walls [1].", "doubtful"),
        ("When did the mill burn down?", "The mill burned down in the winter after the flood [1].", "accepted"),
        ("Who built the mill, and when did it burn down?", "Aske built the mill, and it burned down.", "doubtful"),
        ("In which year did it burn down?", "The mill burned down in 1893.", "accepted"),
        ("When should the sluice be opened?", "Open the sluice if the pond is full.", "accepted"),
        ("Did the mill burn down?", "The mill burned down to its stone walls.", "accepted"),
    ],
)
def test_an_answer_without_a_time_to_a_question_for_one_is_not_accepted(
    question: str, answer: str, outcome: str
) -> None:
    found = Verification(0.97, (verdict("supported"),), question=question, answer=answer)
    assert found.decision.outcome == outcome
    assert (NO_TIME in found.doubts) == (outcome == "doubtful")
