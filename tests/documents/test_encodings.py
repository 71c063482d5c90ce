from collections.abc import Callable

import pytest

from cragraph.documents import Document
from cragraph.documents.clean import guessed_encoding
from tests.support.cases import cases

GERMAN = "Die Prüfung der Bücher ergab: größere Mängel – „schwer“ zu übersehen. Der Gewinn fiel auf 3 Mio. €."
FRENCH = "L'été dernier, la société a réalisé un bénéfice élevé grâce à ses activités européennes."


@pytest.mark.parametrize(("text", "encoding"), cases("documents/encodings", "the encoding is found"))
@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_the_encoding_is_found(document: Callable[..., Document], text: str, encoding: str, suffix: str) -> None:
    assert document(f"a{suffix}", text.encode(encoding)).text.strip() == text.strip()


def test_the_encoding_that_a_page_declares_counts(document: Callable[..., Document]) -> None:
    page = '<html><head><meta charset="iso-8859-7"></head><body><p>Αθήνα</p></body></html>'
    assert document("a.html", page.encode("iso-8859-7")).text == "Αθήνα"


def test_utf_8_with_one_wrong_byte_is_read_with_a_mark_in_its_place(document: Callable[..., Document]) -> None:
    text = document("a.txt", b"plain words \xff here").text
    assert text.startswith("plain words")
    assert text.endswith("here")


@pytest.mark.parametrize(("text", "encoding"), cases("documents/encodings", "one short line"))
def test_one_short_line_is_enough_to_tell_the_encoding(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    assert data.decode(guessed_encoding(data)) == text


def test_utf_8_that_a_program_cut_within_a_sign_stays_utf_8() -> None:
    assert guessed_encoding("Größe und Übermaß, größer als früher.".encode()[:-1] + b"\xc3") == "utf-8"
