from collections.abc import Callable

import pytest

from cragraph.documents import Document
from cragraph.documents.clean import guessed_encoding

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


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("8 °C", "cp1252"),
        ("Le café ouvre à sept heures.", "cp1252"),
        ("A reunião será na quinta-feira às três.", "cp1252"),
        ("El niño pidió más azúcar.", "cp1252"),
        ("The ticket costs £12.", "cp1252"),
        ("naïve", "cp1252"),
        ("The price is €40 – it’s fixed.", "cp1252"),
        ("Der Ofen in Köln läuft ab Montag wieder.", "cp850"),
        ("Biblioteka jest czynna w środy od dziewiątej.", "cp1250"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250"),
        ("Kütüphane çarşamba günleri dokuzda açılır.", "cp1254"),
        ("Η βιβλιοθήκη είναι ανοιχτή κάθε Τετάρτη.", "cp1253"),
        ("会议在星期四。", "gb18030"),
        ("會議在星期四。", "big5"),
        ("図書館は水曜日の九時から開いています。", "euc_jp"),
        ("도서관은 수요일 아홉 시부터 엽니다.", "euc_kr"),
    ],
)
def test_one_short_line_is_enough_to_tell_the_encoding(text: str, encoding: str) -> None:
    data = text.encode(encoding)
    assert data.decode(guessed_encoding(data)) == text


def test_utf_8_that_a_program_cut_within_a_sign_stays_utf_8() -> None:
    assert guessed_encoding("Größe und Übermaß, größer als früher.".encode()[:-1] + b"\xc3") == "utf-8"
