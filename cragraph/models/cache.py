"""Bounded, thread-safe caches, and embeddings behind one."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from threading import Lock
from typing import Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from cragraph.errors import ModelError
from cragraph.protocols import Embeddings

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Vectors = NDArray[np.float32]


@dataclass
class LRU(Generic[Key, Value]):
    """A cache of at most `size` values that drops the least recently used one. Size 0 keeps nothing."""

    size: int
    _values: OrderedDict[Key, Value] = field(default_factory=OrderedDict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """The value under a key, or None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        """Keep a value under a key, dropping the least recently used one when full."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self.size:
                self._values.popitem(last=False)


def digest(texts: Sequence[str]) -> bytes:
    """A hash of texts in order, with their lengths, so that moving text from one to the next changes it."""
    whole = sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        whole.update(len(data).to_bytes(8, "big"))
        whole.update(data)
    return whole.digest()


@dataclass(frozen=True)
class CachedEmbeddings:
    """Embeddings with a cache; new texts are embedded in one call."""

    embeddings: Embeddings
    cache: LRU[tuple[str, str], list[float]] = field(default_factory=lambda: LRU(4096))

    @property
    def name(self) -> str:
        """The name of the model behind the cache."""
        return str(getattr(self.embeddings, "name", type(self.embeddings).__name__))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text, in order."""
        return self._remembered("document", texts, self.embeddings.embed_documents)

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query, which some models embed differently from a document."""
        return self._remembered("query", [text], lambda texts: [self.embeddings.embed_query(texts[0])])[0]

    def _remembered(
        self, kind: str, texts: list[str], embed: Callable[[list[str]], list[list[float]]]
    ) -> list[list[float]]:
        known = {text: self.cache.get((kind, text)) for text in dict.fromkeys(texts)}
        new = [text for text, vector in known.items() if vector is None]
        vectors = embed(new) if new else []
        if len(vectors) != len(new):
            raise ModelError(
                f"embedding model {self.name!r} returned {len(vectors)} vectors for {len(new)} texts; "
                "wanted one per text."
            )
        for text, vector in zip(new, vectors, strict=True):
            known[text] = vector
            self.cache.put((kind, text), vector)
        return [cast(list[float], known[text]) for text in texts]


def unit(vectors: object, wanted: int) -> Vectors:
    """Vectors as rows of unit length; raises ModelError when they are not `wanted` rows of finite numbers."""
    if wanted == 0:
        return np.zeros((0, 1), dtype=np.float32)
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2 or len(rows) != wanted or not np.isfinite(rows).all():
        raise ModelError(
            f"the embedding model returned an array of shape {rows.shape} for {wanted} texts, or numbers that are not "
            "finite; wanted one vector of finite numbers a text: check the model."
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    result: Vectors = (rows / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)
    return result


def embedded(embeddings: Embeddings, texts: Iterable[str]) -> dict[str, Vectors]:
    """Each distinct text with its vector of unit length, embedded in one call."""
    distinct = list(dict.fromkeys(texts))
    return dict(zip(distinct, unit(embeddings.embed_documents(distinct), len(distinct)), strict=True))
