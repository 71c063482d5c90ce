"""Compute: a figure over all rows of a stored table as the answer, with its working; and its recomputation.

Two nodes use it: `Generate` writes such an answer, and `Verify` computes it again.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from cragraph.documents.tables import Table
from cragraph.errors import CragError
from cragraph.graph.context import Context
from cragraph.graph.state import State
from cragraph.nodes.retrieve import filter_of
from cragraph.protocols import Notes, stand_in
from cragraph.tables import FLOOR, RIVAL, TIED, Near, Plan, StoredTables, TableReading, compute, odds, read_query
from cragraph.tables.asked import ParsedQuestion
from cragraph.tables.stored import is_row_of_table
from cragraph.tables.written import QueryModel
from cragraph.types import Computed, Passage

logger = logging.getLogger(__name__)

DOUBTED: Final = 0.6
"""Probability at most of a figure whose table, column or rows the question does not name."""
ELSEWHERE: Final = "A text of another file than {name} is nearest to the question."
"""A doubt about a figure that was read from words: of those accepted over folders of letters and minutes nine of ten
were meant whose table was nearest, and one of eight others."""
SHORT: Final = 12  # rows of a table at most that a capable model reads instead of writing a query over it
NAME: Final = "computed"  # names of writer and judge of such an answer


@dataclass(frozen=True)
class Compute:
    """Answers by a query over the tables of the store; `sources` are the names of all searchable sources.

    `near` compares words in meaning. With `write` a capable chat model writes the query, which is checked against the
    tables and run here; otherwise the words of the question are read.
    """

    tables: StoredTables
    sources: Callable[[], Sequence[str]]
    near: Near | None = None
    write: "QueryModel | None" = None
    whole: int = 0
    """Rows at most of a table that a capable model gets whole."""

    def __call__(self, state: State, context: Context, notes: Notes) -> Computed | None:
        """The computed answer; None if the question asks for no figure, or no reading is probable enough."""
        question, where = state.asked or state.question, filter_of(context, self.sources)
        if not state.searched or not question:
            return None
        tables = self.tables.about(question, state.held, where)
        if not tables:
            return None
        near = {p["source"] for p in state.held if is_row_of_table(p)}
        nearest = [table for table in tables if table.source in near]
        read = partial(read_query, question, tables, state.held, self.near)
        if self.write is not None and self.write.capable and nearest and self._reads_whole(question, nearest, read):
            return None
        # A call is worth its time if a table is among the nearest passages of the search.
        asks = self.write is not None and bool(nearest)
        plan = self.write(question, tables, self.near, notes) if asks and self.write else Plan()
        if plan.declined:
            return None
        found = _run([plan.reading]) if plan.reading else []
        if not found:
            read_as = stand_in("Reading the question as one for a table", read, "it was answered from passages", notes)
            found = _run([reading for reading in read_as or () if reading.probability >= FLOOR / 2])
        if not found:
            return None
        best, made = found[0]
        # A reading without words of its table does not compete with a reading that has some.
        rivals = [(reading, other) for reading, other in found[1:] if _aside(reading) <= _aside(best)]
        differ = [r for r, other in rivals if (other["value"], other["labels"]) != (made["value"], made["labels"])]
        tied = any(odds(other.probability) >= RIVAL * odds(best.probability) for other in differ)
        probability = TIED * best.probability if tied else best.probability
        # One doubt is shown beside the figure; with two doubts the figure is hardly the one asked for.
        if probability < FLOOR or len(best.doubts) > 1:
            return None
        notes.ran("generator", NAME)
        aside = not plan.reading and bool(state.held) and state.held[0]["source"] != best.table.source
        elsewhere = [ELSEWHERE.format(name=best.table.name)] if aside else []
        if doubts := [*made.get("doubts", ()), *best.doubts, *elsewhere]:
            made["doubts"] = doubts
            probability = min(probability, DOUBTED)
        return {**made, "probability": round(min(probability, made["probability"]), 4)}

    def _reads_whole(self, question: str, tables: Sequence[Table], read: Callable[[], Sequence[TableReading]]) -> bool:
        """Whether a capable model that reads the rows needs no query: no figure over all rows is asked for, and the
        tables are short, or the question's words mean no query over them."""
        asked, rows = ParsedQuestion(question), max(table.size for table in tables)
        if asked.total or asked.mean or asked.share or rows > max(SHORT, self.whole):
            return False
        return rows <= SHORT or not any(reading.probability >= FLOOR / 2 for reading in read())

    def passages(self, computed: Computed) -> list[Passage]:
        """The passages that hold the rows of a figure."""
        return self.tables.passages(computed)

    def again(self, computed: Computed, context: Context) -> Computed:
        """The same query over the present rows. Raises CragError if it cannot be computed."""
        return self.tables.again(computed, filter_of(context, self.sources))


def _run(readings: Sequence[TableReading]) -> list[tuple[TableReading, Computed]]:
    """The readings that can be computed, with their results."""
    found = []
    for reading in readings:
        try:
            found.append((reading, compute(reading.query, reading.table, reading.probability)))
        except CragError as error:
            logger.debug("%s is not computed: %s", reading.query, error)
    return found


def _aside(reading: TableReading) -> float:
    """How much of a reading is not specific to its table."""
    return reading.features["vague"] + reading.features["aside"]
