from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.errors import InputError
from cragraph.store import parse_where


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("year=2023", {"year": 2023}),
        ("year == 2023", {"year": 2023}),
        ("year!=2023", {"year": {"$ne": 2023}}),
        ("year>=2020", {"year": {"$gte": 2020}}),
        ("year > 2020.5", {"year": {"$gt": 2020.5}}),
        ("year<-3", {"year": {"$lt": -3}}),
        ("year=2019..2021", {"$and": [{"year": {"$gte": 2019}}, {"year": {"$lte": 2021}}]}),
        ("ticker in AAPL,MSFT", {"ticker": {"$in": ["AAPL", "MSFT"]}}),
        ("ticker IN (AAPL, 'B C')", {"ticker": {"$in": ["AAPL", "B C"]}}),
        ("ticker not in AAPL", {"ticker": {"$nin": ["AAPL"]}}),
        ("final=true", {"final": True}),
        ('title="true"', {"title": "true"}),
        ('title="a \\"b\\" = (c)"', {"title": 'a "b" = (c)'}),
        ("code=007", {"code": "007"}),
        ("source=docs/a-b_c.md", {"source": "docs/a-b_c.md"}),
        ("'my field'=x", {"my field": "x"}),
        ("ünï=été", {"ünï": "été"}),
        ("a=1 and b=2", {"$and": [{"a": 1}, {"b": 2}]}),
        ("a=1 or b=2 and c=3", {"$or": [{"a": 1}, {"$and": [{"b": 2}, {"c": 3}]}]}),
        ("(a=1 or b=2) and c=3", {"$and": [{"$or": [{"a": 1}, {"b": 2}]}, {"c": 3}]}),
    ],
)
def test_what_a_person_types_becomes_a_filter(text: str, where: dict[str, object]) -> None:
    assert parse_where([text]) == where
    assert parse_where(text) == where


def test_several_expressions_must_all_hold() -> None:
    assert parse_where(["a=1", "b=2 or c=3"]) == {"$and": [{"a": 1}, {"$or": [{"b": 2}, {"c": 3}]}]}
    assert parse_where([]) == {}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", "the name of a field"),
        ("year", "one of ="),
        ("year=", "a value"),
        ("year 2023", "one of ="),
        ("=2023", "the name of a field"),
        ("year=2023 month=1", "and, or, or the end"),
        ("(year=2023", "a closing bracket"),
        ("ticker in", "a value"),
        ("ticker in (A", "a closing bracket"),
        ("ticker not = A", "one of ="),
        ("a=1 and", "the name of a field"),
        ('title="open', "cannot be read from '\"open'"),
    ],
)
def test_what_cannot_be_read_says_where_and_shows_an_example(text: str, wanted: str) -> None:
    with pytest.raises(InputError) as error:
        parse_where([text])
    assert wanted in str(error.value)
    assert "year=2023" in str(error.value)


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    with suppress(InputError):
        parse_where([text])
