import pytest

from cragraph.answers.candidates import Candidate, candidates, is_noise, is_row
from cragraph.passages import as_passages


def found(text: str, **metadata: str) -> list[Candidate]:
    return candidates(as_passages([{"text": text, **metadata}]))


def test_offsets_point_at_the_exact_text() -> None:
    passages = as_passages(
        ["# Title\n\nOne plant opened. It closed again.\n\nLabel | 2023\nSales | 12\n", "Another one here."]
    )
    made = candidates(passages)
    assert [passages[c.passage]["text"][c.start : c.end] for c in made] == [c.text for c in made]
    assert len(made) == 4


def test_headings_and_questions_are_context_not_answers() -> None:
    [only] = found("## Dividends\n\nWhat was paid out? The board paid 24 cents a share.", title="Annual report")
    assert only.text == "The board paid 24 cents a share."
    assert only.context == "Annual report ## Dividends"


@pytest.mark.parametrize(
    "table",
    [
        " | 2019 | 2018\nTotal sales | $1,496.5 | $1,202.9\n",
        "| | 2019 | 2018 |\n|---|---|---|\n| Total sales | $1,496.5 | $1,202.9 |\n",
        " | 2019 | 2018\n | (In millions) | (In millions)\nTotal sales | $1,496.5 | $1,202.9\n",
        "2019\t2018\nTotal sales\t1,496.5\t1,202.9\n",
    ],
    ids=["bars", "markdown", "two header rows", "tabs"],
)
def test_a_row_knows_its_label_and_the_header_that_names_its_years(table: str) -> None:
    [row] = found(table)
    assert row.is_row
    assert row.label == "Total sales"
    assert "2019" in row.header
    assert "2018" in row.header


def test_a_table_cut_from_its_header_uses_the_one_in_the_metadata() -> None:
    [row] = found("Total sales | 12 | 13\n", table_header=" | 2019 | 2018")
    assert row.header == " | 2019 | 2018"


def test_a_header_does_not_reach_beyond_its_table() -> None:
    after = found(" | 2019 | 2018\nSales | 1 | 2\n\nThe plant closed in March.\n\nStaff | 3 | 4\n")[-1]
    assert (after.label, after.header) == ("Staff", "")


@pytest.mark.parametrize(
    ("line", "row"),
    [
        ("Total net sales 383,285 394,328 365,817", True),
        ("Total net sales $ 383,285 $ 394,328", True),
        ("It rose from 12 to 13.", False),
        ("Sales were 12.", False),
        ("a | b | c", True),
    ],
)
def test_a_label_followed_by_figures_is_a_row_even_without_bars(line: str, row: bool) -> None:
    assert is_row(line) is row


def test_a_pronoun_points_to_the_names_of_the_sentence_before() -> None:
    [first, second] = found("Late in May the engineer Ada Byron met Charles. She wrote the first program.")
    assert first.opener == ""
    assert second.opener == first.text
    assert second.subject == "Late in May Ada Byron Charles."


@pytest.mark.parametrize(
    "noise", ["See “Item 10. Directors” in Part III.", "Source: Acme Tools, Inc.", "ACME TOOLS CO., INC."]
)
def test_cross_references_sources_and_capital_headings_are_never_quoted(noise: str) -> None:
    assert [c.text for c in found(f"The plant closed in May.\n\n{noise}")] == ["The plant closed in May."]


def test_a_row_whose_cells_name_their_columns_is_a_row_and_no_header() -> None:
    [row] = found("(in millions) | 2023 | 2022\nTotal sales | 2023: $14,694 | 2022: $14,544\n")
    assert (row.label, row.header) == ("Total sales", "(in millions) | 2023 | 2022")


@pytest.mark.parametrize(
    ("line", "quotable"),
    [
        ("Opening hours: 9 to 5", True),
        ("the office is closed on public holidays", True),
        ("Opening Hours and Contact", False),
        ("## Fees: 2024", False),
        ("Contact", False),
    ],
)
def test_a_line_without_a_full_stop_may_state_something_and_a_heading_may_not(line: str, quotable: bool) -> None:
    texts = [c.text for c in found(f"{line}\n\nThe plant closed in May.")]
    assert (line in texts) is quotable


def test_a_row_whose_cells_name_their_columns_is_no_header_though_it_has_no_figure() -> None:
    passages = as_passages(["Day | Hours\nDay: Monday | Hours: closed\nDay: Sunday | Hours: closed"])
    assert [c.text for c in candidates(passages)] == ["Day: Monday | Hours: closed", "Day: Sunday | Hours: closed"]


def test_lines_with_labels_are_apart() -> None:
    passages = as_passages(["Present: Ann Lee, Bo Ray\nApologies: Cy Poe\nMinutes taken by Ann Lee."])
    assert next(c.text for c in candidates(passages)) == "Present: Ann Lee, Bo Ray"


def test_lines_of_a_name_and_a_value_are_quoted_apart() -> None:
    made = found("shop: The Feed Loft\ncounted_on: 30 April\nkeeper.name: Ivo Hartnell")
    assert [c.text for c in made] == ["shop: The Feed Loft", "counted_on: 30 April", "keeper.name: Ivo Hartnell"]


@pytest.mark.parametrize(
    "sentence",
    [
        "See “Item 10. Directors” in Part III.",
        "Refer to Note 4 for more.",
        "Source: Acme, Inc.",
        "10.4 | Deed between Acme and Bolt is incorporated by reference from our report.",
    ],
)
def test_what_only_points_elsewhere_is_noise(sentence: str) -> None:
    assert is_noise(sentence)


@pytest.mark.parametrize("sentence", ["We see strong demand in Part of Asia.", "The source of the Nile is a lake."])
def test_what_says_something_is_no_noise(sentence: str) -> None:
    assert not is_noise(sentence)
