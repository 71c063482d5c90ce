"""What is asked for by its number alone."""

import pytest

from cragraph.answers.clauses import clause_named
from cragraph.language.questions import read_question
from cragraph.passages import as_passages
from tests.support.cases import cases

LEASE = (
    "1. Rent\n\n1.1 The rent is 700 euros.\n1.2 It is due on the third day.\n(a) A bank order will do.\n"
    "(b) Cash will not.\n"
    "\n2. Repairs\n\n2.1 The owner keeps the roof tight.\n2.2 The tenant paints the walls.\n\nThey part as friends."
)


@pytest.mark.parametrize(("question", "text"), cases("answers/clauses", "a clause is found"))
def test_a_clause_is_found_by_its_number(question: str, text: str | None) -> None:
    found = clause_named(read_question(question), as_passages([{"text": LEASE, "filename": "lease.docx"}]))
    assert (found.rows[0].text if found else None) == text
