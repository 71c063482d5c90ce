"""Builds the text of a document piece by piece and keeps count of where each piece lies."""

from collections.abc import Mapping
from typing import Any

from cragraph.retrieval.documents.document import Block, BlockKind, Draft, Heading
from cragraph.retrieval.documents.fields import NOTHING
from cragraph.retrieval.documents.normalise import clean, one_line
from cragraph.retrieval.documents.tables import Table, header_line, row_lines

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
