"""Dense search compares every vector; with a filter by either of two ways."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cragraph.passages import as_passage
from cragraph.store import Store, open_store
from cragraph.store import dense as module
from cragraph.store.records import Floats
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage
from tests.support.cases import cases

NUMBER = 1500


def numbered(first: int, last: int) -> list[Passage]:
    return [as_passage({"text": f"number {n}", "source": str(n), "year": n % 30}) for n in range(first, last)]


def vectors(number: int, seed: int = 0) -> Floats:
    """No two equally near to anything."""
    return np.random.default_rng(seed).normal(size=(number, 16)).astype(np.float32)


@pytest.fixture(scope="module")
def years() -> Iterator[Store]:
    """Passages of 30 years, 50 of each."""
    with open_store(None, HashEmbeddings(16)) as store:
        store.add(numbered(0, NUMBER), vectors=vectors(NUMBER))
        yield store


@pytest.fixture
def vector() -> Floats:
    return np.asarray([1.0, *[0.5] * 15], dtype=np.float32)


def nearest(vector: Floats, numbers: list[int]) -> list[str]:
    """The sources of these numbers, nearest first, worked out here."""
    matrix = vectors(NUMBER)[numbers]
    cosines = matrix @ vector / np.linalg.norm(matrix, axis=1)
    return [str(numbers[place]) for place in np.argsort(-cosines)]


@pytest.mark.parametrize("most", [1, 3000])
@pytest.mark.parametrize(("where", "passing"), cases("store/dense", "however a filter"))
def test_however_a_filter_is_worked_out_the_nearest_that_pass_are_found(
    years: Store, vector: Floats, where: dict[str, Any] | None, passing: list[int], most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(module, "MOST_FILTERED", most)
    found = years._vectors.nearest(vector, 5, where)
    assert [p["source"] for p in found] == nearest(vector, passing)[:5]
    scores = [p["retrieval_score"] or 0.0 for p in found]
    assert scores == sorted(scores, reverse=True)
