"""Any text is a query."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.passages import as_passage, as_passages
from cragraph.store import Store, open_store
from cragraph.testing import HashEmbeddings

ODD = [
    '"', "'", '""', "*", "AND", "OR NOT", "NEAR(a b)", "text:revenue", "revenue AND", "(revenue", "^revenue",
    "-revenue", "a + b", "revenue*", "{revenue}", "\x00revenue\x00", "revenue; DROP TABLE chunks", "🐧🐧", "¿qué?",
    "日本語", "...", " \n\t", "_", "a_b", "\ud800 revenue", "%s",
    "\\", "'; --", "rev\"enue", "x" * 10_000, "revenue " * 2000,
]  # fmt: skip


@pytest.mark.parametrize("query", ODD, ids=lambda query: repr(query[:20]))
def test_odd_queries_are_searched_like_any_other(full: Store, query: str) -> None:
    found = full.lexical(query, 3)
    if "revenue" in query.lower():
        assert {"a/apple.md", "a/ms.md"} <= {p["source"] for p in found}
    if query != "\ud800 revenue":
        full.dense(query, 3)


@pytest.fixture(scope="module")
def memory() -> Store:
    opened = open_store(None, HashEmbeddings(16))
    opened.add(as_passages(["Ein Satz mit Wörtern.", "a sentence with words", "penguins"]))
    return opened


@given(query=st.text())
@settings(max_examples=200, deadline=None)
def test_no_text_breaks_the_search(memory: Store, query: str) -> None:
    assert all(0.0 <= (p["retrieval_score"] or 0.0) <= 1.0 for p in memory.lexical(query, 3))


@pytest.mark.parametrize(
    ("test", "passing"),
    [({"$lt": 1}, 1), ({"$lt": 40}, 40), ({"$gte": 140}, 60), ({"$gte": 190}, 10), ({"$gte": 0}, 200), ({"$lt": 0}, 0)],
)
def test_a_filter_lets_through_the_best_of_all_that_pass(store: Store, test: dict[str, int], passing: int) -> None:
    store.add(as_passage({"text": f"pebble {'stone ' * n}", "source": str(n), "year": n}) for n in range(200))
    ranked = store.lexical("pebble", 300)
    assert [p["metadata"]["year"] for p in ranked] == list(range(200))  # the shorter, the better
    all_passing = store.lexical("pebble", 300, {"year": test})
    assert len(all_passing) == passing
    assert store.lexical("pebble", 10, {"year": test}) == all_passing[:10]
    assert all(p in ranked for p in all_passing)
