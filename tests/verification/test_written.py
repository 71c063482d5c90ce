"""The chance of an answer of which a chat model knows: its own, and a quotation beside its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from cragraph.errors import WeightsError
from cragraph.types import IDK
from cragraph.verification.decision import WORTH_SHOWING
from cragraph.verification.verifier import joined
from cragraph.verification.written import Beside, Written, card, features

QUESTION = "When does the shop open?"
SAYS = "The shop opens at 9:30 on weekdays. [1]"
SEEN = {"found": 0.5, "chance": 0.5, "span": 0.5}


def chance(supported: float = 0.5, sureness: float | None = -0.2, **seen: float) -> float:
    return card().chance(features(SEEN | seen, supported, Written(sureness)))


@pytest.mark.parametrize("name", ["found", "chance", "span"])
def test_what_the_reader_sees_speaks_for_an_answer(name: str) -> None:
    low, high = (chance(**{name: value}) for value in (0.1, 0.9))
    assert 0 < low < high < 1


def test_so_do_the_judges_support_and_the_models_sureness() -> None:
    assert chance(0.1) < chance(0.9)
    assert chance(sureness=-1.0) < chance(sureness=-0.05)
    assert chance(sureness=None) == chance(sureness=-0.15)


def test_a_small_chance_counts_for_what_it_is() -> None:
    assert chance(chance=0.03) < chance(chance=0.2) - 0.05


@pytest.mark.parametrize(
    ("answer", "stated", "shared"),
    [
        ("On weekdays it opens at 9:30. [1]", 0.8, 1.0),
        ("It opens at six on Mondays.", 0.2, 0.0),
        ("When does the shop open?", 0.2, 0.0),
        (IDK, None, 0.0),
    ],
)
def test_what_a_model_adds_to_the_question_is_looked_for_in_the_quotation(
    answer: str, stated: float | None, shared: float
) -> None:
    assert Beside.of(QUESTION, SAYS, answer, stated) == Beside(stated, shared)


def confidence(beside: dict[str, Any] | None, checked: float = 1.0, **read: Any) -> float:
    told = {"chance": 0.6, "quoted": True, "seen": SEEN} | ({} if beside is None else {"beside": beside}) | read
    return joined(0.9, [], told, checked)[0]


def test_a_quotation_is_surer_where_a_model_says_the_same_and_less_sure_where_it_says_something_else() -> None:
    same, other = {"chance": 0.8, "shared": 1.0}, {"chance": 0.2, "shared": 0.0}
    assert confidence(other) < confidence(None) == 0.54 < 0.7 < confidence(same)
    assert confidence({"chance": None, "shared": 0.0}) < confidence(None)
    assert confidence(same, checked=0.6) == 0.6


def test_a_model_neither_hides_what_would_be_shown_without_it_nor_shows_what_would_be_refused() -> None:
    same, other = {"chance": 0.9, "shared": 1.0}, {"chance": 0.02, "shared": 0.0}
    assert confidence(other, chance=0.46) == WORTH_SHOWING < confidence(None, chance=0.46)
    assert confidence(same, chance=0.43) == confidence(None, chance=0.43) == 0.387


@pytest.mark.parametrize(("read", "stated"), [({"quoted": False}, 0.9), ({"chance": None}, 0.5)])
def test_what_is_no_quotation_or_was_not_read_is_left_as_it_is(read: dict[str, Any], stated: float) -> None:
    assert confidence({"chance": 0.8, "shared": 1.0}, **read) == confidence(None, **read) == stated


def test_a_card_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "written.json"
    path.write_text(json.dumps({"weights": {"bias": 0.0}}))
    with pytest.raises(WeightsError, match="reinstall"):
        card(path)
