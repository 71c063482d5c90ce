"""Tables of files: columns with their values, the labels of rows; and large tables packed while they are read."""

import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from cragraph.language.cells import (
    MISSING,
    NO,
    YES,
    Header,
    Kind,
    Row,
    are_years,
    day_of,
    kind_of,
    number_of,
    read_header,
    rows_of,
)
from cragraph.language.words import stem
from cragraph.types import Cited, Passage

Codes = np.ndarray[Any, np.dtype[np.int32]]
LARGE: Final = 10_000
"""Rows from which on a table is kept whole in columns, and a sample of its rows as passages: to embed so many takes a
minute on two cores, and a question about more is for a figure or for the row of an exact value."""

TOTAL: Final = re.compile(
    r"(?:grand |sub[- ]?)?totals?|sums?|overall|altogether|(?:the )?average|mean|gesamt|summe", re.I
)
_TOTAL_OF_GROUP: Final = re.compile(r"(?:grand |sub[- ]?)?totals?|gesamt|summe", re.I)
"""The label of a sum behind the group that it sums: "2024 | total"."""
_MAY_SUM: Final = re.compile(r"(?:in )?(?:all|total|sum|whole|together|everything)\b.*", re.I)
"""A label such as "All", "In all" or "All payments", of a sum only where the figures add up."""
_CODE: Final = re.compile(r"[A-Za-z]{0,5}[-#/. ]?\d+[A-Za-z]?")
_STOCK: Final = re.compile(r"(?<![^\W_])(?:qty|quantity|stock|max|maximum)(?![^\W_])", re.I)


@dataclass(frozen=True)
class Column:
    """A column of a table. `distinct` is the number of different values; `years` says whether the figures are years.

    The values are loaded at first use, because a question needs only few columns of a large table.
    """

    name: str
    kind: Kind
    unit: str
    comma: bool
    years: bool
    distinct: int
    loaded: Callable[[], tuple[Sequence[str], Codes]] = field(repr=False, compare=False)
    """The distinct values, and for every row the index of its value; a row without a value has an empty one."""
    finds: Callable[[Collection[str]], Sequence[str]] | None = field(default=None, repr=False, compare=False)
    """The values that equal one of some lower-case texts, found without loading all values."""
    first: Sequence[str] = field(default=(), repr=False, compare=False)
    """The first values of a column that is not loaded yet."""

    @cached_property
    def _values_and_codes(self) -> tuple[Sequence[str], Codes]:
        return self.loaded()

    @property
    def values(self) -> Sequence[str]:
        """The distinct values, in the order of their first rows."""
        return self._values_and_codes[0]

    @property
    def codes(self) -> Codes:
        """For every row the index of its value in `values`."""
        return self._values_and_codes[1]

    @cached_property
    def known(self) -> Sequence[Any]:
        """The meaning of each distinct value: a figure, a day (2025-03-14, 2025-03 or 2025), yes or no, or words in
        lower case; None for an empty or unreadable value."""
        return [self.read(value) for value in self.values]

    def read(self, value: str) -> Any:
        """The meaning of a value of this column; None for an unreadable value."""
        if self.kind == "number":
            number = None if value.casefold() in MISSING else number_of(value, comma=self.comma)
            return number and number.value
        if self.kind == "date":
            return day_of(value)
        folded = " ".join(value.split()).casefold()
        return ("yes" if folded in YES else "no" if folded in NO else None) if self.kind == "flag" else folded or None

    @property
    def some(self) -> Sequence[str]:
        """The first values, or all of them."""
        return self.first or self.values

    def value(self, row: int) -> str:
        """The value in a row; empty for an empty cell."""
        return self.values[int(self.codes[row])]

    def found(self, texts: Collection[str]) -> Sequence[str]:
        """The values that equal one of the texts; the texts are in lower case."""
        return self.finds(texts) if self.finds else [value for value in self.values if value.casefold() in texts]

    @property
    def header(self) -> Header:
        """The column's name, split into words and unit; "min" may be no unit."""
        read = read_header(self.name)
        return Header(f"{read.words} min") if read.unit == "min" and not self.unit else read

    @property
    def is_year(self) -> bool:
        """Whether the column's figures are years, which are never added up."""
        return self.years and not self.unit

    @property
    def is_number_of(self) -> bool:
        """Whether the column's figures are identifiers (order or telephone numbers) and no measures."""
        words = {word for word in re.split(r"[\W_]+", self.name.casefold()) if word}
        if words <= {"number", "no", "nr"} and self.distinct < len(self.codes):
            return False  # "Number: 2" in several rows is how many there are
        return bool(words & {"id", "no", "nr", "number", "code", "phone", "tel", "ref", "sku", "zip", "postcode"})


