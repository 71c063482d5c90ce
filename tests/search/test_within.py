"""A filter asked of one passage says what the store says of all."""

from collections.abc import Iterator
from typing import Any

import pytest

from cragraph.passages import as_passages
from cragraph.store import Store, open_store
from cragraph.store.filters import fits
from cragraph.testing import HashEmbeddings

ROWS = [
    {"text": "one", "source": "a.md", "year": 2022, "ticker": "AAPL", "audited": True},
    {"text": "two", "source": "b.md", "year": 2023.5, "ticker": "MSFT", "audited": False},
    {"text": "three", "source": "b.md", "ticker": "1", "page": 3},
]
FILTERS: list[dict[str, Any]] = [
    {"year": 2022}, {"year": {"$gte": 2022}}, {"year": {"$lt": 2023}}, {"year": {"$ne": 2022}},
    {"ticker": {"$in": ["AAPL", "1"]}}, {"ticker": {"$nin": ["AAPL"]}}, {"source": "b.md"}, {"page": 3},
    {"audited": True}, {"audited": {"$ne": True}}, {"year": {"$gt": 2022}}, {"year": {"$lte": 2022}},
    {"$and": [{"source": "b.md"}, {"year": {"$gte": 2000}}]}, {"$or": [{"year": 2022}, {"page": 3}]},
]  # fmt: skip


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with open_store(None, HashEmbeddings(16)) as opened:
        opened.add(as_passages(ROWS))
        yield opened


@pytest.mark.parametrize("where", FILTERS, ids=str)
def test_one_passage_is_held_to_the_filter_as_the_store_holds_all(store: Store, where: dict[str, Any]) -> None:
    found = {p["text"] for p in store.dense("one", 9, where)}
    assert {p["text"] for p in as_passages(ROWS) if fits(p, where)} == found
    assert 0 < len(found) < len(ROWS)
