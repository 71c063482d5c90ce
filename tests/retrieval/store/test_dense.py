"""Dense search with a filter, by either of the two ways, and where the local index is behind."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from cragraph.passages import as_passage
from cragraph.retrieval.store import Store, open_store
from cragraph.retrieval.store.dense import Dense
from cragraph.retrieval.store.floats import Floats
from cragraph.retrieval.store.vectors import Vectors
from cragraph.testing.embeddings import HashEmbeddings

NUMBER = 3000


@pytest.fixture(scope="module", params=["folder", "memory"])
def years(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Passages of 30 years, 100 of each, no two equally near to anything; only a folder keeps their vectors."""
    passages = [as_passage({"text": f"number {n}", "source": str(n), "year": n % 30}) for n in range(NUMBER)]
    target = tmp_path_factory.mktemp("store") if request.param == "folder" else None
    with open_store(target, HashEmbeddings(16)) as store:
        store.add(passages, vectors=np.random.default_rng(0).normal(size=(NUMBER, 16)).astype(np.float32))
        yield store


@pytest.fixture
def vector() -> Floats:
    return np.asarray([1.0, *[0.5] * 15], dtype=np.float32)


class Asked:
    """Chroma's side, remembering how it was asked."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.said: list[str] = []

    def nearest(self, vector: list[float], k: int, where: Mapping[str, Any] | None) -> list[tuple[str, float]]:
        self.said.append("filtered" if where else "nearest")
        return self._vectors.nearest(vector, k, where)

    def ids(self, where: Mapping[str, Any]) -> list[str]:
        self.said.append("ids")
        return self._vectors.ids(where)

    def records(self, chunk_ids: list[str]) -> Iterator[Any]:
        return self._vectors.records(chunk_ids)


@pytest.mark.parametrize(
    ("where", "passing", "how"),
    [
        ({"year": {"$gte": 1}}, 2900, "nearest"),
        ({"year": {"$in": [3, 9]}}, 200, "nearest"),
        ({"source": {"$eq": "17"}}, 1, "ids"),
        ({"source": {"$in": ["17", "99", "500", "1001", "2000", "2345", "2999"]}}, 7, "ids"),
        ({"year": {"$gt": 99}}, 0, "ids"),
    ],
)
def test_however_a_filter_is_held_against_passages_the_same_are_found(
    years: Store, vector: Floats, where: dict[str, Any], passing: int, how: str
) -> None:
    asked: Any = Asked(years._vectors)
    found = Dense(asked, years._index, small=1)(vector, 5, where)
    expected = Dense(years._vectors, years._index, small=NUMBER + 1)(vector, 5, where)
    assert [p["chunk_id"] for p in found] == [p["chunk_id"] for p in expected]
    assert [p["retrieval_score"] for p in found] == pytest.approx([p["retrieval_score"] for p in expected], abs=1e-3)
    assert len(found) == min(5, passing)
    kept = bool(years._index.kept_vectors(years._index.ids()))
    assert set(asked.said) == {how} | ({"filtered"} if how == "ids" and passing and not kept else set())


def test_more_of_the_nearest_are_taken_where_too_few_of_them_pass(years: Store, vector: Floats) -> None:
    nearest = [p["source"] for p in Dense(years._vectors, years._index)(vector, 600)]
    where = {"source": {"$in": nearest[400:]}}
    asked: Any = Asked(years._vectors)
    assert [p["source"] for p in Dense(asked, years._index, small=1)(vector, 5, where)] == nearest[400:405]
    assert set(asked.said) == {"nearest"}
    assert len(asked.said) > 1


def test_a_small_store_leaves_the_filter_to_chroma(years: Store, vector: Floats) -> None:
    asked: Any = Asked(years._vectors)
    Dense(asked, years._index)(vector, 5, {"year": {"$gte": 1}})
    assert asked.said == ["filtered"]


def test_what_the_index_does_not_have_yet_comes_from_chroma(full: Store) -> None:
    query = "Penguins swim under the ice."
    [before] = full.dense(query, 1)
    full._index.drop([before["chunk_id"]])
    assert full.dense(query, 1) == [before]
