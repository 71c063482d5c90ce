"""Source weights, from the settings to the response."""

from typing import Any

import pytest

from cragraph.api import create_graph, verify
from cragraph.settings import load_settings

GOLD = "Gold is a dense yellow metal."
MOON = "The moon is made of green cheese."
DRAFT = {"text": GOLD, "source": "drafts/metals.md"}
REPORT = {"text": f"As the survey says: {GOLD}", "source": "report.md"}


def response(passages: list[Any], weights: dict[str, float], answer: str = GOLD, **context: Any) -> dict[str, Any]:
    settings = load_settings(store=None, source_weights=weights)
    graph = create_graph(settings).compile()
    inputs = {"question": "What is gold?", "answer": answer, "passages": passages}
    options = {"judge": "lexical", "policy": "claims", "max_crag_attempts": 0, **context}
    found: dict[str, Any] = graph.invoke(inputs, context=options)
    return found


def test_an_answer_from_a_draft_alone_is_not_good_enough_and_the_response_says_why() -> None:
    draft = response([DRAFT], {"drafts/*": 0.5}, show_claims=True)
    assert (draft["confidence"], draft["accepted"], draft["decision"]["outcome"]) == (0.5, False, "doubtful")
    assert draft["issues"] == [
        "Confidence 0.50 is below the threshold of 0.70.",
        "1 of 1 supported claims rest only on sources of lower weight: drafts/metals.md (0.5); the confidence counts "
        "0.50 times",
    ]
    assert [claim["source_weight"] for claim in draft["verification"]["claims"]] == [0.5]


def test_an_answer_that_a_report_supports_too_is_accepted_and_cites_the_report() -> None:
    both = response([DRAFT, REPORT], {"drafts/*": 0.5})
    assert (both["confidence"], both["issues"]) == (1.0, [])
    assert [citation["metadata"]["source"] for citation in both["citations"]] == ["report.md"]


@pytest.mark.parametrize("weights", [{}, {"*": 1.0}, {"other/*": 0.1}])
def test_weights_of_one_change_nothing(weights: dict[str, float]) -> None:
    draft = response([DRAFT], weights)
    assert (draft["confidence"], draft["issues"], draft["abstained"]) == (1.0, [], False)


def test_what_is_left_of_a_pruned_answer_is_weighed_too() -> None:
    pruned = response([DRAFT], {"drafts/*": 0.5}, f"{GOLD} {MOON}", on_low_confidence="prune")
    assert MOON not in pruned["answer"]
    assert pruned["confidence"] == 0.5


def test_verifying_without_a_graph_weighs_as_well() -> None:
    settings = load_settings(store=None, source_weights={"drafts/*": 0.5})
    assert verify(GOLD, [DRAFT], settings=settings, judge="lexical", policy="claims").confidence == 0.5
    assert verify(GOLD, [REPORT], settings=settings, judge="lexical", policy="claims").confidence == 1.0
