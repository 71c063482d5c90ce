import math
from collections.abc import Sequence

import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search.rerankers import NoReranker, logistic, logit, with_score
from cragraph.search.rerankers.lexical import LexicalReranker, matches
from cragraph.types import Passage


def texts(found: Sequence[Passage]) -> list[str]:
    return [passage["text"] for passage in found]


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("net revenue of Apple", "The net revenue rose.", "Net of tax, and revenue too."),
        ("Who leads Apple?", "He leads Apple now.", "He leads apple pickers now."),
        ("What was sold in 2019?", "Boats were sold in 2019.", "Boats were sold in 2018."),
        ("What cost 1,496 dollars?", "It cost 1496 dollars.", "It cost 14961 dollars."),
        ("wing flutter", "Wing flutter was seen.", f"A wing {'and more ' * 30} flutter was seen."),
    ],
)
def test_the_better_match_of_two_comes_first(question: str, better: str, worse: str) -> None:
    for order in ([better, worse], [worse, better]):
        found = LexicalReranker()(question, as_passages(order), Notes())
        assert texts(found) == [better, worse]
        assert (found[0]["rerank_score"] or 0.0) > (found[1]["rerank_score"] or 0.0)


def test_a_hit_in_the_heading_counts() -> None:
    text = "It is paid on the first day of the month."
    plain, headed = {"text": text}, {"text": text, "metadata": {"heading": "Terms > Dividend"}}
    found = LexicalReranker()("When is the dividend paid?", as_passages([plain, headed]), Notes())
    assert found[0]["metadata"].get("heading") == "Terms > Dividend"


def test_what_retrieval_said_is_kept_in_mind() -> None:
    weak, strong = (
        {"text": "Penguins swim.", "chunk_id": "a", "retrieval_score": 0.1},
        {"text": "Penguins swim.", "chunk_id": "b", "retrieval_score": 0.6},
    )
    found = LexicalReranker()("penguins", as_passages([weak, strong]), Notes())
    assert [passage["chunk_id"] for passage in found] == ["b", "a"]


@pytest.mark.parametrize("question", ["", "?!", "the of", "krill", "x" * 5000, "\x00\ud800", "krill " * 2000])
def test_any_question_gives_scores_in_0_to_1(question: str) -> None:
    given = as_passages(["Penguins eat krill.", "", "\ud800", {"text": "krill", "retrieval_score": 1.0}])
    found = LexicalReranker()(question, given, Notes())
    assert len(found) == len(given)
    assert all(0.0 <= (passage["rerank_score"] or 0.0) <= 1.0 for passage in found)


def test_equal_passages_keep_their_order() -> None:
    given = as_passages([{"text": "same", "chunk_id": str(n)} for n in range(5)])
    assert [p["chunk_id"] for p in LexicalReranker()("else", given, Notes())] == ["0", "1", "2", "3", "4"]


def test_no_passages_need_no_reranking() -> None:
    assert LexicalReranker()("anything", [], Notes()) == []


def test_passages_are_copied_and_the_score_is_kept_by_stage() -> None:
    [given] = as_passages([{"text": "krill", "retrieval_score": 0.4, "metadata": {"scores": {"dense": 0.7}}}])
    [found] = LexicalReranker()("krill", [given], Notes())
    assert given["rerank_score"] is None
    assert given["metadata"]["scores"] == {"dense": 0.7}
    assert found["metadata"]["scores"] == {"dense": 0.7, "rerank": found["rerank_score"]}


def test_each_kind_of_match_is_a_share() -> None:
    [match] = matches("the net revenue of Apple in Cork", as_passages(["In Cork, the net revenue of Apple."]))
    assert (match.near, match.phrase, match.exact, match.heading) == (1.0, 2 / 3, 1.0, 0.0)
    [none] = matches("net revenue of Apple in 2019", as_passages(["Whales sing."]))
    assert (none.bm25, none.near, none.phrase, none.exact, none.heading) == (0.0, 0.0, 0.0, 0.0, 0.0)


def test_the_reranker_none_changes_nothing() -> None:
    given = as_passages(["b", "a"])
    assert NoReranker()("a", given, Notes()) == given


@pytest.mark.parametrize(("score", "kept"), [(math.nan, 0.0), (-3.0, 0.0), (7.0, 1.0), (0.25, 0.25)])
def test_a_score_is_brought_within_0_and_1(score: float, kept: float) -> None:
    [passage] = as_passages(["x"])
    assert with_score(passage, score)["rerank_score"] == kept


@pytest.mark.parametrize("p", [0.01, 0.5, 0.9])
def test_logit_is_the_inverse_of_logistic(p: float) -> None:
    assert logistic(logit(p)) == pytest.approx(p)


def test_extreme_odds_do_not_overflow() -> None:
    assert (logistic(-1e6), logistic(1e6)) == (0.0, 1.0)
    assert math.isfinite(logit(0.0))
