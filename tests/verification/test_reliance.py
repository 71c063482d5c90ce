"""Reliance: what only a source of lower weight supports is worth less, and the response says so."""

from typing import Any

import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.testing import HashEmbeddings, verdict
from cragraph.types import Passage, Verdict
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.policies import POLICIES
from cragraph.verification.result import Verification, reliance
from cragraph.verification.verifier import Verifier

GOLD = "Gold is a dense yellow metal."
LEAD = "Lead melts at low heat."
DRAFT = {"text": f"{GOLD} {LEAD}", "source": "drafts/metals.md"}
REPORT = {"text": f"According to the survey, {GOLD[0].lower()}{GOLD[1:]}", "source": "report.md"}


def half_for_drafts(passage: Passage) -> float:
    return 0.5 if passage["source"].startswith("drafts/") else 1.0


class Counting:
    """The lexical judge, which remembers what it was asked and of how many passages."""

    name = "lexical"

    def __init__(self) -> None:
        self.judge = LexicalJudge()
        self.asked: list[tuple[list[str], int]] = []

    def __call__(self, claims: Any, passages: Any, notes: Notes, *, question: str = "") -> list[Verdict]:
        self.asked.append(([claim["text"] for claim in claims], len(passages)))
        return self.judge(claims, passages, notes, question=question)


def found(
    answer: str, passages: list[Any], weight: Any = half_for_drafts, judge: Any = None, **options: Any
) -> Verification:
    verifier = Verifier(
        {"lexical": judge or LexicalJudge()}, (), SentenceExtractor(), HashEmbeddings(), source_weight=weight
    )
    return verifier(
        "What is gold?", answer, as_passages(passages), Notes(), judge="lexical", **{"policy": "claims"} | options
    )


def test_a_claim_that_only_a_weaker_source_supports_is_worth_less() -> None:
    assert found(GOLD, [REPORT]).confidence == 1.0
    weak = found(GOLD, [DRAFT])
    assert weak.confidence == 0.5
    assert [v.get("source_weight") for v in weak.claims] == [0.5]
    assert weak.to_dict()["claims"][0]["source_weight"] == 0.5


def test_a_claim_that_a_stronger_source_supports_too_keeps_its_worth_and_is_cited_from_there() -> None:
    judge = Counting()
    both = found(GOLD, [DRAFT, REPORT], judge=judge)
    assert both.confidence == 1.0
    assert both.issues == ()
    [claim] = both.claims
    assert claim["evidence"] is not None
    assert claim["evidence"]["passage"] == 1
    assert claim["evidence"]["quote"] == REPORT["text"]
    assert claim["evidence"]["chunk_id"] == as_passages([DRAFT, REPORT])[1]["chunk_id"]
    assert "source_weight" not in claim
    assert judge.asked == [([GOLD], 2), ([GOLD], 1)]


def test_a_stronger_source_decides_where_it_contradicts_a_weaker_one() -> None:
    draft = {"text": "Sales were $12 million in 2021.", "source": "drafts/a.md"}
    report = {"text": "Sales were $15 million in 2021.", "source": "report.md"}
    assert [v["verdict"] for v in found(draft["text"], [draft, report]).claims] == ["contradicted"]
    assert [v["verdict"] for v in found(report["text"], [draft, report]).claims] == ["supported"]
    assert found(draft["text"], [draft, report], weight=None).confidence == 1.0


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policys_confidence_is_weighed(policy: str) -> None:
    full, half = (found(GOLD, [DRAFT], weight, policy=policy) for weight in (None, half_for_drafts))
    assert 0.0 < half.confidence == pytest.approx(full.confidence / 2, abs=1e-5)
    assert half.policy_scores[policy] == half.confidence


@pytest.mark.parametrize(
    ("weights", "share"), [([], 1.0), ([1.0], 1.0), ([0.5], 0.5), ([0.5, 1.0], 0.75), ([0.0, 0.0], 0.0)]
)
def test_reliance_is_the_share_of_the_credit_that_sources_are_good_for(weights: list[float], share: float) -> None:
    verdicts: list[Verdict] = [{**verdict(), "source_weight": weight} for weight in weights]
    assert reliance(verdicts) == pytest.approx(share)
    assert reliance([*verdicts, verdict("unsupported")]) == pytest.approx(share)
