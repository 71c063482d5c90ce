"""Any text is a query."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.passages import as_passage, as_passages
from cragraph.store import Store, open_store
from cragraph.store.lexical import Lexical, affordable, discriminating, match_any
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


def test_operators_are_plain_words(store: Store) -> None:
    store.add(as_passages(["near the shore", "far out at sea", "somewhere else"]))
    assert [p["text"] for p in store.lexical("NEAR NOT", 3)] == ["near the shore"]


def test_a_word_in_most_passages_is_left_out_unless_all_are() -> None:
    assert discriminating({"the": 9, "penguin": 2}, 10) == ["penguin"]
    assert discriminating({"the": 9}, 10) == ["the"]
    assert discriminating({"none": 0}, 10) == []


def test_common_words_rank_what_rare_words_found(store: Store) -> None:
    filler = [f"{'common' if i % 3 == 0 else 'other'} words stand in number {i}" for i in range(300)]
    store.add(as_passages(["rare things to read about", "rare and common things here", *filler]))
    exact, cheap = Lexical(store.index), Lexical(store.index, budget=10)
    found = cheap("rare common", 5)
    assert [p["text"] for p in found] == ["rare and common things here", "rare things to read about"]
    assert found[0] == exact("rare common", 1)[0]
    assert cheap("rare common", 5, {"chunk_index": {"$eq": 0}})[0]["text"] == "rare things to read about"
    assert [p["text"] for p in cheap("common", 400)] == [p["text"] for p in exact("common", 400)]


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


def test_words_that_are_far_too_common_do_not_rank(store: Store) -> None:
    store.add(as_passages(["rare things", *(f"{'common ' * (i % 3)}and rare {i}" for i in range(9))]))
    store.add(as_passages(f"common words {i}" for i in range(40)))
    found = Lexical(store.index, budget=1)("rare common", 2)
    assert found[0]["text"] == "rare things"  # the shortest of those with the rare word
    assert found[0]["retrieval_score"] == Lexical(store.index)("rare", 1)[0]["retrieval_score"]


@pytest.mark.parametrize(
    ("counts", "budget", "kept"), [([1, 5, 9], 15, 3), ([1, 5, 9], 14, 2), ([100, 200], 10, 1), ([], 10, 0)]
)
def test_as_many_of_the_rarest_words_are_taken_as_can_be_afforded(counts: list[int], budget: int, kept: int) -> None:
    words = ["a", "b", "c"][: len(counts)]
    assert affordable(words, counts, budget) == words[:kept]


def test_a_query_is_words_in_quotes() -> None:
    assert match_any(["and", 'a"b']) == '"and" OR "a""b"'


@pytest.mark.parametrize("query", ["company", "RUNNING", "cafe", "run companies"])
def test_a_query_finds_other_forms_of_its_words(store: Store, query: str) -> None:
    store.add(as_passages(["Running companies, in a Café", "nothing of the kind"]))
    assert [p["text"] for p in store.lexical(query, 2)] == ["Running companies, in a Café"]


@pytest.mark.parametrize("query", ["1,496.5", "1496.5", "FY2023", "FY23", "2023", "東京"])
def test_figures_years_and_words_without_spaces_are_found(store: Store, query: str) -> None:
    store.add(as_passages(["It was 1,496.5 in FY2023.", "It was 14 in 2022.", "私は東京に住んでいます"]))
    assert store.lexical(query, 1)[0]["text"] == (
        "私は東京に住んでいます" if query == "東京" else "It was 1,496.5 in FY2023."
    )
