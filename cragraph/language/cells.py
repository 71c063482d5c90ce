"""Rows of tables: cells kept with a passage, their text, and cells as sentences.

A loader writes a row as text once (`written`) and keeps the offsets of its values; `rows_of` returns the cells. Only
for a passage without kept rows (from a caller, or from an older store) are the lines parsed: ``Lamp | price_eur: 9 |
colour: red``.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, NamedTuple

from cragraph.language.facts.fact import dates
from cragraph.language.lexicon import LEXICON, YEAR, listed, meanings
from cragraph.language.markers import RAISED, without_mark
from cragraph.language.words import content_words, stem
from cragraph.types import Passage

CURRENCIES: Final = {
    sign.upper(): code for sign, code in meanings(LEXICON["currencies"]).items() if not re.search(r"[a-z]{3}", sign)
}
"""Signs of currencies, as in `facts`."""
UNITS: Final = {
    **{code.lower(): code for code in LEXICON["dimension_units"]["money"].split()},
    **{unit.lower(): unit for unit in LEXICON["heading_units"]["as_written"].split()},
    **{name: unit for unit, names in LEXICON["heading_units"]["names"].items() for name in names.split()},
    **CURRENCIES,
}
"""Units in headings and behind figures, in lower case, with the usual form of each."""
MEANINGS: Final = tuple(tuple(map(stem, line.split())) for line in LEXICON["columns"].strip().splitlines())
"""Words of a question that mean the same column, whichever of them its heading has."""
_LONE: Final = frozenset({"c", "f"})  # degrees, behind a measured thing
_LETTERS: Final = frozenset({"m", "g", "l", "h"})  # units in brackets, behind a bar, or behind the measured thing
_MEASURED: Final = listed(LEXICON["heading_units"]["measured"])
_TIMED: Final = listed(LEXICON["heading_units"]["timed"])
_IN_BRACKETS: Final = re.compile(r"\s*[(\[](?:in )?([^()\[\]]{1,12})[)\]]\s*$", re.I)


_MARK: Final = re.compile(rf"(?<=[^\W\d_]{{3}}){RAISED}(?=\s|$)")  # of a footnote


class Header(NamedTuple):
    """A heading's words without its unit, in lower case but for names; and the unit in its usual form, or empty."""

    words: str
    unit: str = ""

    @property
    def title(self) -> str:
        """The words with a capital; "pH" is written so."""
        return self.words if self.words[1:2].isupper() else self.words[:1].upper() + self.words[1:]


@lru_cache(maxsize=4096)
def read_header(name: str) -> Header:
    """Read a heading: ``deposit_gbp`` is the deposit in GBP; ``Units sold`` and ``price_per_kg`` have no unit; a
    heading that is only a unit (``kWh``) is both name and unit."""
    name = _MARK.sub("", name)
    bracketed = _IN_BRACKETS.search(name)
    if bracketed and (unit := UNITS.get(bracketed[1].strip().lower())):
        return Header(_plain(name[: bracketed.start()]), unit)
    parts = re.split(r"([\s_]+)", _spaced(name.strip()).strip("_ "))
    words, bars = parts[::2], parts[1::2]
    last = words[-1].lower()
    unit = UNITS.get(last, "")
    if last in _LONE and len(words) > 1 and "_" in bars[-1]:
        unit = "°" + last.upper()
    elif last in _LETTERS and not (len(words) > 1 and ("_" in bars[-1] or words[-2].lower() in _MEASURED)):
        unit = ""
    elif last == "min" and not (len(words) > 1 and words[-2].lower() in _TIMED):
        unit = ""  # "Min" may be the least of something
    if not unit or (len(words) > 1 and words[-2].lower() in ("per", "a", "each")):
        return Header(_plain(name), "")
    if len(words) == 1:
        return Header(_plain(name), unit)
    rest = words[:-1] if words[-2].lower() != "in" else words[:-2]
    return Header(_plain(" ".join(rest)) or _plain(name), unit)


def _spaced(name: str) -> str:
    """``unitPrice`` as ``unit price``; kWh is one word."""
    return re.sub(r"(?<=[a-z]{2})([A-Z])(?=[a-z])", lambda letter: f" {letter[1].lower()}", name)


