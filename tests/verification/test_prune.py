from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.language.sentences import sentence_spans
from cragraph.testing import judged, verdict
from cragraph.verification.evidence import Written
from cragraph.verification.policies import POLICIES
from cragraph.verification.prune import prune
from cragraph.verification.prune import pruned as pruned_verification
from cragraph.verification.result import Verification
from tests.support.cases import cases


def pruned(answer: str, **labels: str) -> str:
    """The answer without what fails; a sentence that holds a given word gets its label, the others are supported.

    Headings, lead-ins and table rules get no verdict.
    """
    verdicts = []
    for start, end in sentence_spans(answer):
        text = answer[start:end]
        if text.startswith("#") or set(text) <= set("|-: \n") or text == "Three things happened:" or "| What" in text:
            continue
        label = next((labels[word] for word in labels if word in text), "supported")
        verdicts.append(verdict(label, text, start=start))
    return prune(answer, verdicts)[0]


@pytest.mark.parametrize(("answer", "text"), cases("verification/prune", "what is not supported"))
def test_what_is_not_supported_goes_and_the_rest_reads_well(answer: str, text: str) -> None:
    assert pruned(answer, Pigs="unsupported", pigs="unsupported") == text


def test_kept_verdicts_stand_at_their_new_offsets() -> None:
    answer = "Pigs fly. However, gold shines [1].\n\n9. Pigs fly.\n10. Lead is heavy."
    labels = ["unsupported", "supported", "unsupported", "supported"]
    text, kept = prune(answer, judged(answer, labels))
    assert text == "Gold shines [1].\n\n9. Lead is heavy."
    assert [text[v["start"] : v["end"]] for v in kept] == [v["text"] for v in kept]
    assert [v["verdict"] for v in kept] == ["supported", "supported"]


BLOCKS = st.lists(
    st.sampled_from(
        [
            "Gold shines. ",
            "Pigs fly. ",
            "However, tin bends. ",
            "\n\n",
            "\n- ",
            "\n1. ",
            "\n2. ",
            "# Head\n",
            "**Bold** ",
            "[1] ",
        ]
    ),
    max_size=14,
).map("".join)


@given(BLOCKS)
def test_no_failed_sentence_survives_and_no_supported_one_is_lost(answer: str) -> None:
    claims = [
        verdict("unsupported" if "Pigs" in answer[s:e] else "supported", answer[s:e], start=s)
        for s, e in sentence_spans(answer)
        if any(word in answer[s:e] for word in ("Pigs", "shines", "bends"))
    ]
    text, kept = prune(answer, claims)
    assert "Pigs fly" not in text
    assert len(kept) == sum(v["verdict"] == "supported" for v in claims)
    assert text.count("Gold shines") >= sum(
        v["text"].count("Gold shines") for v in claims if v["verdict"] == "supported"
    )
    assert text == text.strip()
    assert "\n\n\n" not in text
    for v in kept:
        assert text[v["start"] : v["end"]] == v["text"]


def test_what_is_left_is_scored_by_the_policy_that_scored_the_whole() -> None:
    claims = [
        verdict("supported", "Gold shines.", support=0.7, judge="encoder"),
        verdict("unsupported", "Pigs fly.", start=13, support=0.1, judge="encoder"),
    ]
    whole = Verification(
        confidence=POLICIES["calibrated"](claims), claims=tuple(claims), policy="calibrated",
        signals={"fact_score": 0.5}, issues=("Some claims in the answer could not be verified", "Mind this"),
    )  # fmt: skip
    text, left = pruned_verification("Gold shines. Pigs fly.", whole, {})
    assert text == "Gold shines."
    assert left.confidence == pytest.approx(POLICIES["calibrated"](claims[:1]), abs=1e-6)
    assert whole.confidence < left.confidence < 1.0
    assert (left.policy, left.signals["fact_score"], left.issues) == ("calibrated", 1.0, ("Mind this",))


@pytest.mark.parametrize(
    ("read", "most"),
    [
        ({"probability": None, "quoted": True, "seen": {}}, 0.8),
        ({"probability": 0.4, "quoted": True, "seen": {}}, 0.4),
        (
            {
                "probability": 0.99,
                "quoted": True,
                "seen": {"found": 0.0, "probability": 0.0},
                "written": asdict(Written()),
            },
            0.7,
        ),
        ({"probability": 0.2, "quoted": False, "seen": {}}, 1.0),
        (None, 1.0),
    ],
)
def test_what_is_left_is_worth_no_more_than_the_reader_makes_of_the_whole(read: Any, most: float) -> None:
    claims = tuple(
        verdict(label, text, start=start, support=support, judge="embedding")
        for label, text, start, support in (
            ("supported", "Gold shines.", 0, 1.0),
            ("unsupported", "Pigs fly.", 13, 0.0),
        )
    )
    whole = Verification(confidence=0.3, claims=claims, policy="claims", threshold=0.9, read=read)
    _, left = pruned_verification("Gold shines. Pigs fly.", whole, {})
    assert left.confidence <= most
    assert left.accepted is (left.confidence >= 0.9)


def test_statements_without_a_verdict_and_opinions_alone_are_nothing_to_return() -> None:
    assert prune("Gold shines.", []) == ("", [])
    assert prune("I like gold.", [verdict(text="I like gold.", type="opinion")]) == ("", [])
