import pytest

from cragraph.passages import as_passages
from cragraph.search.rerankers import rerank_gain
from cragraph.types import Passage
from lab.evals.metrics import ndcg, recall, reciprocal_rank
from tests.support.cases import cases

GRADED = {"a": 3, "b": 2, "c": 1, "d": 0, "e": -1}


@pytest.mark.parametrize(("ranking", "value"), cases("lab/evals/ranking", "ndcg is the share"))
def test_ndcg_is_the_share_of_the_best_order(ranking: list[str], value: float) -> None:
    assert ndcg(ranking, GRADED) == pytest.approx(value)


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 1 / 3), (4, 2 / 3), (9, 2 / 3)])
def test_recall_is_the_share_of_the_relevant_within_k(k: int, value: float) -> None:
    assert recall(["d", "a", "a", "c", "e"], GRADED, k) == pytest.approx(value if k != 4 else 2 / 3)


@pytest.mark.parametrize(
    ("ranking", "value"),
    [(["a"], 1.0), (["d", "e", "c", "a"], 1 / 3), (["d", "d", "a"], 1 / 2), (["x"], 0.0), ([], 0.0)],
)
def test_the_reciprocal_rank_is_that_of_the_first_relevant(ranking: list[str], value: float) -> None:
    assert reciprocal_rank(ranking, GRADED) == pytest.approx(value)


def passages(**scores: float | None) -> list[Passage]:
    return as_passages([{"text": name, "chunk_id": name, "rerank_score": score} for name, score in scores.items()])


def test_the_rerank_gain_is_the_mean_score_kept_less_the_mean_score_that_stood_first() -> None:
    before = passages(a=None, b=None, c=None, d=None)
    after = passages(c=0.9, d=0.7, a=0.5, b=0.1)
    assert rerank_gain(before, after, k=2) == pytest.approx((0.9 + 0.7) / 2 - (0.5 + 0.1) / 2)


def test_a_dropped_passage_counts_as_0() -> None:
    assert rerank_gain(passages(a=None, b=None), passages(b=0.8), k=1) == pytest.approx(0.8)
