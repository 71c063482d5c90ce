from collections.abc import Callable

import pytest

from cragraph.errors import InputError
from cragraph.passages import as_passage, as_passages
from cragraph.store import Store
from cragraph.types import Passage

SIDES = [pytest.param(Store.dense, id="dense"), pytest.param(Store.lexical, id="lexical")]
Search = Callable[..., list[Passage]]


@pytest.mark.parametrize("search", SIDES)
def test_what_shares_the_words_of_the_query_comes_first(full: Store, search: Search) -> None:
    found = search(full, "What was the revenue of Apple?", 3)
    assert found[0]["text"] == "The revenue of Apple was 383 billion dollars."
    scores = [p["retrieval_score"] or 0.0 for p in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_metadata_of_any_shape_survives(store: Store) -> None:
    metadata = {
        "tags": ["a", {"b": [1, None]}],
        "none": None,
        "huge": 2**80,
        "nan": float("inf"),
        "": "empty name",
        "$eq": "an operator",
        "doc_id": "theirs",
        "chroma:document": "reserved",
        "ünï": "©",
        'a"b': 1,
    }
    passage = Passage(**{**as_passage("Some text."), "page": 7, "metadata": metadata})
    store.add([passage])
    metadata["nan"] = "inf"  # which is no JSON
    assert store.get([passage["chunk_id"]]) == [passage]
    assert store.dense("Some text.", 1)[0]["metadata"] == metadata


def test_a_passage_that_comes_again_with_other_metadata_is_rewritten(full: Store, lines: list[Passage]) -> None:
    newer = Passage(**{**lines[0], "metadata": {"ticker": "AAPL", "year": 2024}})
    full.add([newer])
    assert full.get([newer["chunk_id"]]) == [newer]
    assert [p["text"] for p in full.dense("revenue", 9, {"year": 2024})] == [newer["text"]]


def test_neighbours_are_of_the_same_document_and_in_order(store: Store) -> None:
    chunks = [
        {"text": f"part {i} of {doc}", "doc_id": doc, "chunk_id": f"{doc}{i}", "chunk_index": i}
        for doc in ("one", "two")
        for i in range(6)
    ]
    store.add(as_passages(chunks))
    (third,) = store.get(["one3"])
    assert [p["chunk_id"] for p in store.adjacent(third, before=2, after=1)] == ["one1", "one2", "one4"]
    (first,) = store.get(["one0"])
    assert [p["chunk_id"] for p in store.adjacent(first, before=2, after=1)] == ["one1"]


def test_half_a_character_is_refused_with_its_place(store: Store) -> None:
    [made] = as_passages(["bad text"])
    with pytest.raises(InputError, match="half a character at 4"):
        store.add([{**made, "text": "bad \ud800 text"}])
    assert store.count() == 0
    store.add(as_passages(["bad \ud800 text"]))  # which replaces it
    assert [passage["text"] for passage in store.lexical("bad text", 1)] == ["bad \ufffd text"]