@dataclass(frozen=True)
class Table:
    """The rows of one table of a file; `title` distinguishes several tables of the file, else it is empty."""

    source: str
    filename: str
    columns: Mapping[str, Column]
    """By name, in the order of the columns' first cells."""
    size: int
    """The number of rows."""
    cite: Callable[[int], Cited] = field(repr=False)
    """Gives the citation of a row."""
    title: str = ""
    headings: str = ""
    """The document's title and the headings above the table."""
    totals: tuple[Mapping[str, str], ...] = ()
    """Rows that sum up others, such as "Total", by column; they are not among the table's rows."""
    left_out: str = ""
    """The part of the file that was left out, in words; empty if the whole file is in."""
    doubts: Callable[[Iterable[int], bool], Sequence[str]] = field(default=lambda rows, totals: (), repr=False)
    """Gives the sentences of doubt about the reading of some rows, and about the `totals` if asked to."""

    def __post_init__(self) -> None:
        """Read "Min" beside a quantity or "Max" as a minimum: its figures are no minutes."""
        if any(c.unit == "min" for c in self.columns.values()) and any(map(_STOCK.search, self.columns)):
            read = {
                name: replace(c, unit="") if c.unit == "min" and name.casefold().endswith("min") else c
                for name, c in self.columns.items()
            }
            object.__setattr__(self, "columns", read)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The columns that name a row: the first column with a different value in every row, and a column of words if
        that one holds codes or dates; several columns together if no column identifies a row."""
        naming = [c for c in self.columns.values() if c.kind in ("text", "date") or c.is_year or c.is_number_of]
        worded = [c.name for c in naming if c.kind == "text" and not self._coded(c)]
        if first := next((c for c in naming if c.distinct == self.size), None):
            if first.name in worded:
                return (first.name,)
            coded = self._coded(first)
            apart = next((name for name in worded if self.columns[name].distinct == self.size), "")
            beside = apart or (worded[0] if worded and coded else "")
            return (first.name, beside) if beside and (coded or first.kind == "date") else (first.name,)
        names = [c.name for c in naming]
        for size in range(2, min(4, len(names)) + 1 if self.size <= LARGE else 0):
            if len({*zip(*(self.columns[name].codes.tolist() for name in names[:size]), strict=True)}) == self.size:
                return tuple(names[:size])
        return tuple((worded or names or [*self.columns])[:2])

    def _coded(self, column: Column) -> bool:
        """Whether a column holds identifiers: numbers, or codes such as I-03."""
        return not column.is_year and all(map(_CODE.fullmatch, column.some))

    def label(self, row: int) -> str:
        """The label of a row."""
        return ", ".join(filter(None, (self.columns[name].value(row) for name in self.labels)))

    @cached_property
    def noun(self) -> str:
        """The noun for the table's rows, from the file's name: "incidents"; empty if the rows are months or counts."""
        words = re.sub(r"[\W_\d]+", " ", self.filename.rpartition(".")[0]).split()
        counts = [c.name for c in self.columns.values() if c.kind == "number" and not c.is_number_of]
        stems = {stem(word) for name in counts for word in re.split(r"[\W_]+", name) if word}
        first = self.columns[self.labels[0]]
        whole = not self.title and words and words[-1].endswith("s") and not words[-1].endswith("ss")
        things = any(column.kind in ("text", "flag") for column in self.columns.values())
        if not whole or stem(words[-1]) in stems or first.is_year or (first.kind == "date" and not things):
            return ""
        return " ".join(words).lower()

    @property
    def name(self) -> str:
        """The name of the table: its file's name and its title in the file."""
        return f"{self.filename}, {self.title}" if self.title else self.filename


def coded(values: Iterable[str], known: dict[str, int] | None = None) -> tuple[list[str], Codes]:
    """The distinct values, and for every row the index of its value; `known` has the values of earlier rows."""
    places = {} if known is None else known
    codes = np.fromiter((places.setdefault(value, len(places)) for value in values), dtype=np.int32)
    return [*places], codes


def read_column(name: str, values: Sequence[str]) -> Column:
    """A column from its values."""
    distinct, codes = coded(values)
    known = [value for value in distinct if value.casefold() not in MISSING]
    kind, unit, comma = kind_of(name, known)
    column = Column(name, kind, unit, comma, False, len(distinct), lambda: (distinct, codes))
    years = kind == "number" and are_years(figure for figure in column.known if figure is not None)
    return replace(column, years=years)


# -- from passages -----------------------------------------------------------------------------------------------------


