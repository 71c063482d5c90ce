from collections.abc import Callable

import numpy as np
import pytest

from cragraph.errors import InputError
from cragraph.passages import as_passage, as_passages
from cragraph.store import Store
from cragraph.testing import HashEmbeddings
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


@pytest.mark.parametrize("search", SIDES)
def test_a_passage_comes_back_as_it_went_in(full: Store, lines: list[Passage], search: Search) -> None:
    whales = lines[4]
    found = search(full, whales["text"], 1)[0]
    assert {**found, "retrieval_score": None} == whales


@pytest.mark.parametrize(
    ("query", "found"),
    [("the barbeque rules", True), ("begginer lessons", True), ("lesons", True), ("moorings", False), ("cats", False)],
)
def test_a_misspelt_word_finds_the_nearest_of_the_store_and_a_known_one_only_itself(
    store: Store, query: str, found: bool
) -> None:
    store.add(as_passages(["Barbecues are lit on the beach.", "Beginners have lessons at noon."]))
    assert bool(store.lexical(query, 1)) is found


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


def test_an_empty_store_finds_nothing(store: Store) -> None:
    assert store.dense("anything", 5) == []
    assert store.lexical("anything", 5) == []
    assert (store.count(), store.documents(), store.fields(), store.get(["x"])) == (0, [], {}, [])


@pytest.mark.parametrize("search", SIDES)
@pytest.mark.parametrize("k", [0, -1])
def test_no_places_no_passages(full: Store, search: Search, k: int) -> None:
    assert search(full, "revenue", k) == []


def test_headings_are_searched_but_not_part_of_the_text(store: Store, embeddings: HashEmbeddings) -> None:
    passage = as_passage({"text": "It rose by 4 %.", "title": "Annual report", "heading": "Revenue > Europe"})
    store.add([passage])
    found = store.lexical("revenue europe", 1)
    assert found[0]["text"] == "It rose by 4 %."
    assert embeddings.asked[-1].startswith("Annual report > Revenue > Europe")


def test_words_are_found_in_other_forms_and_without_accents(store: Store) -> None:
    store.add(as_passages(["The companies acquired a café in Zürich."]))
    for query in ("company", "acquiring companies", "cafe", "ZURICH", "Cafés"):
        assert store.lexical(query, 1), query


def test_adding_again_changes_nothing_and_embeds_nothing(
    full: Store, lines: list[Passage], embeddings: HashEmbeddings
) -> None:
    embeddings.asked.clear()
    assert full.add(lines) == 0
    assert full.count() == len(lines)
    assert embeddings.asked == []


def test_a_passage_that_comes_again_with_other_metadata_is_rewritten(full: Store, lines: list[Passage]) -> None:
    newer = Passage(**{**lines[0], "metadata": {"ticker": "AAPL", "year": 2024}})
    full.add([newer])
    assert full.get([newer["chunk_id"]]) == [newer]
    assert [p["text"] for p in full.dense("revenue", 9, {"year": 2024})] == [newer["text"]]


def test_deleted_passages_are_found_by_neither_side(full: Store, lines: list[Passage]) -> None:
    full.delete([lines[0]["chunk_id"], "unknown"])
    assert full.count() == len(lines) - 1
    for search in (full.dense, full.lexical):
        assert lines[0]["text"] not in [p["text"] for p in search("The revenue of Apple", 9)]


def test_passages_come_in_the_order_asked(full: Store, lines: list[Passage]) -> None:
    ids = [lines[i]["chunk_id"] for i in (3, 0, 3)]
    assert [p["chunk_id"] for p in full.get([ids[0], "unknown", *ids[1:]])] == ids


def test_vectors_are_the_embeddings_in_the_order_asked(
    full: Store, lines: list[Passage], embeddings: HashEmbeddings
) -> None:
    ids = [lines[i]["chunk_id"] for i in (2, 0)]
    wanted = np.array(embeddings.embed_documents([lines[2]["text"], lines[0]["text"]]))
    vectors = full.vectors(ids)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, wanted, atol=1e-3)
    assert full.vectors([]).shape == (0, 48)
    assert not full.vectors([ids[0], "gone meanwhile"])[1].any()


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


def test_more_passages_than_one_batch_all_arrive(store: Store) -> None:
    store.add(as_passages([f"number {i} of many" for i in range(700)]))
    assert store.count() == 700
    assert store.lexical("699", 1)[0]["text"] == "number 699 of many"
    assert store.dense("number 699 of many", 1)[0]["retrieval_score"] == pytest.approx(1.0)


def test_half_a_character_is_refused_with_its_place(store: Store) -> None:
    [made] = as_passages(["bad text"])
    with pytest.raises(InputError, match="half a character at 4"):
        store.add([{**made, "text": "bad \ud800 text"}])
    assert store.count() == 0
    store.add(as_passages(["bad \ud800 text"]))  # which replaces it
    assert [passage["text"] for passage in store.lexical("bad text", 1)] == ["bad \ufffd text"]


def test_the_generation_grows_with_every_write(full: Store, lines: list[Passage]) -> None:
    before = full.index.generation
    full.delete([lines[0]["chunk_id"]])
    assert full.index.generation > before
