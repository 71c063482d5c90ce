"""Tables as they are read back from passages: rows of cells with their places, columns with what they hold."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Final, Literal, NamedTuple

from cragraph.language.facts.dates import dates
from cragraph.language.headers import CURRENCIES, UNITS, Header, read_header
from cragraph.language.markers import RAISED
from cragraph.language.words import stem
from cragraph.types import Passage

SEPARATOR: Final = " | "
"""What stands between the cells of a row in a passage."""

Kind = Literal["number", "flag", "date", "text"]

MISSING: Final = frozenset(
    {"", "n/a", "na", "n.a.", "-", "–", "—", "?", "none", "null", "tbd", "tba", "unknown", "not known", "k.a."}
)
"""What stands in a cell, in small letters, where nothing is known; it is never counted as 0."""
YES: Final = frozenset({"yes", "true", "y", "x", "✓", "ja"})
NO: Final = frozenset({"no", "false", "n", "nein", "✗"})

_CELL: Final = re.compile(r"\s*([^:|]{1,80}?): (.*)", re.S)
_FIGURE: Final = re.compile(
    r"(?P<open>\()?\s*(?P<sign>[-−–+])?\s*(?P<before>US\$|[A-Z]{3}|[$€£¥])?\s*(?P<sign2>[-−–+])?\s*"
    r"(?P<figure>\d(?:[\d.,'’\u00a0\u202f ]*\d)?)"
    r"\s*(?P<after>%|[A-Za-z€£$¥°²³]{1,12})?\s*(?P<close>\))?"
)
_PLAIN: Final = re.compile(
    r"\d+(?:\.\d+)?"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?:[.,]\d+)?"
)
_COMMA: Final = re.compile(r"\d+(?:,\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d{1,3}(?:[ '’\u00a0\u202f]\d{3})+(?:,\d+)?")
_SURELY_COMMA: Final = re.compile(r"\d,\d{1,2}$|\.\d{3},\d|\d\.\d{3}\.\d{3}")
_SURELY_POINT: Final = re.compile(r"\.\d{1,2}$|,\d{3}\.\d|\d,\d{3},\d{3}|\.\d{4,}$")
_TOTAL: Final = re.compile(
    r"(?:grand |sub[- ]?)?totals?|sums?|overall|altogether|(?:the )?average|mean|gesamt|summe", re.I
)
_MARK: Final = re.compile(rf"(?<=[\d)%])\s?{RAISED}$")  # of a footnote, behind an amount
_CODE: Final = re.compile(r"[A-Za-z]{0,5}[-#/. ]?\d+[A-Za-z]?")


class Cell(NamedTuple):
    """A value as it stands in the text of its chunk, and where; `start` is -1 where a chunk's end cut it."""

    value: str
    chunk_id: str = ""
    start: int = -1
    end: int = -1


@dataclass(frozen=True)
class Row:
    """A row by the names of its columns; `chunk_id`, `start` and `end` say where its text stands."""

    cells: Mapping[str, Cell]
    chunk_id: str = ""
    start: int = 0
    end: int = 0

    def value(self, column: str) -> str:
        """What stands in a column, empty for nothing."""
        return self.cells[column].value if column in self.cells else ""


@dataclass(frozen=True)
class Column:
    """What a column holds: `numbers` and `days` by row, None where a row has none; the unit of its figures."""

    name: str
    kind: Kind
    unit: str = ""
    numbers: tuple[Decimal | None, ...] = ()
    days: tuple[str | None, ...] = ()
    """Dates as 2025-03-14, months as 2025-03, years as 2025: they order as text."""

    @property
    def header(self) -> Header:
        """The words of its name."""
        return read_header(self.name)

    @property
    def is_year(self) -> bool:
        """Whether its figures are years, which nobody adds up."""
        known = [n for n in self.numbers if n is not None]
        return bool(known) and all(1800 <= n <= 2200 and n == int(n) for n in known) and not self.unit

    @property
    def is_number_of(self) -> bool:
        """Whether its figures name something (an order, a telephone) instead of measuring it."""
        words = set(re.split(r"[\W_]+", self.name.casefold()))
        return bool(words & {"id", "no", "nr", "number", "code", "phone", "tel", "ref", "sku", "zip", "postcode"})