def tables_of(passages: Iterable[Passage]) -> list[Table]:
    """The tables in the passages of one source; the passages must be in order."""
    found: dict[tuple[str, ...], _Growing] = {}
    for passage in passages:
        about = passage["metadata"]
        record = isinstance(about.get("row"), int)
        for row in map(Row.labelled, rows_of(passage)):
            if record:
                # A column may have that name too; its values belong to the rows.
                named = [str(about[key]) for key in ("title", "heading") if about.get(key) and key not in row.by_name]
                title = " › ".join(dict.fromkeys(named))
                key = (title, "records")
                place: tuple[object, ...] = (passage["doc_id"], about["row"])
            else:
                title, key = _heading(passage, row.start), (passage["doc_id"], row.table)
                place = (passage["doc_id"], passage["start_index"] + row.start)
            # Tables are distinguished by their number; those parsed from lines by heading and columns.
            own = found.setdefault((*key, "" if row.table.isdigit() else title), _Growing(passage, title))
            # A row that was cut into several chunks is joined again.
            before = own.rows.get(place)
            own.rows[place] = replace(before, cells=(*before.cells, *row.cells)) if before else row
            own.passages[passage["chunk_id"]] = passage
    grown = [one for one in found.values() if len(one.rows) > 1 and one.width > 1]
    return [one.table(titled=len(grown) > 1) for one in grown]


def _sums_up(values: Iterable[str]) -> bool:
    """Whether the first filled cell of a row is the label of a sum, or a cell between the first and the last one is."""
    filled = [value.strip(" :*") for value in values if value]
    return bool(filled) and bool(TOTAL.fullmatch(filled[0]) or any(map(_TOTAL_OF_GROUP.fullmatch, filled[1:-1])))


def label_of_sum(row: Mapping[str, str]) -> str:
    """The cell that says what a row of a table's totals sums up; empty if none does."""
    names = (value.strip(" :*") for value in row.values())
    return next((name for name in names if TOTAL.fullmatch(name) or _MAY_SUM.fullmatch(name)), "")


def _adds_up(row: Row, above: Sequence[Row]) -> bool:
    """Whether a row may be a sum by its label, and its figures are the sums of those above it."""
    if len(above) < 2 or not any(_MAY_SUM.fullmatch(cell.value.strip(" :*")) for cell in row.cells):
        return False
    stated = {cell.name: figure for cell in row.cells if (figure := number_of(cell.value))}
    found = {name: [number_of(one.value(name)) for one in above] for name in stated}
    return bool(stated) and all(
        figure.value == sum(one.value for one in found[name] if one) for name, figure in stated.items()
    )


def _without_preface(rows: Sequence[Row]) -> Sequence[Row]:
    """Rows without those above a heading, such as "Net lanes, as of 2 January": no other row has a column of theirs."""
    spread = Counter(name for row in rows for name in row.by_name)
    first = next((n for n, row in enumerate(rows) if any(spread[name] > 1 for name in row.by_name)), 0)
    return rows[first:]


def _heading(passage: Passage, start: int) -> str:
    """The heading above an offset of a passage, else the passage's table header."""
    about = passage["metadata"]
    paths = [str(path) for at, path in about.get("headings") or () if at <= start]
    path = paths[-1] if paths else str(about.get("heading") or "")
    return path.rpartition(" > ")[2] or str(about.get("table_header") or "")


@dataclass
class _Growing:
    """A table while its rows are read."""

    first: Passage
    title: str
    rows: dict[tuple[object, ...], Row] = field(default_factory=dict)
    passages: dict[str, Passage] = field(default_factory=dict)

    @property
    def width(self) -> int:
        return len({name for row in self.rows.values() for name in row.by_name})

    def table(self, *, titled: bool) -> Table:
        about, every = self.first["metadata"], _without_preface([*self.rows.values()])
        names = dict.fromkeys(name for row in every for name in row.by_name)
        headings = " ".join(str(about[key]) for key in ("title", "heading") if about.get(key) and key not in names)
        summing = [_sums_up(cell.value for cell in row.cells) for row in every]
        for n, (before, row) in enumerate(pairwise(every), start=1):  # a tax below a subtotal lacks cells of items too
            summing[n] |= summing[n - 1] and row.by_name.keys() == before.by_name.keys() < names.keys()
            summing[n] |= _adds_up(row, every[max((k for k in range(n) if summing[k]), default=-1) + 1 : n])
        rows = [row for row, sums in zip(every, summing, strict=True) if not sums]
        totals = [row for row, sums in zip(every, summing, strict=True) if sums]
        names = dict.fromkeys(name for row in rows for name in row.by_name)

        def cited(number: int) -> Cited:
            row = rows[number]
            quote = self.passages[row.chunk_id]["text"][row.start : row.end]
            return {"chunk_id": row.chunk_id, "start": row.start, "end": row.end, "quote": quote}

        def doubts(numbers: Iterable[int], with_totals: bool) -> list[str]:
            read = [*(rows[number] for number in numbers), *(totals if with_totals else ())]
            chunks = dict.fromkeys(row.chunk_id for row in read)
            return [doubt for chunk in chunks for doubt in self.passages[chunk]["metadata"].get("doubts", ())]

        return Table(
            source=self.first["source"],
            filename=self.first["filename"],
            columns={name: read_column(name, [row.value(name) for row in rows]) for name in names},
            size=len(rows),
            cite=cited,
            title=self.title if titled else "",
            headings=f"{headings} {self.title}".strip(),
            totals=tuple({name: cell.value for name, cell in row.by_name.items()} for row in totals),
            left_out=str(about.get("left_out") or ""),
            doubts=doubts,
        )


