"""The dense side: vectors, texts and metadata in one Chroma collection."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cragraph.errors import StoreError
from cragraph.retrieval.store import clients
from cragraph.retrieval.store.floats import Floats
from cragraph.retrieval.store.identity import METRIC, Identity
from cragraph.retrieval.store.records import Record, from_chroma, to_chroma
from cragraph.retrieval.store.scores import similarity
from cragraph.retrieval.store.telling import told

if TYPE_CHECKING:
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.api.models.Collection import Collection
    from langchain_chroma import Chroma
    from langchain_core.embeddings import Embeddings

_GENERATION: Final = "cragraph:generation"
_SPARE, _WHOLE = ".rebuilt", "cragraph:whole"
_MOST: Final = 2000
"""Records a request: well under Chroma's own limit, and a bound on what one write holds in memory."""


NEIGHBOURS, BREADTH = 32, 200
"""How densely the vector index is linked, and how widely it is built and searched: twice Chroma's own figures, with
which a passage among near-copies of others was now and then not found by its own text.
"""


class Vectors:
    """One collection of a Chroma client that can be opened again to see what another process wrote.

    `where` says in words where the collection lies, for messages.
    """

    def __init__(
        self,
        connect: clients.Connect,
        name: str,
        embeddings: "Embeddings",
        where: str,
        *,
        create: bool = True,
    ) -> None:
        self.where, self.name = where, name
        self._connect, self._embeddings = connect, embeddings
        self._lock = RLock()
        with self._told("opened"):
            self._client = connect()
        try:
            self._collection = self._open(create)
            self._chroma: Chroma = self._langchain()
        except BaseException:
            clients.close(self._client)
            raise
        self._batch = min(_MOST, self._client.get_max_batch_size())

    def _open(self, create: bool) -> "Collection":
        from chromadb.errors import NotFoundError

        wanted = Identity.of(self._embeddings)
        with self._told("opened"):
            try:
                found = self._found()
            except NotFoundError as error:
                if not create:
                    raise StoreError(
                        f"{self.where} holds no collection {self.name!r}; wanted documents that were ingested: run "
                        "cragraph ingest PATH first."
                    ) from error
                return self._create(self.name, {**wanted.metadata(), _GENERATION: 0})
            stored = Identity.read(found.metadata or {})
            if stored is None:
                raise StoreError(
                    f"the collection {self.name!r} in {self.where} was not made by cragraph; wanted one that says "
                    "which model made its vectors: choose another collection or another store."
                )
            space = json.loads(json.dumps(found.configuration_json)).get("hnsw", {}).get("space", METRIC)
            wanted.check(Identity(stored.model, stored.dimension, str(space)), self.where)
            return found

    def _found(self) -> "Collection":
        from chromadb.errors import NotFoundError

        try:
            return self._client.get_collection(self.name, embedding_function=None)
        except NotFoundError:
            spare = self._client.get_collection(self.name + _SPARE, embedding_function=None)
            if not (spare.metadata or {}).get(_WHOLE):
                raise
            spare.modify(name=self.name)  # a rebuild was cut off before its last step
            return spare

    def _create(self, name: str, metadata: dict[str, Any]) -> "Collection":
        graph: CreateHNSWConfiguration = {
            "space": METRIC,
            "max_neighbors": NEIGHBOURS,
            "ef_construction": BREADTH,
            "ef_search": BREADTH,
        }
        return self._client.create_collection(
            name, embedding_function=None, metadata=metadata, configuration={"hnsw": graph}
        )

    # -- identity and generation -------------------------------------------------------------------------------

    def dimension(self) -> int:
        """The dimension of the vectors; 0 before the first was added."""
        return int((self._collection.metadata or {}).get("cragraph:dimension", 0))

    def generation(self) -> int:
        """The number of the last write, as Chroma has it now."""
        with self._told("read"):
            fresh = self._client.get_collection(self.name, embedding_function=None)
            return int((fresh.metadata or {}).get(_GENERATION, 0))

    def set_generation(self, generation: int, dimension: int = 0) -> None:
        """Number a write before it is made."""
        metadata: dict[str, Any] = {**(self._collection.metadata or {}), _GENERATION: generation}
        if dimension:
            metadata["cragraph:dimension"] = dimension
        with self._told("written"):
            self._collection.modify(metadata=metadata)

    def check_dimension(self, dimension: int) -> None:
        """Hold a vector's dimension against the store's.

        Raises:
            StoreMismatchError: where they differ.
        """
        stored = Identity.read(self._collection.metadata or {})
        if stored is not None:
            Identity(stored.model, dimension, stored.metric).check(stored, self.where)

    # -- writing -----------------------------------------------------------------------------------------------

    def upsert(self, records: Sequence[Record], vectors: Floats) -> None:
        """Write records with their vectors, float32 (n, dimension)."""
        with self._told("written"):
            for start in range(0, len(records), self._batch):
                batch = records[start : start + self._batch]
                self._collection.upsert(
                    ids=[record.passage["chunk_id"] for record in batch],
                    embeddings=vectors[start : start + self._batch],
                    documents=[record.passage["text"] for record in batch],
                    metadatas=[to_chroma(record) for record in batch],
                )

    def rewrite(self, records: Sequence[Record]) -> None:
        """Replace the metadata of records that are in, and leave their vectors."""
        with self._told("written"):
            for start in range(0, len(records), self._batch):
                batch = records[start : start + self._batch]
                self._collection.update(
                    ids=[record.passage["chunk_id"] for record in batch],
                    metadatas=[to_chroma(record) for record in batch],
                )

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove records; unknown ids do no harm."""
        with self._told("written"):
            for start in range(0, len(chunk_ids), self._batch):
                self._chroma.delete(list(chunk_ids[start : start + self._batch]))

    # -- reading -----------------------------------------------------------------------------------------------

    def count(self) -> int:
        """How many records there are."""
        with self._told("read"):
            return self._collection.count()

    def taken_in(self) -> None:
        """Come back when what was written is in, files included: Chroma answers no question before."""
        with self._told("written"):
            self._chroma.get(ids=[self.name], include=[])  # any id: to count would cost more the more there is

    def ids(self, where: Mapping[str, Any] | None = None) -> list[str]:
        """The ids of all records, or of those that a filter lets through."""
        with self._told("read"):
            return list(self._chroma.get(where=where, include=[])["ids"])  # type: ignore[arg-type]

    def records(self, chunk_ids: Sequence[str]) -> Iterator[Record]:
        """The records with these ids, in no order."""
        for start in range(0, len(chunk_ids), self._batch):
            with self._told("read"):
                found = self._chroma.get(
                    ids=list(chunk_ids[start : start + self._batch]), include=["documents", "metadatas"]
                )
            for chunk_id, text, metadata in zip(found["ids"], found["documents"], found["metadatas"], strict=True):
                yield from_chroma(chunk_id, text or "", metadata or {})

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of these records, by id."""
        vectors: dict[str, Floats] = {}
        for start in range(0, len(chunk_ids), self._batch):
            with self._lock, self._told("read"):
                found = self._chroma.get(ids=list(chunk_ids[start : start + self._batch]), include=["embeddings"])
            for chunk_id, vector in zip(found["ids"], found["embeddings"], strict=True):
                vectors[chunk_id] = np.asarray(vector, dtype=np.float32)
        return vectors

    def nearest(self, vector: Sequence[float], k: int, where: Mapping[str, Any] | None) -> list[tuple[str, float]]:
        """The ids of the records nearest to a vector with their similarity, best first."""
        with self._lock, self._told("searched"):
            found = self._collection.query(
                query_embeddings=np.asarray([vector], dtype=np.float32),
                n_results=k,
                where=where,  # type: ignore[arg-type]
                include=["distances"],
            )
        distances = found["distances"] or [[]]
        return [
            (chunk_id, similarity(distance, METRIC))
            for chunk_id, distance in zip(found["ids"][0], distances[0], strict=True)
        ]

    # -- keeping up --------------------------------------------------------------------------------------------

    def reopen(self) -> None:
        """Read in what other processes wrote: Chroma keeps the vector index it loaded as long as it is open."""
        with self._lock:
            clients.close(self._client)
            self._client = self._connect()
            self._collection = self._open(create=False)
            self._chroma = self._langchain()

    def load(self) -> None:
        """Have the vector index read into memory now rather than at the first search."""
        if self.dimension() and self.count():
            self.nearest([1.0] + [0.0] * (self.dimension() - 1), 1, None)

    def langchain(self) -> "Chroma":
        """The collection as a LangChain vector store."""
        return self._chroma

    def close(self) -> None:
        """Let go of Chroma."""
        clients.close(self._client)

    def rebuild(self, batches: Iterable[tuple[Sequence[Record], Floats]]) -> None:
        """Make the collection anew from records and vectors; until that is done the old one stays."""
        spare = self.name + _SPARE
        with self._lock, self._told("rebuilt"):
            if spare in (found.name for found in self._client.list_collections()):
                self._client.delete_collection(spare)
            metadata = dict(self._collection.metadata or {})
            self._collection = self._create(spare, metadata)
            for records, vectors in batches:
                self.upsert(records, vectors)
            self._collection.modify(metadata={**metadata, _WHOLE: 1})
            self._client.delete_collection(self.name)
            self._collection.modify(name=self.name)
            self._chroma = self._langchain()

    def _langchain(self) -> "Chroma":
        from langchain_chroma import Chroma

        return Chroma(client=self._client, collection_name=self.name, embedding_function=self._embeddings)

    def _told(self, done: str) -> AbstractContextManager[None]:
        return told(self.where, done)
