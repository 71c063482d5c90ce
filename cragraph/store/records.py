"""Records of a store: passages with their files, and their vectors by one model."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import file_digest
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar, cast
from unicodedata import normalize

import numpy as np

from cragraph.errors import InputError, StoreError, StoreMismatchError
from cragraph.protocols import Embeddings
from cragraph.types import Passage

T = TypeVar("T")
Floats = np.ndarray[Any, np.dtype[np.float32]]

DEFAULT: Final = "default"  # the collection of files without another, and of all files of an older store
FIELD: Final = "collection"  # its name in filters, and in the metadata of passages of a named collection

FIELDS: Final[Mapping[str, str]] = {
    "doc_id": "text", "chunk_index": "number", "start_index": "number",
    "source": "text", "filename": "text", "page": "number",
}  # fmt: skip
"""The fields of every passage that filters may use beside its metadata, with their types."""


LEFT_OUT: Final = "left_out"
"""The key for the `cut` of files; the metadata of their passages says it in words, unstored."""


def left_out(place: str, of: str = "") -> str:
    """The missing end of a file in words: `place` is the first missing place, `of` the length of the file."""
    if place.startswith("row "):
        return f"only the first {int(place[4:].replace(',', '')) - 1:,}{f' of {of}' if of else ' rows'} are in"
    return f"left out from {place} on"


class Origin(NamedTuple):
    """The file of some chunks, in the state in which it was read.

    `options` names the splitting options, `chunks` is the number of chunks (-1: not known yet). The file is complete
    when that many are in. A file is in one `collection`. `cut` is not empty if it has too many chunks: the limit, the
    place of the cut, and the file's length. None leaves what is recorded of that.
    """

    source: str
    sha256: str
    size: int
    mtime_ns: int
    options: str
    chunks: int
    collection: str = DEFAULT
    cut: tuple[Any, ...] | None = None

    @property
    def state(self) -> tuple[str, str, str]:
        """The key of this state of the file."""
        return (self.source, self.sha256, self.options)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored document; `size` (bytes) is None if its source is no ingested file.

    `complete` is False if only a part of the file is in, because writing to a server was cut off or the rest was
    damaged. `doubts` are sentences on why the reading of the file may be wrong. `left_out` says what is missing from a
    file with too many chunks: "only the first 50,000 of 100,000 rows are in".
    """

    source: str
    filename: str
    documents: int
    chunks: int
    size: int | None = None
    sha256: str | None = None
    complete: bool = True
    collection: str = DEFAULT
    doubts: tuple[str, ...] = ()
    left_out: str = ""
    tables: tuple[str, ...] = ()
    """Of each large table of the file, how it is kept: "1,000,000 rows as a table: …"."""


Key = tuple[str, str]
"""The key of a passage in a store: its collection and its id."""


class Item(NamedTuple):
    """A passage with its files, its collection, and the bytes of its vector if known."""

    passage: Passage
    origins: Sequence[Origin] = ()
    vector: Any = None
    collection: str = DEFAULT

    @property
    def key(self) -> Key:
        """The key of the passage in its store."""
        return self.collection, self.passage["chunk_id"]


class Readable(NamedTuple):
    """What can be read of a store's file, of this version or an older one, and is what was written.

    Among the items, None stands for a damaged passage. `tables` are the large tables, each with its file; a version
    without any has None.
    """

    meta: dict[str, Any]
    origins: list[Origin]
    items: Iterator[Item | None]
    tables: Iterable[tuple[Origin, Any]] | None = None


