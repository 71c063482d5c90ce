import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.documents.clean import clean
from tests.support.cases import cases


@pytest.mark.parametrize(("raw", "cleaned"), cases("documents/normalise", "text is put"))
def test_text_is_put_in_one_form(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned


@given(st.text(alphabet=st.characters(codec=None)))
def test_cleaning_twice_changes_nothing_and_the_result_can_be_written(raw: str) -> None:
    cleaned = clean(raw)
    assert clean(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    cleaned.encode("utf-8")
