"""One line, one meaning: verdicts, groundedness, level, warnings, rows and shell say the same at the run's line."""

import io
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from cragraph.cli import render
from cragraph.founding import ValidationConfig, validate_answer
from cragraph.log import record
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.testing import HashEmbeddings
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.judges.verdicts import verdict_of
from cragraph.verification.prune import pruned
from cragraph.verification.result import Verification
from cragraph.verification.verifier import Verifier, VerifierOptions

PASSAGES = as_passages(["The mill is old and stands by the river."])
KINDS = st.tuples(st.floats(0.01, 0.99), st.sampled_from(["plain", "plain", "plain", "contradicted", "unjudged"]))


class Scripted:
    """Gives each claim what the script says, as a judge with calibrated scores does: supported from .5 up."""

    name = "encoder"

    def __init__(self, script: Sequence[tuple[float, str]]) -> None:
        self.script = script

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        found = []
        for claim in claims:
            support, kind = self.script[int(re.findall(r"\d+", claim["text"])[0])]
            label = kind if kind != "plain" else "supported" if support >= 0.5 else "unsupported"
            support = min(support, 0.15) if kind == "contradicted" else support
            found.append(verdict_of(claim, label, support, 0.0, None, "", self.name))  # type: ignore[arg-type]
        return found


def verified(script: Sequence[tuple[float, str]], threshold: float | None, policy: str = "calibrated") -> Verification:
    verifier = Verifier(
        {"encoder": Scripted(script)}, ("encoder",), SentenceExtractor(), options=VerifierOptions(measure=())
    )
    answer = " ".join(f"Wheel number {n} of the mill turns at dawn." for n in range(len(script)))
    return verifier("", answer, PASSAGES, Notes(), judge="encoder", policy=policy, threshold=threshold)


def printed(result: dict[str, Any]) -> str:
    out = io.StringIO()
    original = render.out
    render.out = lambda: Console(file=out, width=400)  # type: ignore[assignment, return-value]
    try:
        render.show_verification(result)
    finally:
        render.out = original
    return out.getvalue()


@settings(max_examples=120, deadline=None)
@given(st.lists(KINDS, min_size=1, max_size=6), st.sampled_from([None, 0.3, 0.5, 0.7, 0.95]))
def test_every_output_says_the_same_at_the_threshold_of_the_run(
    script: list[tuple[float, str]], threshold: float | None
) -> None:
    found = verified(script, threshold)
    line = 0.7 if threshold is None else threshold
    labels = {verdict["verdict"] for verdict in found.claims}
    assert found.threshold == line
    agreed = labels == {"supported"} and round(found.confidence, 6) >= line
    row, shown = found.to_dict(), printed(found.to_dict())
    assert found.is_grounded is found.accepted is row["is_grounded"] is row["accepted"] is agreed
    assert (row["decision"]["outcome"] == "accepted") is agreed
    assert found.summary()["is_grounded"] is agreed
    assert found.passed is row["passed"] is agreed
    assert bool(found.warnings) is not agreed
    assert ("· accepted ·" in shown) is agreed
    assert "is below the threshold" not in shown, "the line on the decision says it"
    assert f" · {found.decision.outcome} · the threshold is {line:.2f}" in shown
    run = {name: row[name] for name in ("confidence", "is_grounded", "accepted", "decision")} | {"verification": row}
    logged = record(run)
    assert logged["is_grounded"] is logged["passed"] is logged["accepted"] is agreed
    assert (logged["decision"], logged["threshold"]) == (found.decision.outcome, line)
    assert bool(logged["warnings"]) is not agreed
    if agreed and line >= 0.5:
        assert found.level != "very low"


SENTENCES = [
    "The mill is old.",
    "The mill stands by the river.",
    "The mill was built in 1812 by two brothers.",
    "It might perhaps be sold.",
    "Nobody owns the mill.",
]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(SENTENCES), max_size=4), st.sampled_from([0.3, 0.5, 0.7, 0.9]), st.booleans())
def test_validate_answer_passes_what_reaches_its_threshold_without_an_unsupported_claim(
    texts: list[str], threshold: float, given_by_text: bool
) -> None:
    config = ValidationConfig(confidence_threshold=threshold)
    chunks = [PASSAGES[0]["text"]] if given_by_text else [{"text": PASSAGES[0]["text"]}]
    answer = " ".join(texts)
    found = validate_answer(answer, "Is the mill old?", chunks, embed_model=HashEmbeddings(), config=config)
    enough = round(found["confidence_score"], 6) >= threshold
    said = " ".join(found["warnings"])
    assert found["hallucination_count"] == len(found["hallucinations"])
    assert found["passed"] is (enough and not found["hallucinations"])
    assert ("Low confidence" in said) is not enough
    assert ("unsupported claim" in said) is bool(found["hallucinations"])
    assert all(row["claim"] in answer for row in found["hallucinations"])


@settings(max_examples=60, deadline=None)
@given(st.lists(KINDS, min_size=2, max_size=6), st.sampled_from([None, 0.5, 0.7, 0.9]))
def test_pruning_scores_what_is_left_as_if_it_had_been_the_answer(
    script: list[tuple[float, str]], threshold: float | None
) -> None:
    whole = verified(script, threshold)
    text, left = pruned(" ".join(v["text"] for v in whole.claims), whole, {})
    kept = [entry for entry, verdict in zip(script, whole.claims, strict=True) if verdict["verdict"] == "supported"]
    if not text:
        assert not kept
        return
    again = verified(kept, threshold)
    assert left.confidence == pytest.approx(again.confidence)
    assert (left.threshold, left.policy) == (again.threshold, again.policy)
    assert left.is_grounded is again.is_grounded is (round(again.confidence, 6) >= again.threshold)


def test_the_same_answer_gives_the_same_figures_bit_for_bit() -> None:
    from cragraph.build import Parts
    from cragraph.settings import Settings

    answer = "The mill is old. It stands by a lake. Nobody owns the mill."
    runs = [
        Parts(Settings(store=None)).verifier("Is it old?", answer, PASSAGES, Notes(), judge="encoder").to_dict()
        for _ in range(2)
    ]
    assert runs[0] | {"ms": 0} == runs[1] | {"ms": 0}
