"""What a loaded file is: its text with a map of pages, headings and blocks, and the writer that builds it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

from cragraph.passages import content_id
from cragraph.retrieval.documents.clean import clean, one_line
from cragraph.retrieval.documents.tables import Table, header_line, row_lines

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
"""The fields of what is no record."""

BlockKind = Literal["heading", "text", "item", "row", "code"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: `start` is the offset of its line in the text, `level` counts from 1, `title` has no markup."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of text that is better not cut: a paragraph, a list item, a table row, a line of code, a heading.

    `header` is the heading row of the table a row belongs to, empty elsewhere. `joined` marks a block that goes on
    from the one before it (a paragraph over a page break), so that a chunk may cross the boundary. `fields` are the
    values of a record by column; a block that has some is a chunk of its own, with them in its metadata.
    """

    start: int
    end: int
    kind: BlockKind
    header: str = ""
    joined: bool = False
    fields: Mapping[str, Any] = field(default_factory=lambda: NOTHING, hash=False)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a loader makes of a file: everything but where it came from."""

    text: str
    blocks: tuple[Block, ...] = ()
    headings: tuple[Heading, ...] = ()
    page_starts: tuple[int, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """One document (a file, or a group of rows of one).

    All offsets count characters of `text`, which is normalised already. `page_starts[i]` is where page i+1 begins,
    empty for formats without pages. Blocks are in order and do not overlap. `metadata` holds scalars only: title,
    author, and what the file says about itself. `doc_id` is made from the text, so the same text has the same id
    wherever it lies.
    """

    text: str
    source: str
    filename: str
    doc_id: str
    format: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    page_starts: tuple[int, ...] = ()
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()

    @property
    def title(self) -> str:
        """What to call the document: its own title, or its file name without suffix, as words."""
        own = str(self.metadata.get("title", ""))
        if own:
            return own
        stem = self.filename.rsplit(".", 1)[0] if "." in self.filename[1:] else self.filename
        return stem.replace("_", " ")


def from_draft(draft: Draft, *, source: str, filename: str, format: str, repeat: int = 0) -> Document:
    """Give a draft its place and its id; `repeat` tells apart equal texts within one file."""
    parts = (draft.text, str(repeat)) if repeat else (draft.text,)
    return Document(
        text=draft.text,
        source=source,
        filename=filename,
        doc_id=content_id(*parts),
        format=format,
        metadata=scalars(draft.metadata),
        page_starts=draft.page_starts,
        headings=draft.headings,
        blocks=draft.blocks,
    )


def scalars(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that a store can filter by: text, numbers and booleans; lists of scalars are joined by commas."""
    kept: dict[str, Any] = {}
    for key, value in metadata.items():
        if isinstance(value, list | tuple) and value and all(isinstance(v, str | int | float) for v in value):
            kept[str(key)] = ", ".join(str(v) for v in value)
        elif isinstance(value, str | int | float) and value != "":
            kept[str(key)] = value
    return kept


_TIGHT: frozenset[BlockKind] = frozenset({"item", "row", "code"})


class Writer:
    """Takes headings, paragraphs, items, tables and code in reading order; `draft()` gives the whole.

    Pieces are cleaned here, so offsets count what is kept. Blank pieces leave nothing behind.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._headings: list[Heading] = []
        self._pages: list[int] = []
        self._page_due = 0
        self._last: BlockKind | None = None

    def page(self) -> None:
        """Begin a page: it starts where the next piece does."""
        self._page_due += 1

    def heading(self, title: str, level: int) -> None:
        """Write a heading; level 1 is the highest."""
        title = one_line(title)
        if title:
            start = self._write(title, "heading")
            self._headings.append(Heading(start, level, title))

    def paragraph(self, text: str, *, joined: bool = False) -> None:
        """Write a paragraph; line breaks within it are kept."""
        text = clean(text).strip()
        if text:
            self._write(text, "text", joined=joined)

    def item(self, text: str, marker: str = "-") -> None:
        """Write a list item."""
        text = one_line(text)
        if text:
            self._write(f"{marker} {text}".strip(), "item")

    def code(self, text: str) -> None:
        """Write lines as they are."""
        for line in clean(text).strip("\n").split("\n"):
            if line.strip():
                self._write(line.rstrip(), "code")

    def line(self, text: str, fields: Mapping[str, Any] = NOTHING) -> None:
        """Write one line of a record; with `fields` to filter by it becomes a chunk of its own."""
        text = one_line(text)
        if text:
            self._write(text, "row", fields=fields)

    def table(self, table: Table, *, labelled: bool | None = None) -> None:
        """Write a table as rows that carry their column headings."""
        header = one_line(header_line(table))
        first = True
        for line, is_header in row_lines(table, labelled=labelled):
            line = one_line(line)
            if line:
                self._write(line, "row", header="" if is_header else header, apart=first)
                first = False

    def draft(self, metadata: Mapping[str, Any] | None = None) -> Draft:
        """The finished text with its map."""
        self._open_pages(self._length)
        return Draft(
            "".join(self._parts), tuple(self._blocks), tuple(self._headings), tuple(self._pages), metadata or {}
        )

    def _write(
        self,
        text: str,
        kind: BlockKind,
        *,
        header: str = "",
        joined: bool = False,
        apart: bool = False,
        fields: Mapping[str, Any] = NOTHING,
    ) -> int:
        if self._parts:
            tight = joined or (kind in _TIGHT and kind == self._last and not apart)
            gap = "\n" if tight else "\n\n"
            self._parts.append(gap)
            self._length += len(gap)
        start = self._length
        self._open_pages(start)
        self._parts.append(text)
        self._length += len(text)
        self._blocks.append(Block(start, self._length, kind, header, joined, fields))
        self._last = kind
        return start

    def _open_pages(self, start: int) -> None:
        self._pages.extend([start] * self._page_due)
        self._page_due = 0
