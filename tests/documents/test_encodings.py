from collections.abc import Callable

import pytest

from cragraph.documents import Document

GERMAN = "Die Prüfung der Bücher ergab: größere Mängel – „schwer“ zu übersehen. Der Gewinn fiel auf 3 Mio. €."
FRENCH = "L'été dernier, la société a réalisé un bénéfice élevé grâce à ses activités européennes."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32"),
        (GERMAN, "cp1252"),
        (FRENCH, "latin-1"),
        ("東京は日本の首都です。人口は約一千四百万人です。" * 4, "shift_jis"),
        ("Москва является столицей России и крупнейшим городом страны. " * 3, "cp1251"),
    ],
)
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
