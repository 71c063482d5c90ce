"""What a loaded file is: its text, and where in that text its pages, headings and blocks lie."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cragraph.passages import content_id
from cragraph.retrieval.documents.fields import NOTHING

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
