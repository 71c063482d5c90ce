"""Rows of tables as lines of text, `Lamp | price_eur: 9 | colour: red`: their cells, and how a person says one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from cragraph.language.headers import read_header
from cragraph.language.words import content_words

_CELL: Final = re.compile(r"\s*([^\W\d][^:|]{0,40}?|(?:FY\s?)?(?:19|20)\d\d): (.*)", re.S)
_BARE: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_WORDS: Final = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True)
class Cell:
    """A cell of a row: its column's name (empty where it has none), its value, and where that begins in the row."""

    name: str
    value: str
    start: int

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the value that mean something; none where it has no letters."""
        return frozenset(content_words(self.value)) if re.search(r"[^\W\d_]", self.value) else frozenset()

    @property
    def place(self) -> tuple[int, int]:
        """Where the value stands in the row."""
        return self.start, self.start + len(self.value)

    @property
    def label(self) -> str:
        """What it calls its row: its value, behind the name of its column where it is a mere number or code."""
        return (
            self.value if _WORDS.search(self.value) or not self.name else f"{read_header(self.name).words} {self.value}"
        )


def cells(row: str) -> list[Cell]:
    """The cells of a row; a cell without a column's name has an empty one."""
    read, at = [], 0
    for part in row.split(" | "):
        match = _CELL.fullmatch(part)
        name, value = (match[1].strip(), match[2]) if match else ("", part)
        start = at + (match.start(2) if match else 0)
        start += len(value) - len(value.lstrip(" |"))
        read.append(Cell(name, value.strip(" |\n"), start))
        at += len(part) + len(" | ")
    return read


def said(cell: Cell, naming: Sequence[Cell], question: str = "") -> str:
    """A cell as a person says it, ``Deposit for the floor sander: 80 GBP``; `naming` are those that name its row.

    The name of the row gets the article, and the small letter, that the question gives it.
    """
    name = ", ".join(other.label for other in naming)
    first = name.split(" ")[0]
    if first[1:].islower() and re.search(rf"\bthe {re.escape(first.lower())}", question):
        name = f"the {name[0].lower()}{name[1:]}"
    return f"{read_header(cell.name).title} for {name}: {_valued(cell)}"


def place_said(claim: str, row: str) -> tuple[int, int] | None:
    """Where in a row the cell stands that a claim says as `said` does; None where the row does not say so.

    Column, value, unit and the name of the row must all be this row's, capitals and the article aside.
    """
    told = " ".join(claim.split()).rstrip(" .").casefold()
    read = cells(row)
    for cell in read:
        lead, value = f"{read_header(cell.name).title} for ".casefold(), f": {_valued(cell)}".rstrip(" .").casefold()
        if not cell.name or not told.startswith(lead) or not told.endswith(value):
            continue
        name = told[len(lead) : -len(value)].removeprefix("the ")
        labels = [form.casefold() for other in read if other is not cell for form in {other.label, other.value} if form]
        if name in labels or any(name == f"{one}, {two}" for one in labels for two in labels if one != two):
            return cell.place
    return None


def _valued(cell: Cell) -> str:
    unit = read_header(cell.name).unit
    return f"{cell.value} {unit}" if unit and _BARE.fullmatch(cell.value) else cell.value
