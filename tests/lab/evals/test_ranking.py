import math

import pytest

from cragraph.passages import as_passages
from cragraph.search.rerankers import rerank_gain
from cragraph.types import Passage
from lab.evals.metrics import dcg, mean, ndcg, recall, reciprocal_rank, relevant

GRADED = {"a": 3, "b": 2, "c": 1, "d": 0, "e": -1}


def test_dcg_discounts_by_the_logarithm_of_the_rank() -> None:
    # 3 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert dcg([3, 2, 1]) == pytest.approx(3 + 2 / 1.5849625 + 0.5)


@pytest.mark.parametrize(
    ("ranking", "value"),
    [
        (["a", "b", "c"], 1.0),
        (["c", "b", "a"], (1 + 2 / 1.5849625 + 3 / 2) / (3 + 2 / 1.5849625 + 0.5)),
        (["x", "a"], (3 / 1.5849625) / (3 + 2 / 1.5849625 + 0.5)),
        (["e", "d", "x"], 0.0),
        ([], 0.0),
        (["a", "a", "b", "c"], 1.0),
    ],
)
def test_ndcg_is_the_share_of_the_best_order(ranking: list[str], value: float) -> None:
    assert ndcg(ranking, GRADED) == pytest.approx(value)


def test_ndcg_looks_no_deeper_than_k() -> None:
    assert ndcg(["x", "a"], GRADED, k=1) == 0.0
    assert ndcg(["a", "x", "x2"], GRADED, k=1) == 1.0


def test_ndcg_of_ten_ideal_hits_is_1_however_many_more_are_relevant() -> None:
    gains = {str(n): 1 for n in range(30)}
    assert ndcg([str(n) for n in range(10)], gains) == pytest.approx(1.0)


@pytest.mark.parametrize(("k", "value"), [(1, 0.0), (2, 1 / 3), (4, 2 / 3), (9, 2 / 3)])
def test_recall_is_the_share_of_the_relevant_within_k(k: int, value: float) -> None:
    assert recall(["d", "a", "a", "c", "e"], GRADED, k) == pytest.approx(value if k != 4 else 2 / 3)


@pytest.mark.parametrize(
    ("ranking", "value"),
    [(["a"], 1.0), (["d", "e", "c", "a"], 1 / 3), (["d", "d", "a"], 1 / 2), (["x"], 0.0), ([], 0.0)],
)
def test_the_reciprocal_rank_is_that_of_the_first_relevant(ranking: list[str], value: float) -> None:
    assert reciprocal_rank(ranking, GRADED) == pytest.approx(value)


def test_grades_of_0_and_below_are_not_relevant() -> None:
    assert relevant(GRADED) == {"a", "b", "c"}


@pytest.mark.parametrize("figure", [ndcg, reciprocal_rank, lambda r, g: recall(r, g, 10)])
def test_a_query_without_anything_relevant_measures_0(figure: object) -> None:
    assert figure(["a", "b"], {"a": 0}) == 0.0  # type: ignore[operator]


def test_nothing_measured_has_no_mean() -> None:
    assert mean([]) == 0.0


def passages(**scores: float | None) -> list[Passage]:
    return as_passages([{"text": name, "chunk_id": name, "rerank_score": score} for name, score in scores.items()])


def test_the_rerank_gain_is_the_mean_score_kept_less_the_mean_score_that_stood_first() -> None:
    before = passages(a=None, b=None, c=None, d=None)
    after = passages(c=0.9, d=0.7, a=0.5, b=0.1)
    assert rerank_gain(before, after, k=2) == pytest.approx((0.9 + 0.7) / 2 - (0.5 + 0.1) / 2)


def test_a_dropped_passage_counts_as_0() -> None:
    assert rerank_gain(passages(a=None, b=None), passages(b=0.8), k=1) == pytest.approx(0.8)


def test_a_reranker_that_keeps_the_order_or_gives_no_scores_gains_nothing() -> None:
    assert rerank_gain(passages(a=None, b=None), passages(a=0.5, b=0.4), k=1) == 0.0
    assert rerank_gain(passages(a=None), passages(a=None)) == 0.0
    assert math.isfinite(rerank_gain([], []))