def checked(passage: Passage) -> Passage:
    """The passage in storable form (JSON and UTF-8). Raises InputError for half of a surrogate pair in its text."""
    try:
        passage["text"].encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"passage {passage['chunk_id']} of {_plain(passage['source']) or 'no source'} holds half a character at "
            f"{error.start}; wanted text that can be written as UTF-8: clean it with "
            "text.encode('utf-8', 'replace').decode()."
        ) from error
    own = {name: _plain(passage[name]) for name in ("source", "filename", "metadata")}
    own["metadata"].pop(LEFT_OUT, None)
    return cast("Passage", {**passage, **own, "retrieval_score": None, "rerank_score": None})


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {_plain(str(key)): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def filterable(metadata: Mapping[str, Any]) -> dict[str, str | int | float | bool]:
    """The entries that filters may use: text, numbers of 64 bits and booleans under a plain name."""

    return {
        key: value
        for key, value in metadata.items()
        if key and key not in FIELDS and key[0] not in "_$#" and not {'"', ":"} & {*key}
        if isinstance(value, str)
        or (isinstance(value, int) and -(1 << 63) <= value < 1 << 63)
        or (isinstance(value, float) and math.isfinite(value))
    }


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class UnchangedFiles:
    """The set of ingested files that have not changed since; `states` gives the recorded states of a source."""

    states: Callable[[str], Iterable[Origin]]

    def __contains__(self, source: object) -> bool:
        path, states = Path(str(source)), self.states(str(source))
        with suppress(OSError, ValueError):
            return any(path.stat().st_size == was.size and sha256_of(path) == was.sha256 for was in states)
        return False


def in_order(passages: Iterable[Passage]) -> list[Passage]:
    """The passages of a source in the order of its rows or its text."""

    def place(passage: Passage) -> tuple[int, int]:
        row = passage["metadata"].get("row")
        return row if isinstance(row, int) else 0, passage["chunk_index"]

    return sorted(passages, key=place)


def iso_time(ns: int) -> str:
    """A file's time in nanoseconds as a date and time in UTC, to the second: ``2026-03-14T09:26:53Z``."""
    return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def at_home(path: str | os.PathLike[str]) -> Path:
    """A path with `~` expanded; unchanged if there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def filename_of(source: str) -> str:
    """The last part of a source's path; its accents composed, as people type them."""
    return composed(source.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1])


def composed(name: str) -> str:
    """A name with composed accents: some systems keep `é` as two signs."""
    return normalize("NFC", name)


def batched(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """The values in lists of at most `size`."""
    rest = iter(values)
    while batch := list(islice(rest, size)):
        yield batch


def as_floats(vectors: Iterable[Sequence[float]]) -> Floats:
    """Vectors as float32 (n, dimension). Raises StoreError for different lengths or numbers that are not finite."""
    try:
        array = np.asarray(list(vectors) or np.empty((0, 0)), dtype=np.float32)
        if array.ndim != 2 or not np.isfinite(array).all():
            raise ValueError(f"of shape {array.shape}, or not finite")
    except ValueError as error:
        raise StoreError(
            f"the embedding model gave vectors that are no (n, dimension) finite numbers ({error}): try another model."
        ) from error
    return array


def from_bytes(rows: Sequence[bytes]) -> Floats:
    """float32 (n, dimension) from the bytes of each vector."""
    return np.frombuffer(b"".join(rows), dtype=np.float32).reshape(len(rows), -1)


def unit(matrix: Floats) -> Floats:
    """The row vectors scaled to length 1."""
    scaled: Floats = matrix / np.maximum(np.linalg.norm(matrix, axis=-1, keepdims=True), 1e-12)
    return scaled


class Identity(NamedTuple):
    """An embedding model, its dimension (0 while unknown) and the metric that its vectors are compared by."""

    model: str
    dimension: int = 0
    metric: str = "cosine"

    @classmethod
    def of(cls, embeddings: "Embeddings") -> "Identity":
        """The identity of embeddings: `name` (else `model`, else the class) and `dimension` if they have one."""
        own = getattr(embeddings, "name", None) or getattr(embeddings, "model", None)
        return cls(str(own or type(embeddings).__name__), int(getattr(embeddings, "dimension", 0) or 0))

    def check(self, stored: "Identity", where: str) -> None:
        """Raises StoreMismatchError if the store at `where` was built with another model."""
        dimensions = {self.dimension, stored.dimension} - {0}
        if (self.model, self.metric) != (stored.model, stored.metric) or len(dimensions) > 1:
            by_name = f" (CRAG_EMBEDDINGS={stored.model})" if ":" in stored.model else ""
            raise StoreMismatchError(
                f"{where} holds vectors of {stored}; this run embeds with {self}. Use the model it was built with"
                f"{by_name}, or ingest again into a new store: cragraph ingest PATH --store NEW"
            )

    def __str__(self) -> str:
        size = f"{self.dimension} dimensions, " if self.dimension else ""
        return f"{self.model} ({size}{self.metric})"
