"""The signs of a quotation that answers something else, or no longer holds."""

from math import exp
from pathlib import Path

import pytest

from cragraph import load_settings
from cragraph.answers.quotations import ALONE, ratio_of_quotation, signs
from cragraph.passages import as_passages
from cragraph.run import Assistant
from tests.support.cases import cases

SHOP = as_passages(
    [
        {"text": "Ask Jess Tow or Jessie Hale.", "source": "desk.md"},
        {"text": "The desk is run by Pat Quigg and Pat Oller on Saturdays.", "source": "rota.md"},
    ]
)
TILL = as_passages(
    [
        {"text": "# Handbook, March 2023\n\nThe till starts with a float of £40.", "source": "handbook.md"},
        {"text": "# Minutes, 24 June 2025\n\nThe float is raised to £60.", "source": "minutes.md"},
    ]
)
PASSAGES = {"shop": SHOP, "till": TILL}


@pytest.mark.parametrize(("given", "question", "quotation", "shown"), cases("answers/quotations", "signs"))
def test_a_quotation_shows_signs_of_what_its_reader_does_not_see(
    given: str, question: str, quotation: str, shown: list[str]
) -> None:
    found = [sign.__name__ for sign in signs(question, quotation, PASSAGES[given])]
    assert sorted(found) == sorted(shown)
    assert (ratio_of_quotation(question, quotation, PASSAGES[given]) < exp(ALONE) - 1e-9) is bool(shown)


def test_a_later_document_that_says_otherwise_is_looked_for_and_told(tmp_path: Path) -> None:
    rule = (
        "**Keys.** The gate is locked at dusk by whoever leaves last.\n\n"
        "**Fruit.** A household may take 5 kg in a season for eating at home. Windfalls are yours."
    )
    new = "We agreed that a household may take 8 kg in a season, starting with the harvest of 2025."
    before = (
        "Present: Ada Bell, Tom Ray.\n\n1. The press was mended.\n\n2. **Picking.** Ada suggested 10 kg a household."
    )
    shown = []
    for ruled, agreed in ("9 May 2022", "18 November 2024"), ("18 November 2024", "9 May 2022"):
        home = tmp_path / ruled
        home.mkdir()
        (home / "handbook.md").write_text(f"# Handbook\n\n{ruled}\n\n{rule}\n", encoding="utf-8")
        (home / "minutes.md").write_text(f"# Committee, {agreed}\n\n{before} {new}\n", encoding="utf-8")
        made = Assistant(load_settings(store=str(home / "store")))
        made.ingest([home / "handbook.md", home / "minutes.md"])
        *_, done = made.ask("How much fruit can my family pick for the kitchen?", context={"max_crag_attempts": 0})
        response = done.response
        shown.append((response["confidence"], [one for one in response["issues"] if "later document" in one]))
    [(first, told), (second, untold)] = shown
    assert first < second
    assert untold == []
    assert [one.partition("“")[2].partition("”")[0] for one in told] == [new]
