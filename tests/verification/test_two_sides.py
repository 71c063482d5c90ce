"""The same deed told from its other side contradicts nothing; what cannot be true beside it does.

`two-sides.jsonl` and `one-answer.jsonl` were written before the rules that they measure were changed, and no rule was
chosen by them: the counts are what was measured, as floors.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cragraph.api import verify
from cragraph.build import Parts
from cragraph.models.grounding import GroundingModel
from cragraph.passages import as_passages
from cragraph.protocols import Judge, Notes
from cragraph.settings import load_settings
from cragraph.types import Claim
from cragraph.verification.judges.embedded import EncoderJudge, LexicalJudge

JUDGES: list[Judge] = [LexicalJudge(), EncoderJudge(GroundingModel(threads=1))]


def rows(name: str) -> list[dict[str, Any]]:
    text = Path(__file__).with_name(f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def label(judge: Judge, passages: list[str], text: str) -> str:
    [verdict] = judge([Claim(text=text, start=0, end=len(text), type="factual")], as_passages(passages), Notes())
    return verdict["verdict"]


@pytest.mark.parametrize("judge", JUDGES, ids=lambda judge: judge.name)
def test_held_out_pairs_are_told_apart(judge: Judge) -> None:
    found = [(row["label"], label(judge, row["passages"], row["answer"])) for row in rows("two-sides")]
    assert len(found) == 80
    assert found.count(("supported", "contradicted")) <= 1  # 18 of 40 before opposites were held to their place
    assert found.count(("contradicted", "contradicted")) >= 29  # as before


@pytest.mark.slow
def test_an_answer_that_contradicts_itself_in_one_place_is_found_out() -> None:
    clashing = {"contradicted": 0, "consistent": 0}
    for row in rows("one-answer"):
        found = verify(f"{row['one']} {row['other']}", [row["one"], "The weather was fine."], judge="encoder")
        clashing[row["label"]] += found.signals["internal_consistency"] < 1
    assert clashing["contradicted"] >= 19  # of 20; 6 by figures, opposites and negation alone
    assert clashing["consistent"] <= 6  # of 20, such as bread and milk that one shop sells


def test_a_network_that_fails_leaves_consistency_to_facts_and_says_so() -> None:
    def broken(pairs: Any) -> Any:
        raise RuntimeError("no weights")

    verifier = replace(Parts(load_settings(store=None)).verifier, contradicts=broken)
    answer = "The door is painted blue. The door is painted green."
    found = verifier("", answer, as_passages(["The door is painted blue."]), Notes(), judge="lexical")
    assert found.signals["internal_consistency"] == 1.0
    assert any("Reading the claims against each other failed" in sentence for sentence in found.degraded)
