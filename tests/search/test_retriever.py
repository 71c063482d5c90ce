from collections.abc import Sequence
from typing import ClassVar

import pytest

from cragraph.protocols import Notes
from cragraph.search import SearchRetriever, SourceWeights
from cragraph.search.retriever import Mode
from cragraph.store import Store
from cragraph.types import Passage

MODES: list[Mode] = ["hybrid", "dense", "lexical"]


def sources(found: Sequence[Passage]) -> list[str]:
    return [passage["source"] for passage in found]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_finds_the_passage_that_answers(store: Store, mode: Mode) -> None:
    found = SearchRetriever(store, mode)(["What was Intel's net revenue?"], 3, Notes())
    assert found[0]["source"] == "drafts/intel.md"


@pytest.mark.parametrize("mode", MODES)
def test_scores_are_within_0_and_1_and_never_rise(store: Store, mode: Mode) -> None:
    found = SearchRetriever(store, mode)(["thick ice that penguins swim under"], 6, Notes())
    scores = [passage["retrieval_score"] for passage in found]
    assert all(score is not None and 0.0 <= score <= 1.0 for score in scores)
    assert scores == sorted(scores, key=lambda score: -(score or 0.0))


def test_a_passage_says_what_each_stage_made_of_it(store: Store) -> None:
    [best] = SearchRetriever(store)(["penguins dive for krill"], 1, Notes())
    scores = best["metadata"]["scores"]
    assert list(scores) == ["dense", "lexical", "fused", "retrieval"]
    assert 0.0 < scores["dense"] <= 1.0
    assert 0.0 < scores["lexical"] <= 1.0
    assert scores["fused"] == pytest.approx(0.4 / 61 + 0.6 / 61)
    assert scores["retrieval"] == best["retrieval_score"]


@pytest.mark.parametrize("mode", MODES)
def test_a_filter_holds_on_both_sides(store: Store, mode: Mode) -> None:
    found = SearchRetriever(store, mode)(["net revenue of Apple"], 6, Notes(), where={"year": 2022})
    assert sources(found) == ["filings/apple22.md"]


def test_a_less_reliable_source_ranks_below_an_equal_one(store: Store) -> None:
    question = ["net revenue reported in billion dollars"]
    plain = sources(SearchRetriever(store)(question, 3, Notes()))
    assert "drafts/intel.md" in plain
    weighed = SearchRetriever(store, weights=SourceWeights({"drafts/*": 0.3}))(question, 6, Notes())
    assert sources(weighed).index("drafts/intel.md") > 1
    scores = next(p for p in weighed if p["source"] == "drafts/intel.md")["metadata"]["scores"]
    assert scores["weight"] == 0.3
    values = [p["retrieval_score"] or 0.0 for p in weighed]
    assert values == sorted(values, reverse=True)


def test_what_is_degraded_in_the_store_is_noted(store: Store) -> None:
    class Degraded:
        notes: ClassVar = ["The lexical index is off."]

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

    notes = Notes()
    SearchRetriever(Degraded())(["penguins"], 1, notes)
    assert notes.sentences == ["The lexical index is off."]
