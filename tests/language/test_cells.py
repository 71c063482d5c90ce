"""A cell is said as a person says it, and only a row that has that very cell says so."""

import pytest

from cragraph.language.cells import cells, sentence_of, stated_place
from tests.support.cases import cases

SANDER = "tool: Floor sander | category: wood | deposit_gbp: 80 | replacement_value_gbp: 920 | weight (kg): 41.5"


@pytest.mark.parametrize(("question", "column", "line"), cases("language/cells", "a cell"))
def test_a_cell_as_a_person_says_it(question: str, column: str, line: str) -> None:
    read = cells(SANDER)
    cell = next(cell for cell in read if cell.name == column)
    assert sentence_of(cell, [read[0]], question) == line
    start, end = stated_place(line, cells(SANDER)) or (0, 0)
    assert SANDER[start:end] == cell.value


@pytest.mark.parametrize("claim", cases("language/cells", "another value unit row"))
def test_another_value_unit_row_or_column_is_not_what_the_row_says(claim: str) -> None:
    assert stated_place(claim, cells(SANDER)) is None
