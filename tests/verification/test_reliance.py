"""Reliance: what only a source of lower weight supports is worth less, and the response says so."""

from typing import Any

import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.testing import HashEmbeddings, verdict
from cragraph.types import Passage, Verdict
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.judges.embedded import LexicalJudge
from cragraph.verification.result import Verification, reliance
from cragraph.verification.verifier import Verifier


def half_for_drafts(passage: Passage) -> float:
    return 0.5 if passage["source"].startswith("drafts/") else 1.0


def found(
    answer: str, passages: list[Any], weight: Any = half_for_drafts, judge: Any = None, **options: Any
) -> Verification:
    verifier = Verifier(
        {"lexical": judge or LexicalJudge()}, (), SentenceExtractor(), HashEmbeddings(), source_weight=weight
    )
    return verifier(
        "What is gold?", answer, as_passages(passages), Notes(), judge="lexical", **{"policy": "claims"} | options
    )


def test_a_stronger_source_decides_where_it_contradicts_a_weaker_one() -> None:
    draft = {"text": "Sales were $12 million in 2021.", "source": "drafts/a.md"}
    report = {"text": "Sales were $15 million in 2021.", "source": "report.md"}
    assert [v["verdict"] for v in found(draft["text"], [draft, report]).claims] == ["contradicted"]
    assert [v["verdict"] for v in found(report["text"], [draft, report]).claims] == ["supported"]
    assert found(draft["text"], [draft, report], weight=None).confidence == 1.0


@pytest.mark.parametrize(
    ("weights", "share"), [([], 1.0), ([1.0], 1.0), ([0.5], 0.5), ([0.5, 1.0], 0.75), ([0.0, 0.0], 0.0)]
)
def test_reliance_is_the_share_of_the_credit_that_sources_are_good_for(weights: list[float], share: float) -> None:
    verdicts: list[Verdict] = [{**verdict(), "source_weight": weight} for weight in weights]
    assert reliance(verdicts) == pytest.approx(share)
    assert reliance([*verdicts, verdict("unsupported")]) == pytest.approx(share)