def _plain(name: str) -> str:
    spaced = re.sub(r"[_\s]+", " ", _spaced(name.replace(".", " "))).strip()
    first, _, rest = spaced.partition(" ")
    # "Unit price" is no name, "Q1" and "kWh" are written so.
    return f"{first.lower() if first[1:].islower() or len(first) == 1 else first} {rest}".strip()


@lru_cache(maxsize=1024)
def meant_by(heading: str) -> tuple[tuple[str, ...], ...]:
    """For each word of a column's heading its synonyms, the word itself first."""
    plain = re.sub(r"(?<=[a-z]{2})(?=[A-Z])|_", " ", heading)
    own = content_words(plain)
    return tuple((word, *(other for group in MEANINGS if word in group for other in group)) for word in own)


# -- headings of columns -------------------------------------------------------------------------------------------

SEPARATOR: Final = " | "
"""The separator between the cells of a row in a passage."""
CELLS: Final = "cells"
"""The metadata field with a passage's rows: `of`, the length of their text, and `rows`, each with start, end, number of
the table in its document, and cells (column, start, end)."""

_CELL: Final = re.compile(rf"\s*([^\W\d][^:|]{{0,60}}?|(?:FY\s?)?{YEAR}): (.*)", re.S)
_BARE: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_WORDS: Final = re.compile(r"[^\W\d_]{3,}")

Span = tuple[str, int, int]
"""The name of a column (may be empty), and the offsets of its value in a text."""


@dataclass(frozen=True)
class Cell:
    """A cell of a row: its column's name (may be empty), its value, and the value's offset in the text."""

    name: str
    value: str
    start: int = -1

    @cached_property
    def words(self) -> frozenset[str]:
        """The content words of the value; empty for a value without letters."""
        return frozenset(content_words(self.value)) if re.search(r"[^\W\d_]", self.value) else frozenset()

    @property
    def place(self) -> tuple[int, int]:
        """The offsets of the value in the text."""
        return self.start, self.start + len(self.value)

    @property
    def label(self) -> str:
        """The row's label by this cell: its value, behind the column's name if the value is a bare number or code."""
        named = _WORDS.search(self.value) or not self.name
        return self.value if named else f"{read_header(self.name).words} {self.value}"


@dataclass(frozen=True)
class Row:
    """A row of a table with its offsets in its passage; `table` is the number of the table in its document."""

    cells: tuple[Cell, ...]
    chunk_id: str = ""
    start: int = 0
    end: int = 0
    table: str = ""

    @cached_property
    def by_name(self) -> Mapping[str, Cell]:
        """The first cell of each column."""
        found: dict[str, Cell] = {}
        for cell in self.cells:
            found.setdefault(cell.name, cell)
        return found

    def labelled(self) -> "Row":
        """The row with its cells of named columns; a first cell without a column name is the row's name."""
        first = Cell("name", self.cells[0].value, self.cells[0].start)
        own = self.cells if self.cells[0].name or "name" in self.by_name else (first, *self.cells[1:])
        return replace(self, cells=tuple(cell for cell in own if cell.name))

    def moved(self, by: int) -> "Row":
        """The row with its offsets moved by `by` characters."""
        cells = tuple(replace(cell, start=cell.start + by) for cell in self.cells)
        return replace(self, cells=cells, start=self.start + by, end=self.end + by)

    def value(self, column: str) -> str:
        """The value in a column, empty if there is none."""
        return self.by_name[column].value if column in self.by_name else ""


def written(cells: Iterable[tuple[str, str, bool]]) -> tuple[str, tuple[Span, ...]]:
    """A row as text with the offsets of its values; cells are a name, a value, and whether the name is left out."""
    parts, spans, at = list[str](), list[Span](), 0
    for name, value, bare in cells:
        part = value if bare or not name else f"{name}: {value}"
        spans.append((name, at + len(part) - len(value), at + len(part)))
        parts.append(part)
        at += len(part) + len(SEPARATOR)
    return SEPARATOR.join(parts), tuple(spans)


