from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cragraph.errors import InputError
from cragraph.passages import as_passage
from cragraph.store import Store, checked_where, open_store
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage
from tests.support.cases import cases

FIELDS = {"year": "number", "ticker": "text", "final": "true/false", "mixed": "number or text", "page": "number"}


@pytest.mark.parametrize(("where", "checked"), cases("store/filters", "a filter gets"))
def test_a_filter_gets_the_types_of_its_fields(where: Any, checked: Any) -> None:
    assert checked_where(where, FIELDS) == checked


@pytest.mark.parametrize(("where", "said"), cases("store/filters", "what is wrong"))
def test_what_is_wrong_with_a_filter_is_said(where: Any, said: str) -> None:
    with pytest.raises(InputError) as error:
        checked_where(where, FIELDS)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("where", "sources"),
    [
        ({"x": {"$gte": 0.5}}, {"0.5", "1", "1.5"}),
        ({"x": {"$gt": -0.5}}, {"0", "0.5", "1", "1.5"}),
        ({"x": {"$lte": -0.5}}, {"-1", "-0.5"}),
        ({"x": {"$lt": 0.5}}, {"-1", "-0.5", "0"}),
        ({"x": 0.5}, {"0.5"}),
        ({"x": {"$ne": 0.5}}, {"-1", "-0.5", "0", "1", "1.5"}),
        ({"x": {"$in": [0.5, 1.0]}}, {"0.5", "1"}),
        ({"x": {"$nin": [0.5, 1]}}, {"-1", "-0.5", "0", "1.5"}),
    ],
)
def test_fractions_are_compared_exactly_with_whole_numbers(
    store: Store, where: dict[str, Any], sources: set[str]
) -> None:
    passages = [as_passage({"text": f"words {x}", "source": str(x), "x": x}) for x in (-1, -0.5, 0, 0.5, 1, 1.5)]
    store.add(passages)
    assert {p["source"] for p in store.dense("words", 9, where)} == sources
    assert {p["source"] for p in store.lexical("words", 9, where)} == sources


VALUES = st.one_of(
    st.integers(-3, 3), st.sampled_from([-0.5, 0.5, 1.0, 2.5]), st.booleans(), st.sampled_from(["a", "1", "", "true"])
)
TESTS = st.one_of(
    st.tuples(st.sampled_from(["$eq", "$ne"]), VALUES),
    st.tuples(st.sampled_from(["$in", "$nin"]), st.lists(VALUES, min_size=1, max_size=3)),
    st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), st.one_of(st.integers(-3, 3), st.just(0.5))),
).map(lambda pair: {pair[0]: pair[1]})
WHERES = st.recursive(
    st.builds(lambda key, test: {key: test}, st.sampled_from(["a", "b", "page"]), TESTS),
    lambda inner: st.builds(
        lambda key, parts: {key: parts}, st.sampled_from(["$and", "$or"]), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def varied() -> Store:
    kinds: list[Any] = [0, 1, 2, -3, 0.5, 1.0, 2.5, True, False, "a", "1", "", "true", None]
    store = open_store(None, HashEmbeddings(16))
    passages = []
    for i, a in enumerate(kinds):
        for j, b in enumerate(kinds):
            metadata = {name: value for name, value in (("a", a), ("b", b)) if value is not None}
            # Texts of their own: of many equal vectors Chroma's graph may lose sight of one.
            text = f"same words, kind {i} and {j}"
            passage = as_passage({"text": text, "chunk_id": f"{i}-{j}", "page": j if j % 3 else None})
            passages.append(Passage(**{**passage, "metadata": metadata}))
    store.add(passages)
    return store


@pytest.mark.slow
@given(where=WHERES)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_filter_means_the_same_on_both_sides(varied: Store, where: dict[str, Any]) -> None:
    try:
        checked_where(where, varied.fields())
    except InputError:
        return
    dense = {p["chunk_id"] for p in varied.dense("same words", 500, where)}
    assert dense == {p["chunk_id"] for p in varied.lexical("same words", 500, where)}


def test_filters_of_any_size_are_compared_or_refused_with_a_reason() -> None:
    with open_store(None, HashEmbeddings(8)) as store:
        store.add([as_passage({"text": "one", "source": "a/1.md", "metadata": {"year": 2023, "tag": "x"}})])
        names = [f"b/{number}.md" for number in range(40_000)]
        for where, found in (
            ({"source": {"$in": ["a/1.md", *names]}}, 1),
            ({"source": {"$nin": names}}, 1),
            ({"tag": {"$in": [*names, "x", "half \ud83d"]}}, 1),
            ({"tag": "half \ud83d"}, 0),
            ({"year": {"$in": [10**30, 2023, 2023.5]}}, 1),
            ({"year": {"$lt": 10**400}}, 1),
            ({"year": {"$gt": 1 << 63}}, 0),
            ({"year": {"$gt": -(10**400)}}, 1),
            ({"$or": [{"year": number} for number in range(2500)]}, 1),
            ({"$and": [{"year": {"$ne": number}} for number in range(1500)]}, 1),
        ):
            assert len(store.lexical("one", 3, where)) == found
        deep: dict[str, Any] = {"year": 2023}
        for depth in range(1, 400):
            deep = {"$or": [{"year": 1}, {"$and": [deep, {"tag": "x"}]}]}
            if depth == 8:
                assert len(store.lexical("one", 3, deep)) == 1
        for where in (deep, {"year": float("inf")}, {"year": {"$gt": float("nan")}}, {"tag": {"$in": [float("nan")]}}):
            with pytest.raises(InputError, match=r"flat|finite|wanted a number"):
                store.lexical("one", 3, where)
