import pytest

from cragraph.language.words import overlap, terms
from tests.support.cases import cases


@pytest.mark.parametrize(("text", "expected"), cases("language/words", "a text is matched"))
def test_a_text_is_matched_by_its_terms(text: str, expected: list[str]) -> None:
    assert list(terms(text)) == expected


def test_overlap_is_the_share_of_content_words_that_the_other_text_has() -> None:
    assert overlap("The revenues rose", "revenue had risen") == 1.0
    assert overlap("Revenue fell sharply", "revenue fell") == pytest.approx(2 / 3)
    assert overlap("", "revenue") == 0.0