def kept(text: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Rows in the form for the metadata of a passage with this text."""
    cells = [[[cell.name, *cell.place] for cell in row.cells] for row in rows]
    return {"of": len(text), "rows": [[r.start, r.end, r.table, own] for r, own in zip(rows, cells, strict=True)]}


def rows_of(passage: Passage) -> list[Row]:
    """The rows of tables in a passage, in order."""
    text, field = passage["text"], passage["metadata"].get(CELLS)
    if not isinstance(field, Mapping) or field.get("of") != len(text):
        return [*_read(passage)]
    return [
        Row(
            tuple(Cell(name, without_mark(text[a:b]), a) for name, a, b in cells),
            passage["chunk_id"],
            start,
            end,
            str(table),
        )
        for start, end, table, cells in field["rows"]
    ]


# -- of text alone -----------------------------------------------------------------------------------------------------


def cells(line: str) -> list[Cell]:
    """The cells of a line; a missing column name is empty. A footnote's mark is no part of a value."""
    found, at = [], 0
    for part in line.split(SEPARATOR):
        match = _CELL.fullmatch(part)
        name, value = (match[1].strip(), match[2]) if match else ("", part)
        start = at + (match.start(2) if match else 0)
        start += len(value) - len(value.lstrip(" |"))
        found.append(Cell(name, without_mark(value.strip(" |\n")), start))
        at += len(part) + len(SEPARATOR)
    return found


def _read(passage: Passage) -> Iterator[Row]:
    """The rows of a passage parsed from its lines; a row of names alone is the heading of the rows below."""
    about, at = passage["metadata"], 0
    header = [part.strip() for part in str(about.get("table_header") or "").split(SEPARATOR)]
    record = isinstance(about.get("row"), int)
    for line in passage["text"].split("\n"):
        start, at = at, at + len(line) + 1
        if SEPARATOR not in line and not record:
            continue
        own = [Cell(cell.name, cell.value, start + cell.start) for cell in cells(line)]
        names = {cell.name for cell in own}
        if names == {""}:
            header = [cell.value for cell in own]
            continue
        first = next((name for name in header if name and name not in names), "")
        own = [Cell(first, own[0].value, own[0].start), *own[1:]] if not own[0].name else own
        yield Row(tuple(own), passage["chunk_id"], start, start + len(line), SEPARATOR.join(header))


# -- as a person says them ---------------------------------------------------------------------------------------------


def sentence_of(cell: Cell, naming: Sequence[Cell], question: str = "") -> str:
    """A cell as a sentence, ``Deposit for the floor sander: 80 GBP``; `naming` are the cells that name its row.

    The name of the row gets the article, and the small letter, that the question gives it.
    """
    name = ", ".join(other.label for other in naming)
    first = name.split(" ")[0]
    if first[1:].islower() and re.search(rf"\bthe {re.escape(first.lower())}", question):
        name = f"the {name[0].lower()}{name[1:]}"
    return f"{read_header(cell.name).title} for {name}: {_valued(cell)}"


def stated_place(claim: str, row: Sequence[Cell]) -> tuple[int, int] | None:
    """The offsets of the cell that a claim states in the form of `sentence_of`; None if the row has no such cell.

    Column, value, unit and row name must all be this row's, ignoring case and article.
    """
    stated = " ".join(claim.split()).rstrip(" .").casefold()
    for cell in row:
        lead, value = f"{read_header(cell.name).title} for ".casefold(), f": {_valued(cell)}".rstrip(" .").casefold()
        if not cell.name or not stated.startswith(lead) or not stated.endswith(value):
            continue
        name = stated[len(lead) : -len(value)].removeprefix("the ")
        labels = [form.casefold() for other in row if other is not cell for form in {other.label, other.value} if form]
        if name in labels or any(name == f"{one}, {two}" for one in labels for two in labels if one != two):
            return cell.place
    return None


def _valued(cell: Cell) -> str:
    unit = read_header(cell.name).unit
    return f"{cell.value} {unit}" if unit and _BARE.fullmatch(cell.value) else cell.value


# -- what the value of a cell means -----------------------------------------------------------------------------------

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


def are_years(figures: Iterable[Decimal]) -> bool:
    """Whether all figures may be years."""
    return all(1800 <= figure <= 2200 and figure == int(figure) for figure in figures)


def kind_of(name: str, known: Sequence[str]) -> tuple[Kind, str, bool]:
    """The kind of a column's distinct values, the unit of figures, and whether they have a decimal comma."""
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
