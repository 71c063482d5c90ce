from collections.abc import Callable

import pytest

from cragraph.documents import Document
from cragraph.documents.clean import guessed_encoding
from tests.support.cases import cases


@pytest.mark.parametrize(("text", "encoding"), cases("documents/encodings", "the encoding is found"))
@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_the_encoding_is_found(document: Callable[..., Document], text: str, encoding: str, suffix: str) -> None:
    assert document(f"a{suffix}", text.encode(encoding)).text.strip() == text.strip()


def test_utf_8_with_one_wrong_byte_is_read_with_a_mark_in_its_place(document: Callable[..., Document]) -> None:
    text = document("a.txt", b"plain words \xff here").text
    assert text.startswith("plain words")
    assert text.endswith("here")


@pytest.mark.parametrize(("text", "encoding"), cases("documents/encodings", "one short line"))
def test_one_short_line_is_enough_to_tell_the_encoding(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    assert data.decode(guessed_encoding(data)) == text
