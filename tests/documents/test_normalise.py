import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cragraph.documents.clean import clean, one_line


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\x00b", "ab"),
        ("a\ud800b", "a\ufffdb"),
        ("e\N{LATIN SMALL LIGATURE FFI}cient", "efficient"),
        ("1\u00a0000\u202f€", "1 000 €"),
        ("soft\u00adhyphen\u200b", "softhyphen"),
        ("cafe\u0301", "café"),
        ("a\u2028b\x0cc", "a\nb\nc"),
        ("\ufefftext", "text"),
        ("up\u202eside", "upside"),
        ("hid\U000e0041den", "hidden"),
    ],
)
def test_text_is_put_in_one_form(raw: str, cleaned: str) -> None:
    assert clean(raw) == cleaned


@given(st.text(alphabet=st.characters(codec=None)))
def test_cleaning_twice_changes_nothing_and_the_result_can_be_written(raw: str) -> None:
    cleaned = clean(raw)
    assert clean(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    cleaned.encode("utf-8")


def test_one_line_has_no_line_ends() -> None:
    assert one_line(" a \r\n\t b ") == "a b"
