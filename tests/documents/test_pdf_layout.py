from collections import Counter
from unicodedata import normalize

from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.documents.document import Writer
from cragraph.documents.formats.pdf.layout import PageWriter, without_repeats
from cragraph.documents.formats.pdf.words import PageWord, lines_of

TEXTS = ("alpha", "Beta", "2023", "1,204", "(17)", "$", "%", "—", "•", "Notes:", "end.", "of", "PART I")
HEIGHTS = (8.0, 10.0, 10.5, 20.0)


def placed(text: str, x0: float, top: float, height: float = 8.0, bold: bool = False) -> PageWord:
    return PageWord(text, x0, x0 + 5.0 * len(text), top, top + height, bold)


def drawn(number: int) -> PageWord:
    """A word of any text, place, height and weight by one number: to draw each for itself takes five times as long."""
    rest, text = divmod(number, len(TEXTS))
    rest, x = divmod(rest, 61)
    rest, y = divmod(rest, 41)
    bold, height = divmod(rest, len(HEIGHTS))
    return placed(TEXTS[text], 9.0 * x, 11.0 * y, HEIGHTS[height], bool(bold))


PAGES = st.lists(
    st.lists(st.integers(0, len(TEXTS) * 61 * 41 * len(HEIGHTS) * 2 - 1).map(drawn), max_size=80), max_size=4
)


def signs(text: str) -> Counter[str]:
    """The letters and digits of a text; a raised digit is the same digit."""
    return Counter(sign for sign in normalize("NFKC", text) if sign.isalnum())


def test_a_year_above_rows_without_a_label_is_kept() -> None:
    rows = [("alpha", 0, 88), ("1,204", 405, 88), ("alpha", 0, 99), ("$", 18, 99), ("alpha", 0, 110), ("7", 198, 110)]
    years = [("2023", 0, 121), ("alpha", 99, 132), ("(17)", 279, 132), ("2024", 0, 143), ("beta", 0, 154)]
    words = [placed(*word) for word in (*rows, *years, ("(18)", 279, 154))]
    writer = Writer()
    PageWriter(writer).write([lines_of(words)], [[]])
    assert [line for line in writer.draft().text.splitlines() if "(1" in line] == [
        "2023 | alpha | (17)",
        "2024 beta | (18)",
    ]


@settings(deadline=None, max_examples=200)
@given(PAGES)
def test_no_sign_of_a_page_is_lost_however_its_words_stand(pages: list[list[PageWord]]) -> None:
    writer = Writer()
    PageWriter(writer).write([lines_of(words) for words in pages], [[] for _ in pages])
    draft = writer.draft()
    lost = signs("".join(word.text for words in pages for word in words)) - signs(draft.text)
    assert not lost
    assert len(draft.page_starts) == len(pages)
    assert list(draft.page_starts) == sorted(draft.page_starts)


@settings(deadline=None)
@given(PAGES)
def test_what_is_dropped_as_a_repeat_stands_elsewhere_or_is_a_number(pages: list[list[PageWord]]) -> None:
    before = [lines_of(words) for words in pages]
    after = without_repeats(before, set())
    assert len(after) == len(before)
    kept = {"".join(filter(str.isalpha, line.text.casefold())) for lines in after for line in lines}
    for line in (line for lines in before for line in lines):
        letters = "".join(filter(str.isalpha, line.text.casefold()))
        assert not letters or letters in kept
