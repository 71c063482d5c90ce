from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.errors import InputError
from cragraph.store import parse_where
from tests.support.cases import cases


@pytest.mark.parametrize(("text", "where"), cases("store/parsing", "what a person types"))
def test_what_a_person_types_becomes_a_filter(text: str, where: dict[str, object]) -> None:
    assert parse_where([text]) == where
    assert parse_where(text) == where


@pytest.mark.parametrize(("text", "wanted"), cases("store/parsing", "what cannot be read"))
def test_what_cannot_be_read_says_where_and_shows_an_example(text: str, wanted: str) -> None:
    with pytest.raises(InputError) as error:
        parse_where([text])
    assert wanted in str(error.value)
    assert "year=2023" in str(error.value)


@given(st.text())
def test_no_text_breaks_the_parser(text: str) -> None:
    with suppress(InputError):
        parse_where([text])
