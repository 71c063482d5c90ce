import pytest

from cragraph.answers.candidates import Candidate, candidates
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
