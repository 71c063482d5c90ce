"""A loaded file: its text with a map of pages, headings and blocks; and the writer that builds it."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, Literal

from cragraph.documents.clean import DEFAULT, Limits, clean, one_line
from cragraph.documents.table_text import TextTable, header_line, row_lines
from cragraph.documents.tables import TABLE_ROWS, Columns
from cragraph.language.cells import CELLS, Span
from cragraph.language.facts.fact import dates

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
DATED_IN: Final = 3  # lines at the head of a document that may date it
LONGEST_HEAD: Final = 120  # characters of such a line that are read
LONGEST_VALUE: Final = 4096  # characters kept of one metadata value, as every chunk carries it
LONGEST_TITLE: Final = 500  # characters of a heading at most; a longer one is a paragraph

TAKEN: Final = frozenset(
    (
        "source", "filename", "page", "doc_id", "chunk_id", "chunk_index", "start_index", "retrieval_score",
        "rerank_score", "format", "heading", "headings", "table_header", "last_page", "unread_pages",
        "rows", "row", "scores", "collection", "dated", "doubts", "doubted", "left_out",
        TABLE_ROWS, CELLS,
    )
)  # fmt: skip
"""Names of the fields that every passage has. A column or front matter value of that name becomes `column.<name>`."""


def field_name(path: str) -> str:
    """A column's name without the signs that have a meaning in filters."""
    name = one_line(re.sub(r'[":]', " ", path)).lstrip("_$# ")
    return f"column.{name}" if name in TAKEN else name


def untaken(name: Any) -> str:
    """The name for a document's own value: prefixed with `column.` if every passage has a field of that name."""
    named = field_name(str(name))
    return named if named.startswith("column.") else str(name)


