import json
import logging
from pathlib import Path
from typing import Any

import pytest

from cragraph.cli.about import table
from cragraph.errors import InputError
from cragraph.log import cited_claims, log_run, record, summarise
from cragraph.types import IDK
from tests.support.cases import cases

RESPONSE: dict[str, Any] = {
    "question": "What shines?",
    "answer": "Gold shines [1]. Lead is heavy.",
    "abstained": False,
    "confidence": 0.9,
    "is_grounded": True,
    "verification": {"claims_checked": 2, "claims_supported": 2},
    "citations": [{"verified": True}, {"verified": False}],
    "attempts": [
        {"answer": "Pigs fly.", "confidence": 0.4},
        {"answer": "Gold shines [1]. Lead is heavy.", "confidence": 0.9},
    ],
    "models": {"judge": "embedding"},
    "llm_calls": 0,
    "degraded": [],
    "issues": [],
    "timings_ms": {"retrieve": 10.0, "verify": 40.0, "total": 60.0},
}
ABSTAINED = RESPONSE | {
    "answer": IDK,
    "abstained": True,
    "confidence": 0.3,
    "is_grounded": False,
    "citations": [],
    "attempts": [{"answer": "Pigs fly.", "confidence": 0.3}],
    "degraded": ["Judge 'llm' failed; 'embedding' took over."],
    "timings_ms": {"verify": 80.0, "total": 100.0},
}


@pytest.mark.parametrize(("confidences", "improved"), cases("doors/metrics", "a correction helped when"))
def test_a_correction_helped_when_some_later_attempt_beats_the_first(confidences: list[Any], improved: Any) -> None:
    attempts = [{"answer": "x", "confidence": confidence} for confidence in confidences]
    assert record(RESPONSE | {"attempts": attempts})["improved"] is improved


@pytest.mark.parametrize(("answer", "share"), cases("doors/metrics", "cited claims"))
def test_cited_claims_are_the_share_of_claims_with_a_marker(answer: str, share: float | None) -> None:
    assert cited_claims(answer) == share


def test_a_log_that_cannot_be_written_costs_a_warning_and_no_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        log_run(tmp_path, RESPONSE)
    assert "cannot be written" in caplog.text


def test_a_summary_has_the_rates_and_latencies_by_hand(tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    odd = RESPONSE | {"question": "What\u2028shines?"}  # a line separator, though no end of a line
    for response in (RESPONSE, RESPONSE | {"attempts": RESPONSE["attempts"][1:]}, ABSTAINED, odd):
        log_run(log, response)
    with log.open("a") as file:
        file.write('{"cut off\n[1]\n\n')
    found = summarise(log)
    assert (found["runs"], found["bad_lines"], found["answered"]) == (4, 2, 3)
    assert (found["abstention_rate"], found["rejection_rate"]) == (0.25, 0.25)
    assert (found["trigger_rate"], found["success_rate"]) == (0.5, 1.0)
    assert (found["hallucination_rate"], found["grounded_rate"]) == (0.0, 1.0)
    assert (found["cited_claims"], found["citation_accuracy"]) == (0.5, 0.5)
    assert found["confidence"] == pytest.approx(0.9)
    assert found["degraded"] == {"Judge 'llm' failed; 'embedding' took over.": 1}
    assert found["judges"] == {"embedding": 4}
    assert found["latency_ms"]["verify"] == {"p50": 40.0, "p95": 80.0, "p99": 80.0, "runs": 4}
    assert list(found["latency_ms"])[-1] == "total"
    assert json.loads(json.dumps(found)) == found


def test_the_founding_figures_stand_beside_their_targets(tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    for response in (RESPONSE, ABSTAINED):
        log_run(log, response)
    targets = {row["name"]: (row["value"], row["target"], row["met"]) for row in summarise(log)["targets"]}
    assert targets == {
        "unsupported claims in answers": (0.0, "< 5%", True),
        "confidence agrees with a person's judgement": (None, "> 80%", None),
        "runs that needed a correction": (0.5, "< 20%", False),
        "corrections that raised the confidence": (1.0, "> 70%", True),
        "claims with a citation": (0.5, "> 90%", False),
        "verification, p50": (40.0, "< 500 ms", True),
    }


def test_a_line_has_the_founding_documents_fields() -> None:
    checked = {"hallucination_count": 1, "passed": False, "warnings": ["Found 1 unsupported claim(s)"]}
    line = record(RESPONSE | {"verification": checked})
    assert {name: line[name] for name in ("query", "hallucination_count", "passed", "warnings")} == {
        "query": "What shines?", **checked,
    }  # fmt: skip
    nothing = record(ABSTAINED | {"verification": checked})
    assert (nothing["hallucination_count"], nothing["passed"], nothing["warnings"]) == (None, None, [])


def test_runs_marked_as_answerable_show_the_false_positives_and_negatives(tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    marks = [(True, False), (True, True), (False, False), (False, True), (False, True), (True, False)]
    log.write_text("".join(json.dumps({"answerable": a, "abstained": b}) + "\n" for a, b in marks))
    found = summarise(log)
    assert found["false_negative_rate"] == pytest.approx(1 / 3)
    assert found["false_positive_rate"] == pytest.approx(1 / 3)


def test_an_empty_log_has_no_rates_and_a_missing_one_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    found = summarise(tmp_path / "empty.jsonl")
    assert (found["runs"], found["trigger_rate"], found["latency_ms"]) == (0, None, {})
    with pytest.raises(InputError, match="CRAG_METRICS_LOG"):
        summarise(tmp_path / "none.jsonl")


def test_the_summary_is_shown_as_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    log = tmp_path / "runs.jsonl"
    for response in (RESPONSE, ABSTAINED):
        log_run(log, response)
    Console(width=120).print(table(summarise(log)))
    shown = capsys.readouterr().out
    for text in ("2 runs", "trigger rate", "50.0%", "embedding (2)", "Targets", "< 500 ms", "verify", "took over"):
        assert text in shown
