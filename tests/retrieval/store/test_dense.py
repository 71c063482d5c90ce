"""Dense search with a filter, by either of the two ways, and where the local index is behind."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from cragraph.passages import as_passage
from cragraph.retrieval.store import Store, open_store
from cragraph.retrieval.store.dense import Dense
from cragraph.retrieval.store.vectors import Vectors
from cragraph.testing.embeddings import HashEmbeddings

NUMBER = 600


@pytest.fixture(scope="module")
def years() -> Iterator[Store]:
    """Passages of 30 years, 20 of each, no two equally near to anything."""
    passages = [as_passage({"text": f"number {n}", "source": str(n), "year": n % 30}) for n in range(NUMBER)]
    with open_store(None, HashEmbeddings(16)) as store:
        store.add(passages, vectors=np.random.default_rng(0).normal(size=(NUMBER, 16)).astype(np.float32))
        yield store


@pytest.fixture
def vector() -> list[float]:
    return [1.0, *[0.5] * 15]


class Asked:
    """Chroma's side, remembering what was asked of it."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.filters: list[Mapping[str, Any] | None] = []

    def nearest(self, vector: list[float], k: int, where: Mapping[str, Any] | None) -> list[tuple[str, float]]:
        self.filters.append(where)
        return self._vectors.nearest(vector, k, where)

    def records(self, chunk_ids: list[str]) -> Iterator[Any]:
        return self._vectors.records(chunk_ids)


@pytest.mark.parametrize(
    ("where", "by_chroma"),
    [
        ({"year": {"$gte": 1}}, False),
        ({"year": {"$lt": 10}}, False),
        ({"year": {"$in": [3, 9]}}, False),
        ({"year": {"$eq": 3}}, False),
        ({"year": {"$gt": 99}}, True),
    ],
)
def test_a_sieve_finds_what_a_filter_does(
    years: Store, vector: list[float], where: dict[str, Any], by_chroma: bool
) -> None:
    asked: Any = Asked(years._vectors)
    sieved = Dense(asked, years._index, sieved_from=1)(vector, 30, where)
    assert sieved == Dense(years._vectors, years._index, sieved_from=NUMBER + 1)(vector, 30, where)
    assert (where in asked.filters) == by_chroma


def test_a_small_store_leaves_the_filter_to_chroma(years: Store, vector: list[float]) -> None:
    asked: Any = Asked(years._vectors)
    Dense(asked, years._index)(vector, 5, {"year": {"$gte": 1}})
    assert asked.filters == [{"year": {"$gte": 1}}]


def test_what_the_index_does_not_have_yet_comes_from_chroma(full: Store) -> None:
    query = "Penguins swim under the ice."
    [before] = full.dense(query, 1)
    full._index.drop([before["chunk_id"]])
    assert full.dense(query, 1) == [before]
