"""The signs of a quotation that answers something else, or no longer holds."""

import pytest

from cragraph.answers.quotations import ratio_of_quotation, signs
from cragraph.passages import as_passages
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
    assert (ratio_of_quotation(question, quotation, PASSAGES[given]) < 0.6) is bool(shown)
