"""Windows: adjacent sentences of a passage, and which of them a claim most likely rests on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.types import Claim
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.windows import LONGEST, SPAN, is_table_row, space

STORY = "Apple was founded in 1976. Jobs led it. Sales rose in spring. Costs fell. The moon is far."


def windows(text: str) -> list[str]:
    return [window.text for window in space(["x"], as_passages([text])).windows]


def test_windows_are_one_to_three_adjacent_sentences() -> None:
    assert windows("One is it. Two is it. Three is it. Four is it.") == [
        "One is it.",
        "One is it. Two is it.",
        "One is it. Two is it. Three is it.",
        "Two is it.",
        "Two is it. Three is it.",
        "Two is it. Three is it. Four is it.",
        "Three is it.",
        "Three is it. Four is it.",
        "Four is it.",
    ]


def test_a_text_without_a_sentence_has_no_window() -> None:
    assert windows(" \n") == []


def test_an_endless_sentence_is_cut_at_blanks() -> None:
    found = windows("word " * 1000)
    assert all(len(text) <= LONGEST for text in found)
    assert len(found) > 4


def test_the_likeliest_window_is_the_sentence_that_says_it() -> None:
    found = space(["In spring sales rose."], as_passages(["The sun is hot.", STORY]))
    [best] = found.best(0)
    assert found.windows[best].text == "Sales rose in spring."
    assert found.windows[best].passage == 1


def test_evidence_over_two_sentences_is_one_window() -> None:
    found = space(["Jobs led Apple, founded in 1976."], as_passages([STORY]))
    [best] = found.best(0)
    assert found.windows[best].text == "Apple was founded in 1976. Jobs led it."


def test_a_wider_window_must_be_worth_it() -> None:
    found = space(["Costs fell."], as_passages([STORY]))
    assert found.windows[found.best(0)[0]].text == "Costs fell."


def test_the_best_windows_do_not_overlap() -> None:
    found = space(["Sales rose in spring and costs fell."], as_passages([STORY, STORY]))
    chosen = [found.windows[place] for place in found.best(0, 3)]
    assert len({(window.passage, window.start) for window in chosen}) == len(chosen) == 3
    for one in chosen:
        others = [other for other in chosen if other is not one and other.passage == one.passage]
        assert all(other.end <= one.start or one.end <= other.start for other in others)


def test_coverage_is_the_weighed_share_of_the_claims_words() -> None:
    found = space(["Sales rose.", "Zebras sing."], as_passages(["Sales rose."]))
    assert found.coverage[0].tolist() == pytest.approx([1.0, 0.0])
    assert found.whole.tolist() == pytest.approx([1.0, 0.0])


def test_stems_count_as_the_same_word() -> None:
    found = space(["Revenue increases."], as_passages(["Revenues increased."]))
    assert found.coverage[0, 0] == pytest.approx(1.0)


def test_korean_and_chinese_are_compared_by_pairs_of_characters() -> None:
    found = space(
        ["한국의 수도는 서울이다.", "中国的首都"], as_passages(["서울은 한국의 수도이다.", "北京是中国的首都。"])
    )
    assert found.coverage[:, 0].max() > 0.5
    assert found.coverage[:, 1].max() == pytest.approx(1.0)


def test_without_passages_there_is_no_window() -> None:
    found = space(["Sales rose."], [])
    assert found.best(0) == []
    assert found.whole.tolist() == [0.0]


def test_without_claims_there_is_nothing_to_cover() -> None:
    assert space([], as_passages([STORY])).coverage.shape[1] == 0


@given(st.lists(st.text(max_size=120), max_size=4), st.lists(st.text(max_size=40), max_size=3))
@settings(max_examples=150, deadline=None)
def test_windows_are_exact_and_coverage_is_a_share(texts: list[str], claims: list[str]) -> None:
    found = space(claims, as_passages(texts))
    for window in found.windows:
        assert texts[window.passage][window.start : window.end] == window.text
        assert 0 <= window.last - window.first < SPAN
    assert ((found.coverage >= 0) & (found.coverage <= 1.0001)).all()
    for column in range(len(claims)):
        assert len(found.best(column, 2)) <= 2


ROWS = "item: apples; kilograms: 612\nitem: pears; kilograms: 40\nitem: plums; kilograms: 7"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("item: apples; kilograms: 612", True),
        ("Revenue | 2023: 394 | 2022: 383", True),
        ("Revenue rose; it fell later.", False),
        ("| 2023 | 2022 |", False),
        ("Note: revenue rose.", False),
    ],
)
def test_a_row_is_told_by_the_headings_in_its_cells(text: str, expected: bool) -> None:
    assert is_table_row(text) is expected


@pytest.mark.parametrize("rows", [ROWS, ROWS.replace(";", " |")])
def test_two_rows_of_a_table_never_share_a_window(rows: str) -> None:
    assert len(windows(rows)) == 3
    assert all(text.count("item") == 1 for text in windows(rows))


def test_the_figure_of_one_row_does_not_support_the_name_of_another() -> None:
    texts = [
        "There are 612 kilograms of apples.",
        "There are 40 kilograms of apples.",
        "There are 612 kilograms of apples and 40 kilograms of pears.",
    ]
    claims = [Claim(text=text, start=0, end=len(text), type="factual") for text in texts]
    right, wrong, both = LexicalJudge()(claims, as_passages([ROWS]), Notes())
    assert right["verdict"] == both["verdict"] == "supported"
    assert wrong["verdict"] != "supported"
    assert "another row" in wrong["reasoning"]
