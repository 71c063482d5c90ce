"""Compute: an answer that is a figure over all rows of a stored table, and its working; and the same figure again.

It is a part of two nodes, as `Generate` writes such an answer and `Verify` checks it by computing it anew.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from cragraph.errors import CragError
from cragraph.graph.context import Context
from cragraph.graph.state import State
from cragraph.language.tables import Table
from cragraph.nodes.retrieve import filter_of
from cragraph.protocols import Notes, stand_in
from cragraph.tables import FLOOR, RIVAL, TIED, Near, Reading, StoredTables, compute, odds, read_query
from cragraph.tables.written import QueryModel
from cragraph.types import Computed, Passage

logger = logging.getLogger(__name__)

NAME: Final = "computed"  # who wrote and who judged such an answer


@dataclass(frozen=True)
class Compute:
    """Answers by a query over the tables of the store; `sources` are the names of all that can be searched.

    `near` compares words in meaning. `write` has a chat model write the query where the words leave it open; it is
    checked against the tables and computed here.
    """

    tables: StoredTables
    sources: Callable[[], Sequence[str]]
    near: Near | None = None
    write: "QueryModel | None" = None

    def __call__(self, state: State, context: Context, notes: Notes) -> Computed | None:
        """What the question comes to; None where it is no question of figures, or nothing is sure enough of it."""
        question, where = state.asked or state.question, filter_of(context, self.sources)
        if not state.searched or not question:
            return None
        tables = self.tables.about(question, state.held, where)
        if not tables:
            return None
        found: list[tuple[Reading, Computed]] = []
        read = partial(read_query, question, tables, state.held, self.near)
        for reading in (
            stand_in("Reading the question as one for a table", read, "it was answered from passages", notes) or ()
        ):
            if reading.chance < FLOOR / 2:
                break
            try:
                found.append((reading, compute(reading.query, reading.table, reading.chance)))
            except CragError as error:
                logger.debug("%s is not computed: %s", reading.query, error)
        if (not found or found[0][0].chance < FLOOR) and self.write is not None:
            found = self._written(question, tables, notes) or found
        if not found:
            return None
        best, made = found[0]
        # A reading that says nothing of its own table is no rival of one that does.
        rivals = [(reading, other) for reading, other in found[1:] if _aside(reading) <= _aside(best)]
        differ = [r for r, other in rivals if (other["value"], other["labels"]) != (made["value"], made["labels"])]
        tied = any(odds(other.chance) >= RIVAL * odds(best.chance) for other in differ)
        chance = TIED * best.chance if tied else best.chance
        if chance < FLOOR:
            return None
        notes.ran("generator", NAME)
        return {**made, "chance": round(min(chance, made["chance"]), 4)}

    def _written(self, question: str, tables: Sequence[Table], notes: Notes) -> list[tuple[Reading, Computed]]:
        """What the chat model's query comes to, where it wrote one that fits."""
        assert self.write is not None
        reading = self.write(question, tables, self.near, notes)
        if reading is None:
            return []
        try:
            return [(reading, compute(reading.query, reading.table, reading.chance))]
        except CragError as error:
            logger.debug("%s is not computed: %s", reading.query, error)
            return []

    def passages(self, computed: Computed) -> list[Passage]:
        """The passages that hold the rows of a figure."""
        return self.tables.passages(computed)

    def again(self, computed: Computed, context: Context) -> Computed:
        """The same query once more over the rows as they are now. Raises CragError where it cannot be computed."""
        return self.tables.again(computed, filter_of(context, self.sources))


def _aside(reading: Reading) -> float:
    """How much of a reading may be meant of any table."""
    return reading.features["vague"] + reading.features["aside"]
