"""The store: what was ingested, found by meaning and by words."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import repeat
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from cragraph.errors import StoreError
from cragraph.retrieval.store.dense import Dense
from cragraph.retrieval.store.exact import floats, scan
from cragraph.retrieval.store.filters import checked_where
from cragraph.retrieval.store.floats import Floats, as_floats
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.keeping import Keeper
from cragraph.retrieval.store.ledger import Ledger
from cragraph.retrieval.store.lexical import Lexical
from cragraph.retrieval.store.records import Item, Origin, StoredDocument
from cragraph.retrieval.store.vectors import Vectors
from cragraph.retrieval.store.writer import Writer
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import VectorStore


class Store:
    """Passages in Chroma and, in step with it, in a local index. Made by `open_store`; may be shared by threads.

    `where` filters by metadata in Chroma's own language ({"year": 2023}, {"year": {"$gte": 2020}}, "$in", "$and",
    "$or"); it is checked against `fields()` and raises InputError for a field that does not exist.
    """

    def __init__(
        self,
        vectors: Vectors,
        index: Index,
        ledger: Ledger,
        embeddings: "Embeddings",
        writer: Writer,
        keeper: Keeper,
    ) -> None:
        self._vectors, self._index, self._embeddings = vectors, index, embeddings
        self._writer, self._keeper = writer, keeper
        self._dense, self._lexical = Dense(vectors, index), Lexical(index)
        self._closed = False
        self.ledger = ledger
        self.location = vectors.where

    # -- finding -----------------------------------------------------------------------------------------------

    def dense(self, query: str, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]:
        """The `k` passages nearest in meaning, best first; `retrieval_score` is their cosine, with 0 for below 0."""
        checked = self._checked(where)
        if k < 1 or not query.strip() or not self.count():
            return []
        vector = as_floats([self._embeddings.embed_query(query)])[0]
        self._vectors.check_dimension(len(vector))
        if not self._keeper.vectors_ready():
            found = scan(self._index, vector, k, checked)
            passages = {p["chunk_id"]: p for p in self._index.get([chunk_id for chunk_id, _ in found])}
            return [_scored(passages[chunk_id], cosine) for chunk_id, cosine in found]
        return self._dense(vector, k, checked)

    def lexical(self, query: str, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]:
        """The `k` passages that share the most telling words, best first; `retrieval_score` is BM25 in 0..1."""
        self._keeper.words_ready()
        return self._lexical(query, k, self._checked(where))

    # -- reading -----------------------------------------------------------------------------------------------

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids, in the order asked; unknown ids are left out."""
        return self._index.get(chunk_ids)

    def count(self) -> int:
        """How many passages there are."""
        self._keeper.words_ready()
        return self._index.count()

    def documents(self) -> list[StoredDocument]:
        """What is in the store, a source a row, in order of name."""
        self._keeper.words_ready()
        return self.ledger.documents()

    def vectors(self, chunk_ids: Sequence[str]) -> Floats:
        """The vectors of these passages, float32 (n, dimension), of unit length, in the order asked.

        Raises:
            StoreError: for an id that is not in the store.
        """
        kept = self._keeper.vectors_ready()
        found = self._vectors.vectors(chunk_ids) if kept else floats(self._index, chunk_ids)
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in found]
        if missing:
            raise StoreError(f"{self.location} holds no vector of {missing[0]}; wanted ids of passages that are in it.")
        if not chunk_ids:
            return np.empty((0, self._vectors.dimension()), dtype=np.float32)
        matrix = np.stack([found[chunk_id] for chunk_id in chunk_ids])
        unit: Floats = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
        return unit

    def adjacent(self, passage: Passage, before: int = 1, after: int = 1) -> list[Passage]:
        """The passages next to one in its document, in order; without the passage itself."""
        place = passage["chunk_index"]
        found = self._index.between(passage["doc_id"], place - before, place + after)
        return [other for other in found if other["chunk_index"] != place]

    def fields(self) -> dict[str, str]:
        """The fields that can be filtered by, with their types: text, number or true/false."""
        self._keeper.words_ready()
        return self._index.fields()

    @property
    def generation(self) -> int:
        """A number that grows with every write, for caches."""
        return self._index.stamp("generation")

    @property
    def notes(self) -> list[str]:
        """What is degraded in this store at present, in plain sentences."""
        return self._keeper.notes

    # -- writing -----------------------------------------------------------------------------------------------

    def writing(self) -> AbstractContextManager[None]:
        """Hold the store's lock over several writes; raises StoreLockedError where another process holds it."""
        return self._writer.session()

    def add(self, passages: Iterable[Passage], origin: Origin | None = None, vectors: Floats | None = None) -> int:
        """Add passages, or rewrite those that are in; returns how many were new.

        What is in already with the same text is not embedded again. `origin` names the file that they come from.
        `vectors`, float32 (n, dimension), are stored instead of embedding where given.
        """
        rows: Iterable[Any] = repeat(None) if vectors is None else vectors
        return self._writer.add(Item(passage, origin, row) for passage, row in zip(passages, rows, strict=False))

    def add_items(self, items: Iterable[Item]) -> int:
        """Add passages of several files at once; returns how many were new."""
        return self._writer.add(items)

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove passages by id; unknown ids do no harm."""
        self._writer.remove(chunk_ids)

    def release(self, source: str, but: Origin | None = None) -> int:
        """Remove the passages that only this source holds, but for those of one state of it; returns how many."""
        return self._writer.release(source, but)

    # -- the rest ----------------------------------------------------------------------------------------------

    def langchain(self) -> "VectorStore":
        """The dense side as a LangChain vector store, to read from; writing through it leaves the words behind."""
        self._keeper.vectors_ready()
        return self._vectors.langchain()

    def close(self) -> None:
        """Let go of files and connections; closing twice does no harm."""
        if not self._closed:
            self._closed = True
            self._lexical.close()
            self._vectors.close()
            self._index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _checked(self, where: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if not where:
            return None
        fields = self.fields()
        return checked_where(where, fields) if fields else None


def _scored(passage: Passage, score: float) -> Passage:
    return Passage(**{**passage, "retrieval_score": min(1.0, max(0.0, score))})