# -- large tables, while they are read --------------------------------------------------------------------------------

PART: Final = 1 << 14  # rows a part
TABLE_ROWS: Final = "table_rows"  # metadata of the passage that describes a large table: its number of rows
SHOWN: Final = 1_000  # values in a column's profile at most
_LISTED: Final = 20  # values in a column's line at most


class Profile(NamedTuple):
    """A summary of a column: lowest and highest figure or date as written, and the first values."""

    name: str
    kind: Kind = "text"
    unit: str = ""
    comma: bool = False
    years: bool = False
    distinct: int = 0
    low: str = ""
    high: str = ""
    first: tuple[str, ...] = ()

    def line(self) -> str:
        """The summary as one line of text."""
        if self.distinct <= _LISTED:
            return f"{self.name}: {', '.join(filter(None, self.first))}"
        between = (
            f", from {self.low} to {self.high}" if self.low else f", such as {', '.join(self.first[: _LISTED // 4])}"
        )
        return f"{self.name}: {self.distinct:,} different values{between}"


class Packed(NamedTuple):
    """Values of a column in the rows of a part."""

    column: int
    part: int
    data: bytes


@dataclass
class Columns:
    """A table of many rows, packed by column; rows of totals are kept in `totals`."""

    sample: int = 0
    """The number of first rows that are passages too."""
    first: int = 1
    """The number of the table's first row in the file."""
    rows: int = 0
    profiles: list[Profile] = field(default_factory=list)
    parts: list[Packed] = field(default_factory=list)
    totals: list[dict[str, str]] = field(default_factory=list)
    doubts: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[tuple[dict[str, str], Iterable[str]]], sample: int, first: int = 1) -> "Columns":
        """Pack a table from its rows, each with the sentences of doubt about it."""
        made, growing, part = cls(sample, first), dict[str, _OpenColumn](), list[dict[str, str]]()
        for values, doubts in rows:
            made.doubts.update(dict.fromkeys(doubts))
            if _sums_up(values.values()):
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
        """The number of rows, and a line for each column."""
        return "\n".join([f"A table of {self.rows:,} rows.", *(profile.line() for profile in self.profiles)])


def packed(values: Iterable[str]) -> bytes:
    """Values without line breaks, joined and compressed."""
    return zlib.compress("\n".join(values).encode("utf-8", "surrogatepass"), 3)


def unpacked(data: bytes) -> str:
    """The text of a packed part, one value per line."""
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


class _OpenColumn:
    """A column while its parts are added."""

    def __init__(self, *, late: bool) -> None:
        self.hashes: list[Any] = [np.array([hash("")])] if late else []
        self.first: dict[str, None] = {}
        self.read: Column | None = None
        self.ends: list[tuple[Any, str]] = []
        self.years = True

    def add(self, name: str, values: list[str]) -> None:
        """Add the values of a part; the column has a kind only if every part has that kind."""
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
        """Whether the values can be put in order."""
        return self.read is not None and self.read.kind in ("number", "date")

    def profile(self, name: str) -> Profile:
        """The summary of the whole column."""
        distinct = len(np.unique(np.concatenate(self.hashes)))
        first = tuple(self.first)[:SHOWN]
        if self.read is None:
            return Profile(name, distinct=distinct, first=first)
        read, (low, high) = self.read, (self.ends[0][1], self.ends[1][1]) if self.ordered and self.ends else ("", "")
        years = read.kind == "number" and self.years
        return Profile(name, read.kind, read.unit, read.comma, years, distinct, low, high, first)


def _joined(one: Column, two: Column) -> Column:
    """The kind and unit of a column, from those of two of its parts."""
    alike = one.kind == two.kind and one.comma == two.comma and len({one.unit, two.unit} - {""}) < 2
    return (one if one.unit else two) if alike else read_column(one.name, ["text", "words"])
