"""A cascade: the strong judge sees only what the cheap one is unsure of."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from cragraph.errors import ModelError, SettingsError
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage
from cragraph.verification.judges.cascade import CascadeJudge
from cragraph.verification.judges.verdicts import unjudged

Make = Callable[..., Any]


def test_only_claims_in_the_band_go_to_the_strong_judge(
    scoring: Make, claims: list[Claim], passages: list[Passage]
) -> None:
    notes, strong = Notes(), scoring("strong")
    cheap = scoring("cheap", sales=0.95, costs=0.5, profits=0.05)
    verdicts = CascadeJudge(cheap, strong)(claims, passages, notes)
    assert strong.asked == [["Costs fell."]]
    assert [verdict["judge"] for verdict in verdicts] == ["cheap", "strong", "cheap"]
    assert notes.models["cascade: escalated"] == "1 of 3"


@pytest.mark.parametrize(("support", "escalated"), [(0.29, 0), (0.3, 1), (0.7, 1), (0.71, 0)])
def test_the_edges_of_the_band_belong_to_it(
    support: float, escalated: int, scoring: Make, claims: list[Claim], passages: list[Passage]
) -> None:
    strong = scoring("strong")
    CascadeJudge(scoring("cheap", sales=support), strong, (0.3, 0.7))(claims[:1], passages, Notes())
    assert len(strong.asked) == escalated


def test_nothing_unsure_costs_no_call(scoring: Make, claims: list[Claim], passages: list[Passage]) -> None:
    notes, strong = Notes(), scoring("strong")
    CascadeJudge(scoring("cheap"), strong)(claims, passages, notes)
    assert strong.asked == []
    assert notes.models["cascade: escalated"] == "0 of 3"


def test_all_unsure_claims_go_on_in_one_call(scoring: Make, claims: list[Claim], passages: list[Passage]) -> None:
    strong = scoring("strong")
    CascadeJudge(scoring("cheap", sales=0.5, costs=0.5, profits=0.5), strong)(claims, passages, Notes())
    assert strong.asked == [["Sales rose.", "Costs fell.", "Profits doubled."]]


def test_when_the_strong_judge_fails_the_cheap_verdicts_stand_and_it_is_said(
    scripted: Make, scoring: Make, claims: list[Claim], passages: list[Passage]
) -> None:
    def away(claims: Sequence[Claim], passages: Sequence[Passage]) -> Any:
        raise ModelError("the server is away")

    notes = Notes()
    cheap = scoring("cheap", costs=0.5)
    verdicts = CascadeJudge(cheap, scripted(away, "strong"))(claims, passages, notes)
    assert [verdict["judge"] for verdict in verdicts] == ["cheap"] * 3
    assert "'strong' of the cascade failed (ModelError: the server is away)" in notes.sentences[0]


def test_what_the_strong_judge_leaves_open_keeps_its_cheap_verdict(
    scripted: Make, scoring: Make, claims: list[Claim], passages: list[Passage]
) -> None:
    silent = scripted(lambda claims, passages: [unjudged(claim, "") for claim in claims], "strong")
    verdicts = CascadeJudge(scoring("cheap", costs=0.5), silent)(claims, passages, Notes())
    assert verdicts[1]["judge"] == "cheap"


def test_what_the_cheap_judge_leaves_open_goes_on(
    scripted: Make, scoring: Make, claims: list[Claim], passages: list[Passage]
) -> None:
    silent = scripted(lambda claims, passages: [unjudged(claim, "") for claim in claims], "cheap")
    verdicts = CascadeJudge(silent, scoring("strong"))(claims, passages, Notes())
    assert {verdict["judge"] for verdict in verdicts} == {"strong"}


def test_no_claims_need_no_judge(scoring: Make, passages: list[Passage]) -> None:
    cheap = scoring("cheap")
    assert CascadeJudge(cheap, scoring("strong"))([], passages, Notes()) == []
    assert cheap.asked == []


@pytest.mark.parametrize("band", [(0.7, 0.3), (-0.1, 0.5), (0.5, 1.5), (float("nan"), 0.5)])
def test_a_band_must_be_two_numbers_in_order(band: tuple[float, float], scoring: Make) -> None:
    with pytest.raises(SettingsError, match="two numbers"):
        CascadeJudge(scoring("cheap"), scoring("strong"), band)
