"""What a judge returns is made sound, or refused."""

from typing import Any

import pytest

from cragraph.errors import ModelError
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.verdicts import checked, sanitised, unjudged, verdict_of

CLAIM = Claim(text="Sales rose.", start=0, end=11, type="factual")


def verdict(**changes: Any) -> Any:
    made: dict[str, Any] = dict(verdict_of(CLAIM, "supported", 0.9, 0.1, None, "why", "fake"))
    return made | changes


def quote(text: str, passage: Any = 0, start: Any = 0, end: Any = 0) -> dict[str, Any]:
    return {"quote": text, "passage": passage, "chunk_id": "x", "start": start, "end": end}


def sound(passages: list[Passage], **changes: Any) -> Verdict:
    return sanitised(verdict(**changes), CLAIM, passages, "fake")


def test_a_sound_verdict_stays_what_it_is(passages: list[Passage]) -> None:
    given = quote("sales rose.", 0, 10, 21)
    found = sound(passages, evidence=given)
    assert found["evidence"] == given | {"chunk_id": passages[0]["chunk_id"]}
    assert (found["verdict"], found["support"], found["reasoning"]) == ("supported", 0.9, "why")


@pytest.mark.parametrize(("score", "clamped"), [(-1, 0.0), (7, 1.0), (0.5, 0.5)])
def test_scores_are_clamped(passages: list[Passage], score: float, clamped: float) -> None:
    assert sound(passages, support=score)["support"] == clamped
    assert sound(passages, contradiction=score)["contradiction"] == clamped


@pytest.mark.parametrize("score", [float("nan"), float("inf"), None, "0.5", True])
def test_a_score_that_is_no_number_is_refused(passages: list[Passage], score: Any) -> None:
    with pytest.raises(ModelError, match="wanted a number"):
        sound(passages, support=score)


@pytest.mark.parametrize("label", ["SUPPORTED", "", None, 1, ["supported"]])
def test_an_unknown_label_is_refused(passages: list[Passage], label: Any) -> None:
    with pytest.raises(ModelError, match="wanted one of supported"):
        sound(passages, verdict=label)


@pytest.mark.parametrize(
    "given",
    [
        quote("sales rose.", 1, 3, 5),
        quote("sales rose.", 0, 11, 22),
        quote("sales rose.", 99, 0, 4),
        quote("sales rose.", None, None, None),
        quote("sales\n  rose.", 0, 0, 4),
    ],
    ids=["other passage", "shifted", "no such passage", "no place", "other white space"],
)
def test_a_quote_at_a_wrong_place_is_moved_to_its_own(passages: list[Passage], given: dict[str, Any]) -> None:
    found = sound(passages, evidence=given)
    assert found["verdict"] == "supported"
    assert found["evidence"] == {
        "quote": "sales rose.", "passage": 0, "chunk_id": passages[0]["chunk_id"], "start": 10, "end": 21
    }  # fmt: skip


@pytest.mark.parametrize(
    ("label", "lowered"),
    [
        ("supported", "partially_supported"),
        ("partially_supported", "unsupported"),
        ("unsupported", "unsupported"),
        ("contradicted", "contradicted"),
    ],
)
@pytest.mark.parametrize("given", [quote("Sales exploded."), quote(" "), {"passage": 0}, "sales rose."])
def test_an_invented_quote_is_dropped_and_the_verdict_lowered(
    passages: list[Passage], label: str, lowered: str, given: Any
) -> None:
    found = sound(passages, verdict=label, evidence=given)
    assert found["evidence"] is None
    assert found["verdict"] == lowered
    assert "not in the passages" in found["reasoning"]
    if label != lowered:
        assert found["support"] < 0.5


def test_the_claim_is_the_one_that_was_asked_about(passages: list[Passage]) -> None:
    found = sound(passages, text="Something else.", start=7, end=9)
    assert (found["text"], found["start"], found["end"]) == ("Sales rose.", 0, 11)


def test_unsupported_spans_outside_the_claim_are_dropped(passages: list[Passage]) -> None:
    assert sound(passages, unsupported_spans=[(0, 5), (4, 99), (3, 3)])["unsupported_spans"] == [(0, 5)]


def test_an_unjudged_claim_has_no_scores(passages: list[Passage]) -> None:
    found = sound(passages, verdict="unjudged", support=1.0, contradiction=1.0)
    assert (found["support"], found["contradiction"]) == (0.0, 0.0)


@pytest.mark.parametrize("returned", [None, "supported", {}, [], [verdict(), verdict()], [None], ["supported"]])
def test_what_are_no_verdicts_is_refused(passages: list[Passage], returned: Any) -> None:
    with pytest.raises(ModelError, match="wanted"):
        checked(returned, [CLAIM], passages, "fake")


def test_unjudged_is_never_supported() -> None:
    assert unjudged(CLAIM, "why")["support"] == 0.0
