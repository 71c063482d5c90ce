"""A query that a chat model writes where the words of a question leave it open; it is checked here, and run here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, cast

from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from cragraph.errors import DeadlineError, ModelError
from cragraph.language.tables import Table
from cragraph.models.chat import ChatPart
from cragraph.models.replies import Lines, Text
from cragraph.protocols import Notes
from cragraph.tables.asked import Asked
from cragraph.tables.matching import Near
from cragraph.tables.reading import Reading, weighed
from cragraph.types import Condition, Query

TABLES: Final = 4  # tables that a model is shown at most
SHOWN: Final = 6  # values of a column that it is shown
MOST: Final = 0.75
"""The chance of what a model wrote is at most this: how often models read questions rightly was not measured."""
_FILTER: Final = re.compile(r"(.+?)\s*(!=|>=|<=|=|>|<)\s*(.+)")
_TWO: Final = frozenset({"difference", "growth", "share", "compare"})
_ONE: Final = frozenset({"count", "sum", "mean", "largest", "smallest", "list"})


_CALLED: Final = {"max": "largest", "maximum": "largest", "min": "smallest", "minimum": "smallest", "avg": "mean",
                  "average": "mean", "total": "sum"}  # fmt: skip
"""What models call an operation that has another name here."""


def _read_operation(value: Any) -> str:
    name = str(value).strip().casefold()
    return _CALLED.get(name, name)


Operation = Annotated[
    str, BeforeValidator(_read_operation), WithJsonSchema({"type": "string", "enum": sorted(_ONE | _TWO)})
]


class WrittenQuery(BaseModel):
    """A query as a model writes it: flat, because small models lose themselves in nested records."""

    table: int = 0
    operation: Operation = ""
    column: Text = ""
    filters: Lines = []
    group_by: Text = ""
    against_column: Text = ""
    against_filters: Lines = []


@dataclass(frozen=True)
class QueryModel(ChatPart):
    """Asks a capable chat model for the query; what does not fit tables and question is dropped."""

    def __call__(self, question: str, tables: "Sequence[Table]", near: Near | None, notes: Notes) -> Reading | None:
        """The reading, with a chance of at most `MOST`; None where the model gave none that can be used. One call."""
        if not Asked(question).operates or not self.caller.worth.capable:
            return None
        shown = tables[:TABLES]
        described = "\n".join(f"Table {n}: {told(table)}" for n, table in enumerate(shown, start=1))
        try:
            reply = self.ask(WrittenQuery, "compute", notes, quoted={"tables": described}, question=question)
        except (ModelError, DeadlineError) as error:
            notes.degraded(f"No query was written for the tables: {error}")
            return None
        if not 1 <= reply.table <= len(shown):
            return None
        table = shown[reply.table - 1]
        query = checked(reply, table)
        reading = query and weighed(question, query, table, near)
        return reading and Reading(reading.query, min(MOST, reading.chance), reading.features, table)


def told(table: "Table") -> str:
    """A table in a few lines: its name, its columns, what they hold, and some values."""
    lines = [f"{table.name}, {len(table.rows)} rows"]
    for column in table.columns.values():
        values = list(dict.fromkeys(row.value(column.name) for row in table.rows if row.value(column.name)))
        lines.append(f"  {column.name} ({column.kind}): {'; '.join(value[:40] for value in values[:SHOWN])}")
    return "\n".join(lines)


def checked(reply: WrittenQuery, table: "Table") -> Query | None:
    """The query that a reply makes of a table; None where it names a column, value or operation that is not there."""
    operation = reply.operation
    column, group = _column(reply.column, table), _column(reply.group_by, table)
    where, against = _conditions(reply.filters, table), _conditions(reply.against_filters, table)
    if operation not in _ONE | _TWO or None in (column, group, where, against):
        return None
    query: dict[str, Any] = {
        "source": table.source,
        "table": table.title,
        "operation": operation,
        "column": "" if operation in ("count", "list") else column,
        "where": where,
    }
    if group:
        query |= {"group": group, "of": "sum" if column else "count"}
    if operation in _TWO:
        other = _column(reply.against_column, table)
        if other is None:
            return None
        query["against"] = {"column": other or column, "where": against}
        if operation == "compare":
            query["test"] = ">"
    return cast(Query, query)


def _column(name: str, table: "Table") -> str | None:
    """A column by its name, whatever its capitals; empty for none, None for one that is not there."""
    if not name.strip():
        return ""
    return next((own for own in table.columns if own.casefold() == name.strip().casefold()), None)


def _conditions(filters: Sequence[str], table: "Table") -> list[Condition] | None:
    """Filters as conditions; None where one cannot be read, or names a value that no row has."""
    found: list[Condition] = []
    for text in filters:
        match = _FILTER.fullmatch(text.strip())
        column = _column(match[1], table) if match else None
        if not match or not column:
            return None
        values = [value.strip(" \"'") for value in re.split(r"\s+or\s+", match[3])]
        if table.columns[column].kind in ("text", "flag"):
            known = {row.value(column).casefold(): row.value(column) for row in table.rows}
            if any(value.casefold() not in known for value in values):
                return None
            values = [known[value.casefold()] for value in values]
        found.append(cast(Condition, {"column": column, "test": match[2], "values": values}))
    return found