BlockKind = Literal["heading", "text", "item", "row", "code"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: `start` is the offset of its line in the text, `level` counts from 1, `title` has no markup."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Block:
    """A unit of text that is not cut if possible: a paragraph, a list item, a table row, a line of code, a heading.

    `header` is the heading row of a row's table. `joined` marks a block that continues the one before (a paragraph over
    a page break). `fields` are the values of a record by column; a block with fields is a separate chunk with them in
    its metadata. `doubts` are sentences on why the reading may be wrong. `cells` are the offsets of a row's values from
    its start; `table` is the number of its table in the file.
    """

    start: int
    end: int
    kind: BlockKind
    header: str = ""
    joined: bool = False
    fields: Mapping[str, Any] = field(default_factory=lambda: NOTHING, hash=False)
    doubts: tuple[str, ...] = ()
    cells: tuple[Span, ...] = ()
    table: int = 0
    of_figures: tuple[str, ...] = ()
    """Doubts about figures computed over this row, but not about the row itself."""


@dataclass(frozen=True, slots=True)
class Draft:
    """The result of a loader: clean text, and ordered blocks with offsets that do not overlap.

    `page_starts[i]` is the offset of page i+1, empty for formats without pages. `doubts` are sentences on why the
    reading of the whole file may be wrong; those of a block hold for that block.
    """

    text: str
    blocks: tuple[Block, ...] = ()
    headings: tuple[Heading, ...] = ()
    page_starts: tuple[int, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    table: Columns | None = field(default=None, repr=False)
    """All rows of a large table, of which the other drafts have the first."""

    def titled(self) -> "Draft":
        """The draft with its first heading as title if the file states no title."""
        if self.metadata.get("title") or not self.headings:
            return self
        return replace(self, metadata={**self.metadata, "title": self.headings[0].title})


@dataclass(frozen=True, slots=True, kw_only=True)
class Document(Draft):
    """One document (a file, or a group of rows of one); the same text has the same `doc_id` wherever it lies."""

    source: str
    filename: str
    doc_id: str
    format: str

    @property
    def title(self) -> str:
        """The document's title, else the words of its file name without suffix."""
        stem = self.filename.rsplit(".", 1)[0] if "." in self.filename[1:] else self.filename
        return str(self.metadata.get("title", "")) or stem.replace("_", " ")


def head_date(draft: Draft) -> str:
    """The first date with a year in the first lines of a document, as written; empty for a table."""
    if any(block.kind == "row" for block in draft.blocks[:DATED_IN]):
        return ""
    lines = [line for line in draft.text[: DATED_IN * LONGEST_HEAD].splitlines() if line.strip()][:DATED_IN]
    stated = (fact for line in lines for fact in dates(line[:LONGEST_HEAD]) if fact.date[0])
    return next((fact.text.strip(" ,.") for fact in stated), "")


def scalar(value: str | int | float) -> str | int | float:
    """A value in a form for every store: clean text, finite numbers of 64 bits; other numbers as text."""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(value)
    return value if -(1 << 63) <= value < 1 << 63 else str(value)


def scalars(metadata: Mapping[str, Any], limits: Limits = DEFAULT) -> dict[str, Any]:
    """The entries that filters can use: text, numbers and booleans; lists of scalars are joined by commas."""
    limits.check("fields", len(metadata), "fields of metadata")
    kept: dict[str, Any] = {}
    for key, value in metadata.items():
        if isinstance(value, list | tuple) and value and all(isinstance(v, str | int | float) for v in value):
            value = ", ".join(str(v) for v in value)
        if isinstance(value, str | int | float) and value != "":
            plain = scalar(value)
            kept[one_line(str(key))] = plain[:LONGEST_VALUE] if isinstance(plain, str) else plain
    return kept


class Writer:
    """Takes headings, paragraphs, items, tables and code in reading order, cleans them, and skips blank ones."""

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self._limits = limits
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._headings: list[Heading] = []
        self._pages: list[int] = []
        self._page_due = self._tables = 0
        self._doubts: dict[str, None] = {}
        self.doubting: tuple[str, ...] = ()
        """Doubts about the pieces that follow."""

    def doubt(self, sentence: str, *, whole: bool = False, of_figures: bool = False) -> None:
        """Add a doubt to the last piece, to the whole file, or to figures computed over the piece."""
        if of_figures:
            self._blocks[-1] = replace(self._blocks[-1], of_figures=(*self._blocks[-1].of_figures, sentence))
            return
        if whole or not self._blocks:
            self._doubts[sentence] = None
        else:
            self._blocks[-1] = replace(self._blocks[-1], doubts=(*self._blocks[-1].doubts, sentence))

    def page(self) -> None:
        """Begin a page with the next piece."""
        self._page_due += 1

    def heading(self, title: str, level: int) -> None:
        """Write a heading; level 1 is the highest."""
        title = one_line(title)
        if len(title) > LONGEST_TITLE:
            self.paragraph(title)
        elif title:
            start = self._write(title, "heading")
            self._headings.append(Heading(start, level, title))

    def paragraph(self, text: str, *, joined: bool = False) -> None:
        """Write a paragraph; line breaks within it are kept."""
        if text := clean(text).strip():
            self._write(text, "text", joined=joined)

    def item(self, text: str, marker: str = "-") -> None:
        """Write a list item."""
        if text := one_line(text):
            self._write(f"{marker} {text}".strip(), "item")

    def code(self, text: str) -> None:
        """Write lines as they are."""
        for line in clean(text).strip("\n").split("\n"):
            if line.strip():
                self._write(line.rstrip(), "code")

    def line(self, text: str, fields: Mapping[str, Any] = NOTHING, cells: tuple[Span, ...] = ()) -> None:
        """Write one line of a record; with `fields` it becomes a separate chunk that filters can find."""
        if line := one_line(text):
            self._write(line, "row", fields=fields, cells=cells if line == text else ())

    def table(self, table: TextTable, *, labelled: bool | None = None, doubts: Sequence[str] = ()) -> None:
        """Write a table as rows with their column headings; `doubts` hold for each row."""
        header, apart = one_line(header_line(table))[:LONGEST_VALUE], True
        self._tables += 1
        for text, cells in row_lines(table, labelled=labelled):
            if line := one_line(text):
                own = cells if line == text else ()
                self._write(line, "row", header=header if cells else "", apart=apart, cells=own, table=self._tables)
                apart = False
                for doubt in (*doubts, *table.doubts):
                    self.doubt(doubt)
                for doubt in table.of_figures:
                    self.doubt(doubt, of_figures=True)

    def draft(self, metadata: Mapping[str, Any] | None = None) -> Draft:
        """The finished text with its map."""
        self._open_pages()
        text = "".join(self._parts)
        parts = tuple(self._blocks), tuple(self._headings), tuple(self._pages)
        return Draft(text, *parts, metadata or {}, tuple(self._doubts))

    def _write(self, text: str, kind: BlockKind, *, apart: bool = False, **about: Any) -> int:
        """Write a piece below the last one; `apart` adds a blank line between pieces of one kind; `about` goes to its
        block."""
        if self._parts:
            alike = kind in ("item", "row", "code") and kind == self._blocks[-1].kind and not apart
            self._parts.append("\n" if alike or about.get("joined") else "\n\n")
            self._length += len(self._parts[-1])
        start = self._length
        self._open_pages()
        self._parts.append(text)
        self._length += len(text)
        self._limits.check("characters", self._length, "characters")
        self._blocks.append(Block(start, self._length, kind, **{"doubts": self.doubting, **about}))
        return start

    def _open_pages(self) -> None:
        self._pages.extend([self._length] * self._page_due)
        self._page_due = 0
