"""How a passage lies in Chroma: its fields and scalars as metadata, the rest in one JSON string."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from cragraph.retrieval.documents import contextual_text
from cragraph.types import Passage

GENERATION: Final = "_g"
RECORD: Final = "_r"
FIELDS: Final = ("doc_id", "chunk_index", "start_index", "source", "filename", "page")
"""The fields of a passage that can be filtered by, beside its own metadata."""

_INT64 = 2**63


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that chunks came from, as it was when they were made.

    `sha256` is of the file's bytes, `mtime_ns` its time of change, `options` names how it was split, `chunks` how many
    it gave, -1 while that is not known. A source is whole when that many of its chunks are in the store.
    """

    source: str
    sha256: str
    size: int
    mtime_ns: int
    options: str
    chunks: int

    @property
    def state(self) -> tuple[str, str, str]:
        """What tells it from other states of the same file, and from other files."""
        return (self.source, self.sha256, self.options)

    def row(self) -> list[Any]:
        """Everything but the source, as plain JSON."""
        return [self.sha256, self.size, self.mtime_ns, self.options, self.chunks]


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What the store holds of one source; `size` (bytes) is None where the source is no file that was ingested."""

    source: str
    filename: str
    documents: int
    chunks: int
    size: int | None = None
    sha256: str | None = None


class Item(NamedTuple):
    """A passage to add, the file that it comes from, and its vector where that is known already."""

    passage: Passage
    origin: Origin | None = None
    vector: Any = None


@dataclass(frozen=True, slots=True)
class Record:
    """A passage with what only the store knows of it: which sources hold it, and when it was last written."""

    passage: Passage
    context: str = ""
    origins: tuple[Origin, ...] = ()
    generation: int = 0
    vector: bytes | None = field(default=None, repr=False)


def with_context(record: Record) -> Record:
    """The record with what stands above its text when it is embedded and indexed (headings, title)."""
    text = record.passage["text"]
    return replace(record, context=contextual_text(record.passage).removesuffix(text))


def filterable(metadata: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    """The entries that both sides can filter by: text, finite numbers and booleans under a plain name."""
    return {key: value for key, value in metadata.items() if _plain_name(key) and _plain_value(value)}


def to_chroma(record: Record) -> dict[str, Any]:
    """The metadata of a record in Chroma."""
    passage = record.passage
    plain = filterable(passage["metadata"])
    rest = {key: value for key, value in passage["metadata"].items() if key not in plain}
    meta: dict[str, Any] = {key: passage[key] for key in FIELDS if passage[key] is not None}
    meta.update(plain)
    meta[GENERATION] = record.generation
    held = {origin.source: origin.row() for origin in record.origins}
    extra = {name: value for name, value in (("h", held), ("x", rest)) if value}
    if extra:
        meta[RECORD] = json.dumps(extra, ensure_ascii=False, default=str)
    return meta


def from_chroma(chunk_id: str, text: str, metadata: Mapping[str, Any]) -> Record:
    """Read back what `to_chroma` wrote; a record written by another tool gets empty fields."""
    extra = json.loads(metadata.get(RECORD) or "{}")
    own = {k: v for k, v in metadata.items() if k not in FIELDS and k not in (GENERATION, RECORD)}
    page = metadata.get("page")
    passage = Passage(
        text=text,
        chunk_id=chunk_id,
        doc_id=str(metadata.get("doc_id", chunk_id)),
        chunk_index=int(metadata.get("chunk_index", 0)),
        start_index=int(metadata.get("start_index", 0)),
        source=str(metadata.get("source", "")),
        filename=str(metadata.get("filename", "")),
        page=None if page is None else int(page),
        metadata={**own, **extra.get("x", {})},
        retrieval_score=None,
        rerank_score=None,
    )
    origins = tuple(Origin(source, *row) for source, row in extra.get("h", {}).items())
    return Record(passage, origins=origins, generation=int(metadata.get(GENERATION, 0)))


def _plain_name(key: str) -> bool:
    return bool(key) and key not in FIELDS and key[0] not in "_$#" and '"' not in key and ":" not in key


def _plain_value(value: Any) -> bool:
    if isinstance(value, str | bool):
        return True
    if isinstance(value, int):
        return -_INT64 <= value < _INT64
    return isinstance(value, float) and value == value and abs(value) != float("inf")
