"""What a store keeps: passages with the files that hold them, and the vectors that one model made of them."""

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

DEFAULT: Final = "default"  # the collection of files that nobody put into another, and all of an older store
FIELD: Final = "collection"  # what a filter calls it, and the metadata of a passage that is in a named one

FIELDS: Final[Mapping[str, str]] = {
    "doc_id": "text", "chunk_index": "number", "start_index": "number",
    "source": "text", "filename": "text", "page": "number",
}  # fmt: skip
"""The fields of a passage that can be filtered by, beside its own metadata, with their types."""


LEFT_OUT: Final = "left_out"
"""What the store keeps of files that are not in to their end: the limit, from where on, and of how much. In the
metadata of a passage of such a file it is said in words; it is no part of what is stored of the passage."""


def left_out(place: str, of: str = "") -> str:
    """What is left out of a file, in words: `place` is the first place that is not in, `of` how long the file is."""
    if place.startswith("row "):
        return f"only the first {int(place[4:].replace(',', '')) - 1:,}{f' of {of}' if of else ' rows'} are in"
    return f"left out from {place} on"


class Origin(NamedTuple):
    """The file that chunks came from, as it was when they were made.

    `options` names how it was split, `chunks` how many it gave (-1: not known yet). It is whole when that many are in.
    A file is in one `collection`.
    """

    source: str
    sha256: str
    size: int
    mtime_ns: int
    options: str
    chunks: int
    collection: str = DEFAULT

    @property
    def state(self) -> tuple[str, str, str]:
        """What tells it from other states and other files."""
        return (self.source, self.sha256, self.options)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What the store holds of one source; `size` (bytes) is None where the source is no file that was ingested.

    `complete` is False for a file of which only a part is in, because writing to a server was cut off or the rest was
    damaged. `collection` is the one that it is in. `doubts` say in sentences why the file may not say what was read.
    `left_out` says what of a file is not in, because it gives too many chunks: "only the first 50,000 of 100,000 rows
    are in".
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


Key = tuple[str, str]
"""The collection of a passage and its id: what tells it from all others of a store."""


class Item(NamedTuple):
    """A passage, the files that hold it, the bytes of its vector where that is known, and its collection."""

    passage: Passage
    origins: Sequence[Origin] = ()
    vector: Any = None
    collection: str = DEFAULT

    @property
    def key(self) -> Key:
        """What tells it from all others of the store."""
        return self.collection, self.passage["chunk_id"]


def checked(passage: Passage) -> Passage:
    """The passage as it can be stored, in JSON and UTF-8; InputError for half of a surrogate pair in its text."""
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
    """The entries that can be filtered by: text, numbers of 64 bits and booleans under a plain name."""

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


def iso_time(ns: int) -> str:
    """A file's time in nanoseconds as a date and time in UTC, to the second: ``2026-03-14T09:26:53Z``."""
    return datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def at_home(path: str | os.PathLike[str]) -> Path:
    """A path with the home folder for its `~`; as it is where there is no such user."""
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
    """Vectors as float32 (n, dimension); StoreError where they differ in length or hold what is no finite number."""
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
    """The vectors, one per row, at length 1."""
    scaled: Floats = matrix / np.maximum(np.linalg.norm(matrix, axis=-1, keepdims=True), 1e-12)
    return scaled


class Identity(NamedTuple):
    """An embedding model, its dimension (0 while unknown) and the metric that its vectors are compared by."""

    model: str
    dimension: int = 0
    metric: str = "cosine"

    @classmethod
    def of(cls, embeddings: "Embeddings") -> "Identity":
        """What the embeddings say of themselves: `name` (else `model`, else the class) and `dimension`, if they do."""
        own = getattr(embeddings, "name", None) or getattr(embeddings, "model", None)
        return cls(str(own or type(embeddings).__name__), int(getattr(embeddings, "dimension", 0) or 0))

    def check(self, stored: "Identity", where: str) -> None:
        """Raises StoreMismatchError where the store at `where` was built with another model."""
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
