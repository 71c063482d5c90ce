import pytest

from cragraph.language.words import overlap, terms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Apple's sales didn't fall.", ("appl", "sale", "did", "fall")),
        ("It isn't John's.", ("it", "be", "john")),
        ("1,496.5 in FY23", ("1496.5", "in", "2023")),
        ("Q1 and COVID-19", ("q1", "and", "covid", "19")),
        ("매출이 늘었다", ("매출", "출이", "늘었", "었다")),
        ("２０２３年", ("2023", "年")),
        ("", ()),
    ],
)
def test_a_text_is_matched_by_its_terms(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


def test_overlap_is_the_share_of_content_words_that_the_other_text_has() -> None:
    assert overlap("The revenues rose", "revenue had risen") == 1.0
    assert overlap("Revenue fell sharply", "revenue fell") == pytest.approx(2 / 3)
    assert overlap("", "revenue") == 0.0
