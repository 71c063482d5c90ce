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


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Gold shines. Pigs fly. Lead is heavy.", "Gold shines. Lead is heavy."),
        ("Pigs fly. Gold shines.", "Gold shines."),
        ("Gold shines. Pigs fly.", "Gold shines."),
        ("Gold shines. Pigs fly. However, lead is heavy.", "Gold shines. Lead is heavy."),
        ("Pigs fly. But gold shines.", "Gold shines."),
        ("Gold shines. However, lead is heavy.", "Gold shines. However, lead is heavy."),
        ("Pigs fly. As a result, gold shines.", "Gold shines."),
        ("Pigs fly. Still waters run deep.", "Still waters run deep."),
        ("Gold shines.\n\nPigs fly.\n\nLead is heavy.", "Gold shines.\n\nLead is heavy."),
        ("Gold shines [1]. Pigs fly [2]. Lead is heavy [3].", "Gold shines [1]. Lead is heavy [3]."),
        (
            "Gold shines.\n\n- Tin bends.\n- Pigs fly.\n- Lead is heavy.",
            "Gold shines.\n\n- Tin bends.\n- Lead is heavy.",
        ),
        ("1. Gold shines.\n2. Pigs fly.\n3. Lead is heavy.", "1. Gold shines.\n2. Lead is heavy."),
        ("1. Gold shines. Pigs fly.\n2. Lead is heavy.", "1. Gold shines.\n2. Lead is heavy."),
        ("1. Pigs fly. Gold shines.\n2. Lead is heavy.", "1. Gold shines.\n2. Lead is heavy."),
        ("3. Gold shines.\n4. Pigs fly.\n5. Lead is heavy.", "3. Gold shines.\n4. Lead is heavy."),
        ("# Metals\n\nGold shines.\n\n# Pigs\n\nPigs fly.", "# Metals\n\nGold shines."),
        ("# Metals\n\n## Gold\n\nGold shines.\n\n## Pigs\n\nPigs fly.", "# Metals\n\n## Gold\n\nGold shines."),
        ("# Pigs\n\nPigs fly.\n\n# Metals\n\nGold shines.", "# Metals\n\nGold shines."),
        ("Three things happened:\n\n- Pigs fly.\n\nGold shines.", "Gold shines."),
        (
            "Three things happened:\n\n- Pigs fly.\n- Tin bends.\n\nGold shines.",
            "Three things happened:\n\n- Tin bends.\n\nGold shines.",
        ),
        ("Gold does this:\n\n- Pigs fly.\n\nLead is heavy.", "Gold does this.\n\nLead is heavy."),
        ("| What | Why |\n|---|---|\n| Gold | 1 |\n| Pigs | 2 |", "| What | Why |\n|---|---|\n| Gold | 1 |"),
        ("**Pigs fly.** Gold shines.", "Gold shines."),
        ("> Pigs fly.\n\nGold shines.", "Gold shines."),
        ("Gold shines.", "Gold shines."),
        ("Pigs fly.", ""),
        ("", ""),
    ],
)
def test_what_is_not_supported_goes_and_the_rest_reads_well(answer: str, text: str) -> None:
    assert pruned(answer, Pigs="unsupported", pigs="unsupported") == text


@pytest.mark.parametrize("label", ["unsupported", "contradicted", "partially_supported", "unjudged"])
def test_only_what_is_wholly_supported_stays(label: str) -> None:
    assert pruned("Gold shines. Pigs fly.", Pigs=label) == "Gold shines."


def test_a_sentence_with_one_failed_claim_of_two_goes() -> None:
    answer = "Gold shines and pigs fly. Lead is heavy."
    claims = [
        verdict(text="Gold shines"),
        verdict("unsupported", "pigs fly", start=16),
        verdict(text="Lead is heavy.", start=26),
    ]
    text, kept = prune(answer, claims)
    assert text == "Lead is heavy."
    assert [(v["text"], v["start"], v["end"]) for v in kept] == [("Lead is heavy.", 0, 14)]


def test_statements_without_a_verdict_and_opinions_alone_are_nothing_to_return() -> None:
    assert prune("Gold shines.", []) == ("", [])
    assert prune("I like gold.", [verdict(text="I like gold.", type="opinion")]) == ("", [])


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


def test_what_is_left_is_not_grounded_below_the_threshold_of_the_run() -> None:
    claims = (verdict("supported", "Gold shines.", support=0.7, judge="encoder"),)
    whole = Verification(confidence=0.4, claims=claims, policy="calibrated", threshold=0.99)
    assert not pruned_verification("Gold shines.", whole, {})[1].is_grounded


def test_the_weights_of_the_policy_score_what_is_left() -> None:
    signals = {"alignment": 0.2, "citation_coverage": 0.4, "fact_score": 0.0}
    whole = Verification(
        confidence=0.2, claims=(verdict("supported", "Gold shines."),), policy="weighted", signals=signals
    )
    _, left = pruned_verification(
        "Gold shines.", whole, {"weighted": {"alignment": 0.0, "citation": 1.0, "facts": 0.0}}
    )
    assert left.confidence == 0.4


@pytest.mark.parametrize(
    ("read", "most"),
    [
        ({"chance": None, "quoted": True, "seen": {}}, 0.8),
        ({"chance": 0.4, "quoted": True, "seen": {}}, 0.4),
        ({"chance": 0.99, "quoted": True, "seen": {"found": 0.0, "chance": 0.0}, "written": asdict(Written())}, 0.7),
        ({"chance": 0.2, "quoted": False, "seen": {}}, 1.0),
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
