"""Large tables as columns: packed in parts of some thousand rows while they are read, with a profile of each column."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from cragraph.language.tables import MISSING, TOTAL, Column, Kind, read_column

PART: Final = 1 << 14  # rows a part
TABLE_ROWS: Final = "table_rows"  # in the metadata of what tells of a large table: how many rows it has
SHOWN: Final = 1_000  # values of a column that its profile has at most
_TOLD: Final = 20  # values that are told of a column at most


class Profile(NamedTuple):
    """What a column holds: `low` and `high` of figures and dates, as written, and the first of its values."""

    name: str
    kind: Kind = "text"
    unit: str = ""
    comma: bool = False
    years: bool = False
    distinct: int = 0
    low: str = ""
    high: str = ""
    first: tuple[str, ...] = ()

    def said(self) -> str:
        """The column in a line."""
        if self.distinct <= _TOLD:
            return f"{self.name}: {', '.join(filter(None, self.first))}"
        between = (
            f", from {self.low} to {self.high}" if self.low else f", such as {', '.join(self.first[: _TOLD // 4])}"
        )
        return f"{self.name}: {self.distinct:,} different values{between}"


class Packed(NamedTuple):
    """Values of a column in the rows of a part."""

    column: int
    part: int
    data: bytes


@dataclass
class Columns:
    """A table of many rows; a row of its totals is kept apart."""

    sample: int = 0
    """How many of its rows, the first, are passages too."""
    first: int = 1
    """The number of its first row in the file."""
    rows: int = 0
    profiles: list[Profile] = field(default_factory=list)
    parts: list[Packed] = field(default_factory=list)
    totals: list[dict[str, str]] = field(default_factory=list)
    doubts: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[tuple[dict[str, str], Iterable[str]]], sample: int, first: int = 1) -> "Columns":
        """The table of all rows, each with what is in doubt of it, in sentences."""
        made, growing, part = cls(sample, first), dict[str, _OpenColumn](), list[dict[str, str]]()
        for values, doubts in rows:
            made.doubts.update(dict.fromkeys(doubts))
            if TOTAL.fullmatch(next(iter(values.values()), "").strip(" :*")):
                made.totals.append(values)
                continue
            part.append(values)
            if len(part) == PART:
                made._pack(part, growing)
                part = []
        if part:
            made._pack(part, growing)
        made.profiles = [column.profile(name) for name, column in growing.items()]
        return made

    def _pack(self, rows: list[dict[str, str]], growing: "dict[str, _OpenColumn]") -> None:
        for name in {name: None for row in rows for name in row}:
            growing.setdefault(name, _OpenColumn(late=self.rows > 0))
        for number, (name, column) in enumerate(growing.items()):
            values = [row.get(name, "") for row in rows]
            column.add(name, values)
            self.parts.append(Packed(number, self.rows // PART, packed(values)))
        self.rows += len(rows)

    def text(self) -> str:
        """How many rows there are, and a line for each column."""
        return "\n".join([f"A table of {self.rows:,} rows.", *(profile.said() for profile in self.profiles)])


def packed(values: Iterable[str]) -> bytes:
    """Values, which have no line breaks, as few bytes."""
    return zlib.compress("\n".join(values).encode("utf-8", "surrogatepass"), 3)


def unpacked(data: bytes) -> str:
    """The values of a part, a line each."""
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


class _OpenColumn:
    """What is known of a column so far."""

    def __init__(self, *, late: bool) -> None:
        self.hashes: list[Any] = [np.array([hash("")])] if late else []
        self.first: dict[str, None] = {}
        self.read: Column | None = None
        self.ends: list[tuple[Any, str]] = []
        self.years = True

    def add(self, name: str, values: list[str]) -> None:
        """Take in the values of a part; a column is of a kind where every part is."""
        self.hashes.append(np.unique(np.fromiter(map(hash, values), dtype=np.int64, count=len(values))))
        column = read_column(name, values)
        for value in column.values if len(self.first) < SHOWN else ():
            self.first.setdefault(value)
        if all(value.casefold() in MISSING for value in column.values):
            return
        self.read, self.years = _joined(self.read or column, column), self.years and column.years
        if column.kind in ("number", "date"):
            known = [(k, v) for k, v in zip(column.known, column.values, strict=True) if k is not None]
            ends = [*self.ends, *known] if self.ordered else []
            self.ends = [choose(ends, key=lambda end: end[0]) for choose in (min, max)] if ends else []

    @property
    def ordered(self) -> bool:
        """Whether its values have a least and a largest."""
        return self.read is not None and self.read.kind in ("number", "date")

    def profile(self, name: str) -> Profile:
        """What the whole column holds."""
        distinct = len(np.unique(np.concatenate(self.hashes)))
        first = tuple(self.first)[:SHOWN]
        if self.read is None:
            return Profile(name, distinct=distinct, first=first)
        read, (low, high) = self.read, (self.ends[0][1], self.ends[1][1]) if self.ordered and self.ends else ("", "")
        years = read.kind == "number" and self.years
        return Profile(name, read.kind, read.unit, read.comma, years, distinct, low, high, first)


def _joined(one: Column, two: Column) -> Column:
    """What a column is of which parts are these."""
    alike = one.kind == two.kind and one.comma == two.comma and len({one.unit, two.unit} - {""}) < 2
    return (one if one.unit else two) if alike else read_column(one.name, ["text", "words"])
