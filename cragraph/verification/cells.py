"""The verdict on a claim that states one cell of a table: the cell is looked up in the rows of the passages."""

from collections.abc import Sequence
from typing import Final

from cragraph.language.cells import place_said, rows_of
from cragraph.language.markers import without_markers
from cragraph.types import Claim, Evidence, Passage, Verdict
from cragraph.verification.judges.verdicts import verdict_of

JUDGE: Final = "cell"


def cell_verdict(claim: Claim, passages: Sequence[Passage]) -> Verdict | None:
    """Supported if a row of a passage has exactly that cell; the row is the evidence. None for any other claim."""
    text = without_markers(claim["text"])
    if ": " not in text or "\n" in text.strip():
        return None
    for number, passage in enumerate(passages):
        for row in rows_of(passage):
            if place_said(text, row.cells) is not None:
                quote = passage["text"][row.start : row.end].strip()
                start = passage["text"].index(quote, row.start)
                evidence = Evidence(
                    quote=quote, passage=number, chunk_id=passage["chunk_id"], start=start, end=start + len(quote)
                )
                why = "The row has this cell, in this column."
                return verdict_of(claim, "supported", 1.0, 0.0, evidence, why, JUDGE)
    return None
