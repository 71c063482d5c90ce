"""Tables with all rows of a file: columns with their values, and the labels of rows."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from cragraph.language.cells import CURRENCIES, UNITS, Header, Row, read_header, rows_of
from cragraph.language.facts.fact import dates
from cragraph.language.markers import without_mark
from cragraph.language.words import stem
from cragraph.types import Cited, Passage

Kind = Literal["number", "flag", "date", "text"]
Codes = np.ndarray[Any, np.dtype[np.int32]]
LARGE: Final = 10_000
"""Rows from which on a table is kept whole in columns, and a sample of its rows as passages: to embed so many takes a
minute on two cores, and a question about more is for a figure or for the row of an exact value."""

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
TOTAL: Final = re.compile(
    r"(?:grand |sub[- ]?)?totals?|sums?|overall|altogether|(?:the )?average|mean|gesamt|summe", re.I
)
_CODE: Final = re.compile(r"[A-Za-z]{0,5}[-#/. ]?\d+[A-Za-z]?")


@dataclass(frozen=True)
class Column:
    """A column: the number of its `distinct` values, the unit of its figures, and whether they are `years`.

    The values are loaded when they are first used: of a table of a million rows a question needs few columns.
    """

    name: str
    kind: Kind
    unit: str
    comma: bool
    years: bool
    distinct: int
    loaded: Callable[[], tuple[Sequence[str], Codes]] = field(repr=False, compare=False)
    """Each value once, and of every row the place of its value among them; a row without one has an empty value."""
    finds: Callable[[Collection[str]], Sequence[str]] | None = field(default=None, repr=False, compare=False)
    """The values that are one of some texts in small letters, found without loading all."""
    first: Sequence[str] = field(default=(), repr=False, compare=False)
    """Of a column that is not loaded yet, the first of its values."""

    @cached_property
    def _values_and_codes(self) -> tuple[Sequence[str], Codes]:
        return self.loaded()

    @property
    def values(self) -> Sequence[str]:
        """Each value once, in the order of its first row."""
        return self._values_and_codes[0]

    @property
    def codes(self) -> Codes:
        """Of every row, the place of its value in `values`."""
        return self._values_and_codes[1]

    @cached_property
    def known(self) -> Sequence[Any]:
        """What each of the values means: a figure, a day (2025-03-14, 2025-03 or 2025), yes or no, words in small
        letters; None where nothing is known."""
        return [self.read(value) for value in self.values]

    def read(self, value: str) -> Any:
        """What a value of this column means; None for one that means nothing here."""
        if self.kind == "number":
            number = None if value.casefold() in MISSING else number_of(value, comma=self.comma)
            return number and number.value
        if self.kind == "date":
            return day_of(value)
        folded = " ".join(value.split()).casefold()
        return ("yes" if folded in YES else "no" if folded in NO else None) if self.kind == "flag" else folded or None

    @property
    def some(self) -> Sequence[str]:
        """The first of the values, or all."""
        return self.first or self.values

    def value(self, row: int) -> str:
        """What stands in a row, empty for nothing."""
        return self.values[int(self.codes[row])]

    def found(self, texts: Collection[str]) -> Sequence[str]:
        """The values that are one of some texts, which are in small letters."""
        return self.finds(texts) if self.finds else [value for value in self.values if value.casefold() in texts]

    @property
    def header(self) -> Header:
        """The words of its name."""
        return read_header(self.name)

    @property
    def is_year(self) -> bool:
        """Whether its figures are years, which are never added up."""
        return self.years and not self.unit

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
    columns: Mapping[str, Column]
    """By name, in the order of their first cell."""
    size: int
    """How many rows there are."""
    cite: Callable[[int], Cited] = field(repr=False)
    """Where a row stands."""
    title: str = ""
    headings: str = ""
    """The document's title and the headings above the table."""
    totals: tuple[Mapping[str, str], ...] = ()
    """Rows that sum up others, such as "Total", by column; they are not among its rows."""
    left_out: str = ""
    """What was left out of its file, in words; empty if the whole file is in."""
    doubts: Callable[[Iterable[int], bool], Sequence[str]] = field(default=lambda rows, totals: (), repr=False)
    """Why some rows may not say what was read, in sentences; those of the `totals` among them."""

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The columns that name a row: the first that tells the rows apart, and words beside a code or a date; several
        together where none does."""
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


def coded(values: Iterable[str], known: dict[str, int] | None = None) -> tuple[list[str], Codes]:
    """Each value once, and the place of every one among them; `known` are those of earlier rows."""
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


def are_years(figures: Iterable[Decimal]) -> bool:
    """Whether all of some figures may be years."""
    return all(1800 <= figure <= 2200 and figure == int(figure) for figure in figures)


def kind_of(name: str, known: Sequence[str]) -> tuple[Kind, str, bool]:
    """What some different values are, the unit of figures, and whether their decimals stand behind a comma."""
    folded = {value.casefold() for value in known}
    if known and folded <= YES | NO and len(folded & YES) <= 1:
        return "flag", "", False
    if known and all(map(day_of, known)):
        return "date", "", False
    signed = [figure for value in known if not value.isdecimal() and (figure := _figure_of(value))]
    comma = any(map(_SURELY_COMMA.search, signed))
    both = comma and any(map(_SURELY_POINT.search, signed))
    units = set[str]()
    for value in known if not both else ():
        if (number := number_of(value, comma=comma)) is None:
            return "text", "", False
        units.add(number.unit)
    own, units = read_header(name).unit, units - {""}
    if not known or both or len(units | ({own} if own and units else set())) > 1 or not units <= set(UNITS.values()):
        return "text", "", False
    return "number", next(iter(units), own), comma


class Number(NamedTuple):
    """A figure with its exact value, and its unit in the form of `UNITS` (or as written)."""

    value: Decimal
    unit: str = ""


@lru_cache(maxsize=1 << 16)
def number_of(text: str, *, comma: bool = False) -> Number | None:
    """A cell as a figure; None for any other text. `comma`: the cell has a decimal comma."""
    if text.isdecimal() and text.isascii() and (text[0] != "0" or text == "0"):
        return Number(Decimal(text))
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
        names = dict.fromkeys(name for row in every for name in row.by_name)
        headings = " ".join(str(about[key]) for key in ("title", "heading") if about.get(key) and key not in names)
        first = every[0].cells[0].name
        summing = [TOTAL.fullmatch(row.value(first).strip(" :*")) is not None for row in every]
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
