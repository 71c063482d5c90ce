"""Tables with all rows of a file: columns with their values, and the labels of rows."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Final, Literal, NamedTuple

from cragraph.language.cells import Row, rows_of
from cragraph.language.facts.dates import dates
from cragraph.language.headers import CURRENCIES, UNITS, Header, read_header
from cragraph.language.markers import without_mark
from cragraph.language.words import stem
from cragraph.types import Passage

Kind = Literal["number", "flag", "date", "text"]

MISSING: Final = frozenset(
    {"", "n/a", "na", "n.a.", "-", "–", "—", "?", "none", "null", "tbd", "tba", "unknown", "not known", "k.a."}
)
"""Texts, in lower case, of a cell without a value; they never count as 0."""
YES: Final = frozenset({"yes", "true", "y", "x", "✓", "ja"})
NO: Final = frozenset({"no", "false", "n", "nein", "✗"})

_FIGURE: Final = re.compile(
    r"(?P<open>\()?\s*(?P<sign>[-−–+])?\s*(?P<before>(?:US|HK|C|A)\$|[A-Z]{3}|[$€£¥₹₩])?\s*(?P<sign2>[-−–+])?\s*"
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
_CODE: Final = re.compile(r"[A-Za-z]{0,5}[-#/. ]?\d+[A-Za-z]?")


@dataclass(frozen=True)
class Column:
    """The values of a column: `numbers` and `days` by row, None for a row without; and the unit of its figures."""

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
        """Whether its figures are years, which are never added up."""
        known = [n for n in self.numbers if n is not None]
        return bool(known) and all(1800 <= n <= 2200 and n == int(n) for n in known) and not self.unit

    @property
    def is_number_of(self) -> bool:
        """Whether its figures are identifiers (of orders, telephones) and no measures."""
        words = set(re.split(r"[\W_]+", self.name.casefold()))
        return bool(words & {"id", "no", "nr", "number", "code", "phone", "tel", "ref", "sku", "zip", "postcode"})


@dataclass(frozen=True)
class Table:
    """The rows of one table of a file; `title` distinguishes several tables of the file, else it is empty."""

    source: str
    filename: str
    rows: tuple[Row, ...]
    title: str = ""
    headings: str = ""
    """The document's title and the headings above the table."""
    totals: tuple[Row, ...] = ()
    """Rows that sum up others, such as "Total"; `rows` does not contain them."""
    left_out: str = ""
    """What was left out of its file, in words; empty if the whole file is in."""
    passages: Mapping[str, Passage] = field(default_factory=dict, repr=False)

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        """The columns by name, in the order of their first cell."""
        names = dict.fromkeys(name for row in self.rows for name in row.by_name)
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
            coded = self._coded(first)
            beside = next((name for name in worded if tells(name)), worded[0] if worded and coded else "")
            return (first, beside) if beside and (coded or self.columns[first].kind == "date") else (first,)
        names = [c.name for c in naming]
        for size in range(2, min(4, len(names)) + 1):
            if tells(*names[:size]):
                return tuple(names[:size])
        return tuple((worded or names or [*self.columns])[:2])

    def _coded(self, name: str) -> bool:
        """Whether a column holds identifiers: numbers, or codes such as I-03."""
        return not self.columns[name].is_year and all(_CODE.fullmatch(row.value(name)) for row in self.rows)

    def label(self, number: int) -> str:
        """The label of a row."""
        return ", ".join(filter(None, (self.rows[number].value(name) for name in self.labels)))

    @cached_property
    def noun(self) -> str:
        """The noun for its rows from the file's name: "incidents"; empty if the rows are months or counts."""
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


def read_column(name: str, values: Sequence[str]) -> Column:
    """A column from its values."""
    known = [value for value in values if value.casefold() not in MISSING]
    folded = {value.casefold() for value in known}
    if known and folded <= YES | NO and len(folded & YES) <= 1:
        return Column(name, "flag")
    if known and all(map(day_of, known)):
        return Column(name, "date", days=tuple(map(day_of, values)))
    comma = any(_SURELY_COMMA.search(_figure_of(value)) for value in known)
    both = comma and any(_SURELY_POINT.search(_figure_of(value)) for value in known)
    if not known or both or not all(number_of(value, comma=comma) for value in known):
        return Column(name, "text")
    read = [None if value.casefold() in MISSING else number_of(value, comma=comma) for value in values]
    units, own = {one.unit for one in read if one and one.unit}, read_header(name).unit
    if len(units | ({own} if own and units else set())) > 1 or not units <= set(UNITS.values()):
        return Column(name, "text")
    unit = next(iter(units), own)
    return Column(name, "number", unit, numbers=tuple(one.value if one else None for one in read))


class Number(NamedTuple):
    """A figure with its exact value, and its unit in the form of `UNITS` (or as written)."""

    value: Decimal
    unit: str = ""


@lru_cache(maxsize=1 << 16)
def number_of(text: str, *, comma: bool = False) -> Number | None:
    """A cell as a figure; None for any other text. `comma`: the cell has a decimal comma."""
    match = _FIGURE.fullmatch(without_mark(text.strip()))
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
    match = _FIGURE.fullmatch(without_mark(text.strip()))
    return match["figure"] if match else ""


@lru_cache(maxsize=1 << 16)
def day_of(text: str) -> str | None:
    """A cell as a day, month or year in the form 2025-03-14; None for any other text."""
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
    for passage in passages:
        about = passage["metadata"]
        record = isinstance(about.get("row"), int)
        for row in map(Row.labelled, rows_of(passage)):
            if record:
                # A column may have that name too; its values belong to the rows.
                named = [str(about[key]) for key in ("title", "heading") if about.get(key) and key not in row.by_name]
                title, key = " › ".join(dict.fromkeys(named)), ("", "records")
                place: tuple[object, ...] = (passage["doc_id"], about["row"])
            else:
                title, key = _heading(passage, row.start), (passage["doc_id"], row.table)
                place = (passage["doc_id"], passage["start_index"] + row.start)
            # Tables are distinguished by their number; tables parsed from lines by heading and columns.
            own = found.setdefault((*key, "" if row.table.isdigit() else title), _Growing(passage, title))
            # A row that was cut into several chunks is joined again.
            before = own.rows.get(place)
            own.rows[place] = replace(before, cells=(*before.cells, *row.cells)) if before else row
            own.passages[passage["chunk_id"]] = passage
    grown = [one for one in found.values() if len(one.rows) > 1 and one.width > 1]
    return [one.table(titled=len(grown) > 1) for one in grown]


def _heading(passage: Passage, start: int) -> str:
    """The heading above a place of a passage, else the names of the columns."""
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
        about, every = self.first["metadata"], [*self.rows.values()]
        columns = every[0].by_name
        headings = " ".join(str(about[key]) for key in ("title", "heading") if about.get(key) and key not in columns)
        first = every[0].cells[0].name
        summing = [_TOTAL.fullmatch(row.value(first).strip(" :*")) is not None for row in every]
        return Table(
            source=self.first["source"],
            filename=self.first["filename"],
            rows=tuple(row for row, sums in zip(every, summing, strict=True) if not sums),
            title=self.title if titled else "",
            headings=f"{headings} {self.title}".strip(),
            totals=tuple(row for row, sums in zip(every, summing, strict=True) if sums),
            left_out=str(about.get("left_out") or ""),
            passages=self.passages,
        )