@dataclass(frozen=True)
class Table:
    """Rows of one table of a file; `title` tells it from others of the file and is empty where there is one."""

    source: str
    filename: str
    rows: tuple[Row, ...]
    title: str = ""
    headings: str = ""
    """What stands above it: the document's title, its headings."""
    totals: tuple[Row, ...] = ()
    """Rows that sum up others, such as "Total": they are none of `rows`."""
    left_out: str = ""
    """What is left out of its file, in words; empty where the whole file is in."""
    passages: Mapping[str, Passage] = field(default_factory=dict, repr=False)

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """The columns by name, in the order of their first cell."""
        names = dict.fromkeys(name for row in self.rows for name in row.cells)
        return {name: read_column(name, [row.value(name) for row in self.rows]) for name in names}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The columns that name a row: the first that tells the rows apart, and words beside a code or a date; several
        together where none does."""
        naming = [c for c in self.columns.values() if c.kind in ("text", "date") or c.is_year or c.is_number_of]
        worded = [c.name for c in naming if c.kind == "text" and not self._coded(c.name)]

        def tells(*names: str) -> bool:
            return len({tuple(row.value(name) for name in names) for row in self.rows}) == len(self.rows)

        if first := next((c.name for c in naming if tells(c.name)), None):
            if first in worded:
                return (first,)
            beside = next((name for name in worded if tells(name)), worded[0] if worded else "")
            return (first, beside) if beside and self._coded(first) else (first,)
        names = [c.name for c in naming]
        for size in range(2, min(4, len(names)) + 1):
            if tells(*names[:size]):
                return tuple(names[:size])
        return tuple((worded or names or [*self.columns])[:2])

    def _coded(self, name: str) -> bool:
        """Whether a column holds numbers that name something, or codes such as I-03."""
        return not self.columns[name].is_year and all(_CODE.fullmatch(row.value(name)) for row in self.rows)

    def label(self, number: int) -> str:
        """What a row is called."""
        return ", ".join(filter(None, (self.rows[number].value(name) for name in self.labels)))

    @cached_property
    def noun(self) -> str:
        """What its rows are, where the file is called so: "incidents"; empty where the rows are months, or counts."""
        words = re.sub(r"[\W_\d]+", " ", self.filename.rpartition(".")[0]).split()
        counts = [c.name for c in self.columns.values() if c.kind == "number" and not c.is_number_of]
        stems = {stem(word) for name in counts for word in re.split(r"[\W_]+", name)}
        first = self.columns[self.labels[0]]
        whole = not self.title and words and words[-1].endswith("s") and not words[-1].endswith("ss")
        things = any(column.kind in ("text", "flag") for column in self.columns.values())
        if not whole or stem(words[-1]) in stems or first.is_year or (first.kind == "date" and not things):
            return ""
        return " ".join(words).lower()

    @property
    def name(self) -> str:
        """What the table is called: its file, and its own title in it."""
        return f"{self.filename}, {self.title}" if self.title else self.filename


def read_column(name: str, values: Sequence[str]) -> Column:
    """What a column holds, by its values."""
    known = [value for value in values if value.casefold() not in MISSING]
    folded = {value.casefold() for value in known}
    if known and folded <= YES | NO and len(folded & YES) <= 1:
        return Column(name, "flag")
    days = [day_of(value) for value in values]
    if known and all(day for value, day in zip(values, days, strict=True) if value.casefold() not in MISSING):
        return Column(name, "date", days=tuple(days))
    comma = any(_SURELY_COMMA.search(_figure_of(value)) for value in known)
    if known and not (comma and any(_SURELY_POINT.search(_figure_of(value)) for value in known)):
        read = [None if value.casefold() in MISSING else number_of(value, comma=comma) for value in values]
        if all(read[n] for n, value in enumerate(values) if value.casefold() not in MISSING):
            units = {one.unit for one in read if one and one.unit}
            own = read_header(name).unit
            written = {*units, *([own] if own and units else [])}
            mixed = len(units) > 1 or (units and len(written) > 1) or any(unit not in UNITS.values() for unit in units)
            if not mixed:
                unit = next(iter(units), own)
                return Column(name, "number", unit, numbers=tuple(one.value if one else None for one in read))
    return Column(name, "text")


class Number(NamedTuple):
    """A figure, exactly as it is written, and its unit as `UNITS` writes it (or as it came)."""

    value: Decimal
    unit: str = ""


def number_of(text: str, *, comma: bool = False) -> Number | None:
    """A cell as a figure; None where it says anything else. `comma`: its decimals stand behind a comma."""
    match = _FIGURE.fullmatch(_MARK.sub("", text.strip()))
    if not match or bool(match["open"]) != bool(match["close"]):
        return None
    figure = match["figure"]
    if not (_COMMA if comma else _PLAIN).fullmatch(figure):
        return None
    if re.search(r"^0\d", figure) or (match["before"] and match["after"]):
        return None
    figure = re.sub(r"['’\u00a0\u202f ]", "", figure)
    figure = figure.replace(".", "").replace(",", ".") if comma else figure.replace(",", "")
    negative = (match["sign"] or match["sign2"] or "+") in "-−–" or match["open"]
    unit = match["before"] or match["after"] or ""
    if match["before"] and unit not in CURRENCIES and unit.lower() not in UNITS:
        return None
    return Number(
        -Decimal(figure) if negative else Decimal(figure), UNITS.get(unit.lower(), CURRENCIES.get(unit, unit))
    )


def _figure_of(text: str) -> str:
    match = _FIGURE.fullmatch(_MARK.sub("", text.strip()))
    return match["figure"] if match else ""


def day_of(text: str) -> str | None:
    """A cell as the day, the month or the year that it is, as 2025-03-14 is written; None for anything else."""
    fact = next(dates(text), None)
    if fact is None or fact.kind != "date" or fact.text.strip() != text.strip(" ."):
        return None
    year, month, day = fact.date
    if year is None or month is None:
        return None
    return "-".join(f"{part:0{4 if n == 0 else 2}d}" for n, part in enumerate((year, month, day)) if part)


# -- from passages -----------------------------------------------------------------------------------------------------


def tables_of(passages: Iterable[Passage]) -> list[Table]:
    """The tables in all passages of one source, which come in order."""
    found: dict[tuple[str, ...], _Growing] = {}
    reading = _Lines(found)
    for passage in passages:
        if isinstance(passage["metadata"].get("row"), int):
            _record(passage, found)
        elif SEPARATOR in passage["text"]:
            reading.read(passage)
    grown = [one for one in found.values() if len(one.rows) > 1 and one.width > 1]
    several = len(grown) > 1
    return [one.table(titled=several) for one in grown]


@dataclass
class _Growing:
    """A table while its rows are read."""

    first: Passage
    title: str
    rows: dict[tuple[object, ...], Row] = field(default_factory=dict)
    passages: dict[str, Passage] = field(default_factory=dict)

    @property
    def width(self) -> int:
        return len({name for row in self.rows.values() for name in row.cells})

    def table(self, *, titled: bool) -> Table:
        about = self.first["metadata"]
        columns = next(iter(self.rows.values())).cells
        headings = " ".join(str(about[key]) for key in ("title", "heading") if about.get(key) and key not in columns)
        first = next(iter(columns), "")
        totals = {n for n, row in self.rows.items() if _TOTAL.fullmatch(row.value(first).strip(" :*"))}
        rows = tuple(row for n, row in self.rows.items() if n not in totals)
        return Table(
            source=self.first["source"],
            filename=self.first["filename"],
            rows=rows,
            title=self.title if titled else "",
            headings=f"{headings} {self.title}".strip(),
            totals=tuple(row for n, row in self.rows.items() if n in totals),
            left_out=str(about.get("left_out") or ""),
            passages=self.passages,
        )


def _record(passage: Passage, found: dict[tuple[str, ...], _Growing]) -> None:
    """A row of a file of records; one that is cut into several chunks is put together again."""
    about = passage["metadata"]
    cells = {cell.name: cell.cell for cell in cells_of(passage["text"], passage["chunk_id"])}
    # A column may be called so as well; its values are the rows' own.
    named = [key for key in ("title", "heading") if about.get(key) and key not in cells]
    title = " › ".join(dict.fromkeys(str(about[key]) for key in named))
    own = found.setdefault(("records", title), _Growing(passage, title))
    key = (passage["doc_id"], about["row"])
    before = own.rows.get(key)
    if before is None:
        own.rows[key] = Row(cells, passage["chunk_id"], 0, len(passage["text"]))
    else:
        own.rows[key] = Row({**cells, **before.cells}, before.chunk_id, before.start, before.end)
    own.passages[passage["chunk_id"]] = passage


class _Named(NamedTuple):
    name: str
    cell: Cell


def cells_of(line: str, chunk_id: str = "", at: int = 0, names: Sequence[str] | None = None) -> list[_Named]:
    """The cells of a row's line, which begins at `at` in its chunk; one without a name has an empty one.

    `names` are those of the columns, where they are known; what is none of them is a part of the value before.
    """
    read: list[_Named] = []
    start = at
    for part in line.split(SEPARATOR):
        match = _CELL.fullmatch(part)
        if match and names is not None and match[1].strip() not in names:
            match = None
        name, value = (match[1].strip(), match[2]) if match else ("", part)
        first = start + (match.start(2) if match else 0) + len(value) - len(value.lstrip(" |\n"))
        value = value.strip(" |\n")
        if not name and read and names is None:
            # A value that holds the bar itself: the rest of it.
            before = read.pop()
            read.append(
                _Named(
                    before.name, before.cell._replace(value=f"{before.cell.value} | {value}", end=first + len(value))
                )
            )
        else:
            read.append(_Named(name, Cell(value, chunk_id, first, first + len(value))))
        start += len(part) + len(SEPARATOR)
    return read


class _Lines:
    """Reads tables that stand among text: a heading row, then a line a row, over as many chunks as it takes."""

    def __init__(self, found: dict[tuple[str, ...], _Growing]) -> None:
        self.found = found
        self.header: tuple[str, ...] = ()
        self.count = 0
        self.last: tuple[str, int] = ("", -1)

    def read(self, passage: Passage) -> None:
        lines = list(_lines(passage["text"]))
        given = tuple(
            p.strip() for p in str(passage["metadata"].get("table_header") or "").split(SEPARATOR) if p.strip()
        )
        place = (passage["doc_id"], passage["chunk_index"])
        goes_on = place == (self.last[0], self.last[1] + 1)
        self.last = place
        if given and given != self.header:
            self._begin(given)
        elif not given or not goes_on:
            self.header = given if given else ()
            self.count += not given
        for number, (start, line) in enumerate(lines):
            parts = [part.strip() for part in line.split(SEPARATOR)]
            if len(parts) < 2:
                # Text between two tables ends the first.
                if line.strip() and self.header and number and not given:
                    self.header = ()
                continue
            names = self._names(parts)
            if not names and (following := next((below for _, below in lines[number + 1 : number + 2]), "")):
                own = {match[1].strip() for p in following.split(SEPARATOR) if (match := _CELL.fullmatch(p.strip()))}
                heading = SEPARATOR.join(parts)
                if own and sum(name in heading for name in own) * 2 > len(own):
                    self._begin(tuple(parts))
                    continue
            if names:
                self._row(passage, start, line, names)

    def _begin(self, header: tuple[str, ...]) -> None:
        self.header = header
        self.count += 1

    def _names(self, parts: Sequence[str]) -> list[str]:
        """The names of columns that stand before the cells of a line; none where it is no row of this table."""
        if not self.header:
            return []
        heading = SEPARATOR.join(self.header)
        named = [match[1].strip() for part in parts if (match := _CELL.fullmatch(part))]
        return [name for name in named if name in heading]

    def _row(self, passage: Passage, start: int, line: str, names: Sequence[str]) -> None:
        key = ("lines", passage["doc_id"], str(self.count))
        about = passage["metadata"]
        heading = str(about.get("heading") or "")
        for at, path in about.get("headings") or ():
            if at <= start:
                heading = str(path)
        own = self.found.setdefault(key, _Growing(passage, heading.rpartition(" > ")[2] or SEPARATOR.join(self.header)))
        cells: dict[str, Cell] = {}
        for name, cell in cells_of(line, passage["chunk_id"], start, self._all(names)):
            cells.setdefault(name or self._first(names), cell)
        own.rows[(passage["doc_id"], passage["start_index"] + start)] = Row(
            cells, passage["chunk_id"], start, start + len(line)
        )
        own.passages[passage["chunk_id"]] = passage

    def _all(self, names: Sequence[str]) -> list[str]:
        return [*names, *self.header]

    def _first(self, names: Sequence[str]) -> str:
        """The heading of the first column, whose cells go without it; a caption may stand before it."""
        at = self.header.index(names[0]) if names[0] in self.header else 0
        return self.header[max(at - 1, 0)]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    at = 0
    for line in text.split("\n"):
        yield at, line
        at += len(line) + 1
