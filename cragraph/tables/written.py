"""A query written by a chat model; it is checked and run here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, cast

from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from cragraph.documents.tables import Table
from cragraph.errors import DeadlineError, ModelError
from cragraph.language.cells import SEPARATOR
from cragraph.language.words import content_words
from cragraph.models.chat import ChatPart
from cragraph.models.replies import Lines, Text
from cragraph.protocols import Notes
from cragraph.tables.asked import ParsedQuestion
from cragraph.tables.matching import Near, words_of_column
from cragraph.tables.reading import Plan, weighed
from cragraph.types import Condition, Query

TABLES: Final = 6  # tables in a model's prompt at most
SHOWN: Final = (40, 20, 12, 6)
"""Distinct values of a column in a model's prompt at most; fewer for a small context."""
ROOM: Final = 2.0  # characters of tables for each token of the context: half of it at four characters a token
_FILTER: Final = re.compile(r"(.+?)\s*(!=|>=|<=|=|>|<)\s*(.+)")
_TWO: Final = frozenset({"difference", "growth", "share", "compare"})
_ONE: Final = frozenset({"count", "sum", "mean", "largest", "smallest", "list"})


_CALLED: Final = {"max": "largest", "maximum": "largest", "min": "smallest", "minimum": "smallest", "avg": "mean",
                  "average": "mean", "total": "sum"}  # fmt: skip
"""Models' names of operations with another name here."""


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
    most: int = 1
    left_out: Lines = []


@dataclass(frozen=True)
class QueryModel(ChatPart):
    """Asks a capable chat model for the query; a query that does not fit tables and question is dropped."""

    @property
    def capable(self) -> bool:
        """Whether the model's query is preferred to the reading of the question's words."""
        return self.caller.worth.capable

    def __call__(self, question: str, tables: "Sequence[Table]", near: Near | None, notes: Notes) -> Plan:
        """The checked reading of the model's query, if it wrote a usable one. One call."""
        if not ParsedQuestion(question).operates or not self.capable:
            return Plan()
        shown = tables[:TABLES]
        room = ROOM * (self.caller.num_ctx or 1 << 15)
        described = ""
        for most in SHOWN:
            described = "\n".join(f"Table {n}: {description_of(table, most)}" for n, table in enumerate(shown, start=1))
            if len(described) <= room:
                break
        try:
            reply = self.ask(WrittenQuery, "compute", notes, quoted={"tables": described}, question=question)
        except (ModelError, DeadlineError) as error:
            notes.degraded(f"No query was written for the tables: {error}")
            return Plan()
        if not 1 <= reply.table <= len(shown):
            return Plan(declined=reply.table == 0)
        table = shown[reply.table - 1]
        query = checked(reply, table)
        reading = query and weighed(question, query, table, near)
        if query is None or reading is None:
            return Plan()
        if names_another_column(question, query, table):
            return Plan(declined=True)
        doubts = tuple(f"The figure leaves out “{part}” of the question." for part in reply.left_out)
        return Plan(replace(reading, probability=self.caller.worth.probability, doubts=doubts))


def names_another_column(question: str, query: Query, table: "Table") -> bool:
    """Whether a question names a column of figures that its query leaves out: "rent and water together"."""
    operands = [query, query.get("against") or {"column": "", "where": []}]
    used = {operand["column"] for operand in operands}
    used |= {condition["column"] for operand in operands for condition in operand["where"]}
    used |= {query.get("group", "")}
    named = {word for name in used & set(table.columns) for word in words_of_column(table.columns[name])}
    asked = set(content_words(question)) - named
    others = (column for name, column in table.columns.items() if name not in used and column.kind == "number")
    return any(asked & words_of_column(column) for column in others)


def description_of(table: "Table", most: int = SHOWN[0]) -> str:
    """A table in a few lines: its name, its columns with their number of values and some values, its total rows."""
    lines = [f"{table.name}, {table.size} rows"]
    for column in table.columns.values():
        values = [value for value in column.some if value]
        more = f"; … {column.distinct:,} different values" if column.distinct > most else ""
        some = values if not more else values[: most // 3]
        lines.append(f"  {column.name} ({column.kind}): {'; '.join(value[:40] for value in some)}{more}")
    for row in table.totals:
        lines.append(f"  total row, not among the rows: {SEPARATOR.join(row.values())}")
    return "\n".join(lines)


def checked(reply: WrittenQuery, table: "Table") -> Query | None:
    """The query of a reply for a table; None if it names an unknown column, value or operation."""
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
    if reply.most > 1 and operation in ("largest", "smallest"):
        query["most"] = reply.most
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
    """A column by its name, ignoring case; empty for an empty name, None for an unknown one."""
    if not name.strip():
        return ""
    return next((own for own in table.columns if own.casefold() == name.strip().casefold()), None)


def _conditions(filters: Sequence[str], table: "Table") -> list[Condition] | None:
    """Filters as conditions; None if one cannot be read, or names a value that no row has."""
    found: list[Condition] = []
    for text in filters:
        match = _FILTER.fullmatch(text.strip())
        column = _column(match[1], table) if match else None
        if not match or not column:
            return None
        values = [value.strip(" \"'") for value in re.split(r"\s+or\s+", match[3])]
        if table.columns[column].kind in ("text", "flag"):
            known = {value.casefold(): value for value in table.columns[column].found({v.casefold() for v in values})}
            if any(value.casefold() not in known for value in values):
                return None
            values = [known[value.casefold()] for value in values]
        found.append(cast(Condition, {"column": column, "test": match[2], "values": values}))
    return found
