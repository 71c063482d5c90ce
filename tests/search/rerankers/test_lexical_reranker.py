from collections.abc import Sequence

import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search.rerankers.lexical import LexicalReranker
from cragraph.types import Passage
from tests.support.cases import cases


def texts(found: Sequence[Passage]) -> list[str]:
    return [passage["text"] for passage in found]


@pytest.mark.parametrize(
    ("question", "better", "worse"), cases("search/rerankers/lexical_reranker", "the better match")
)
def test_the_better_match_of_two_comes_first(question: str, better: str, worse: str) -> None:
    for order in ([better, worse], [worse, better]):
        found = LexicalReranker()(question, as_passages(order), Notes())
        assert texts(found) == [better, worse]
        assert (found[0]["rerank_score"] or 0.0) > (found[1]["rerank_score"] or 0.0)


@pytest.mark.parametrize("question", ["", "?!", "the of", "krill", "x" * 5000, "\x00\ud800", "krill " * 2000])
def test_any_question_gives_scores_in_0_to_1(question: str) -> None:
    given = as_passages(["Penguins eat krill.", "", "\ud800", {"text": "krill", "retrieval_score": 1.0}])
    found = LexicalReranker()(question, given, Notes())
    assert len(found) == len(given)
    assert all(0.0 <= (passage["rerank_score"] or 0.0) <= 1.0 for passage in found)
