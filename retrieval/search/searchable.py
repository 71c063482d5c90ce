"""What search needs of a store, and of whatever writes further queries for a question."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cragraph.protocols import Notes
from cragraph.types import Passage

Where = Mapping[str, Any]
Vectors = NDArray[np.float32]


class Searchable(Protocol):
    """A store that finds passages by meaning and by words; `cragraph.retrieval.store.Store` is one."""

    def dense(self, query: str, k: int, where: Where | None = None) -> list[Passage]:
        """The `k` nearest passages, best first; `retrieval_score` is the cosine similarity, 0 where it is negative."""
        ...

    def lexical(self, query: str, k: int, where: Where | None = None) -> list[Passage]:
        """The `k` best passages by BM25, best first; `retrieval_score` is proportional to it, 0..1."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What is degraded in the store at present, in plain sentences."""
        ...

    def vectors(self, chunk_ids: Sequence[str]) -> Vectors:
        """The unit vectors of these passages, float32 (n, dimension)."""
        ...


class Neighbourly(Protocol):
    """A store that knows its passages by id, and those around each."""

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids; unknown ids are left out."""
        ...

    def adjacent(self, passage: Passage, before: int, after: int) -> list[Passage]:
        """The passages of the same document around this one, without it, in document order."""
        ...


class QueryExpander(Protocol):
    """Writes further queries that together cover the question; not the question itself, and none where one will do."""

    @property
    def name(self) -> str:
        """What notes and reports call it."""
        ...

    def __call__(self, question: str, notes: Notes) -> list[str]:
        """The further queries."""
        ...
