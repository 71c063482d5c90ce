"""Chroma: the collection on a server that keeps the passages of several machines, and the clients that speak to it.

The server holds the truth. The tables beside it, for search by words, are a copy that each machine fetches and follows
by the numbers of the writes; they can be thrown away.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

import numpy as np

from cragraph.errors import StoreError, StoreMissingError, mask
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.records import (
    GENERATION,
    METRIC,
    Floats,
    Identity,
    Origin,
    Record,
    from_bytes,
    from_chroma,
    to_chroma,
)
from cragraph.types import Passage

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

_SECONDS: Final = 60.0
"""How long a server may take over one request: a write of 2,000 chunks takes it a few."""

_FIRST_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 5.0
_MOST: Final = 2000
"""Records a request: well under Chroma's own limit, and a bound on what one write holds in memory."""

_MODEL, _DIMENSION, _GENERATION = "cragraph:embedding", "cragraph:dimension", "cragraph:generation"

ALONE: Final = "Words are searched as they were when the server last answered: {reason}."


class Server:
    """One collection of a Chroma server, and the tables that follow it.

    Raises:
        StoreError: where no Chroma server answers, or the collection is not there and `create` is False.
        StoreMismatchError: where its vectors were made by another model.
    """

    def __init__(self, url: str, name: str, identity: Identity, *, create: bool) -> None:
        self.where, self.name = f"the store at {mask(url)}", name
        self.note = ""
        self._looked = 0.0
        self._lock = RLock()
        with self._explained("opened"):
            self._client = on_server(url)
        try:
            self._collection = self._opened(identity, create)
        except BaseException:
            close(self._client)
            raise

    def _opened(self, wanted: Identity, create: bool) -> "Collection":
        from chromadb.errors import NotFoundError

        with self._explained("opened"):
            try:
                found = self._client.get_collection(self.name, embedding_function=None)
            except NotFoundError as error:
                if not create:
                    raise StoreMissingError(
                        f"{self.where} holds no collection {self.name!r}; wanted documents that were ingested: run "
                        "cragraph ingest PATH first."
                    ) from error
                metadata = {_MODEL: wanted.model, _DIMENSION: wanted.dimension, _GENERATION: 0}
                graph: Any = {"space": METRIC, "max_neighbors": 32, "ef_construction": 200, "ef_search": 200}
                return self._client.get_or_create_collection(
                    self.name, embedding_function=None, metadata=metadata, configuration={"hnsw": graph}
                )
            told = found.metadata or {}
            if _MODEL not in told:
                raise StoreError(
                    f"the collection {self.name!r} in {self.where} was not made by cragraph; wanted one that says "
                    "which model made its vectors: choose another collection or another store."
                )
            space = json.loads(json.dumps(found.configuration_json)).get("hnsw", {}).get("space", METRIC)
            wanted.check(Identity(str(told[_MODEL]), int(told.get(_DIMENSION, 0)), str(space)), self.where)
            return found

    # -- writing -----------------------------------------------------------------------------------------------

    def generation(self) -> int:
        """The number of the last write, as the server has it now."""
        with self._explained("read"):
            fresh = self._client.get_collection(self.name, embedding_function=None)
            return int((fresh.metadata or {}).get(_GENERATION, 0))

    def dimension(self) -> int:
        """The dimension of the vectors; 0 before the first was added."""
        return int((self._collection.metadata or {}).get(_DIMENSION, 0))

    def begin(self, generation: int, dimension: int = 0) -> None:
        """Number a write before it is made."""
        metadata: dict[str, Any] = {**(self._collection.metadata or {}), _GENERATION: generation}
        if dimension:
            metadata[_DIMENSION] = dimension
        with self._explained("written"):
            self._collection.modify(metadata=metadata)

    def put(self, records: Sequence[Record], generation: int) -> None:
        """Write records: with their vectors where they bring them, else their metadata alone."""
        fresh = [record for record in records if record.vector is not None]
        same = [record for record in records if record.vector is None]
        with self._explained("written"):
            for batch in _batches(fresh):
                self._collection.upsert(
                    ids=[record.passage["chunk_id"] for record in batch],
                    embeddings=from_bytes([record.vector or b"" for record in batch]),
                    documents=[record.passage["text"] for record in batch],
                    metadatas=[to_chroma(record, generation) for record in batch],
                )
            for batch in _batches(same):
                self._collection.update(
                    ids=[record.passage["chunk_id"] for record in batch],
                    metadatas=[to_chroma(record, generation) for record in batch],
                )

    def drop(self, chunk_ids: Sequence[str]) -> None:
        """Remove records; unknown ids do no harm."""
        with self._explained("written"):
            for batch in _batches(list(chunk_ids)):
                self._collection.delete(ids=batch)

    # -- reading -----------------------------------------------------------------------------------------------

    def count(self) -> int:
        """How many records there are."""
        with self._explained("read"):
            return self._collection.count()

    def ids(self, where: Mapping[str, Any] | None = None) -> list[str]:
        """The ids of all records, or of those that a filter lets through."""
        with self._explained("read"):
            return list(self._collection.get(where=where, include=[])["ids"])  # type: ignore[arg-type]

    def records(self, chunk_ids: Sequence[str]) -> Iterator[list[Record]]:
        """The records with these ids, in no order, in batches."""
        for batch in _batches(list(chunk_ids)):
            with self._explained("read"):
                found = self._collection.get(ids=batch, include=["documents", "metadatas"])
            texts, metadatas = found["documents"] or [], found["metadatas"] or []
            yield [
                from_chroma(chunk_id, text or "", metadata or {})
                for chunk_id, text, metadata in zip(found["ids"], texts, metadatas, strict=True)
            ]

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of these records, by id."""
        vectors: dict[str, Floats] = {}
        for batch in _batches(list(chunk_ids)):
            with self._lock, self._explained("read"):
                found = self._collection.get(ids=batch, include=["embeddings"])
            for chunk_id, vector in zip(found["ids"], found["embeddings"], strict=True):  # type: ignore[arg-type]
                vectors[chunk_id] = np.asarray(vector, dtype=np.float32)
        return vectors

    def nearest(self, index: Index, vector: Floats, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]:
        """The passages nearest to a vector, best first; `retrieval_score` is their cosine, 0 for below 0."""
        with self._lock, self._explained("searched"):
            found = self._collection.query(
                query_embeddings=vector[None, :],
                n_results=k,
                where=where,  # type: ignore[arg-type]
                include=["distances"],
            )
        ids, distances = found["ids"][0], (found["distances"] or [[]])[0]
        passages = {passage["chunk_id"]: passage for passage in index.get(ids)}
        missing = [chunk_id for chunk_id in ids if chunk_id not in passages]  # not fetched yet
        passages |= {r.passage["chunk_id"]: r.passage for batch in self.records(missing) for r in batch}
        return [
            Passage(**{**passages[chunk_id], "retrieval_score": min(1.0, max(0.0, 1.0 - distance))})
            for chunk_id, distance in zip(ids, distances, strict=True)
            if chunk_id in passages
        ]

    # -- the copy ----------------------------------------------------------------------------------------------

    def follow(self, index: Index, *, now: bool = False) -> None:
        """Bring the tables up to the server, if it was not asked a moment ago.

        `now` asks in any case, and raises StoreError where the server does not answer; else the tables stay as they
        are and `note` says so.
        """
        if not now and monotonic() - self._looked < _LOOK_SECONDS:
            return
        with self._lock:
            self._looked = monotonic()
            try:
                if not self.followed(index):
                    self._fetch(index)
                self.note = ""
            except StoreError as error:
                if now:
                    raise
                self.note = ALONE.format(reason=str(error).split(";")[0])

    def followed(self, index: Index) -> bool:
        """Whether the tables hold the last write that the server knows of, and as many passages."""
        return index.generation == self.generation() and index.count() == self.count()

    def _fetch(self, index: Index) -> None:
        """Bring over what was written since, and compare the ids where the counts still differ."""
        generation, since = self.generation(), index.generation
        self._bring(index, self.ids({GENERATION: {"$gt": since}} if since else None))
        if index.count() != self.count():
            here, there = index.ids(), set(self.ids())  # in this order: what is added meanwhile is not dropped
            self._bring(index, sorted(there - here))
            with index.write() as db:
                index.drop(db, here - there)
        with index.write() as db:
            index.stamp(db, generation=generation)

    def _bring(self, index: Index, chunk_ids: list[str]) -> None:
        seen: dict[tuple[str, str, str], Origin] = {}
        for records in self.records(chunk_ids):
            with index.write() as db:
                index.put(db, records, 0)
            seen |= {o.state: o for record in records for o in record.origins if o.chunks >= 0}
        whole = index.sources()
        for origin in seen.values():
            # One that was cut off is left for the next ingest to finish.
            if origin.source not in whole and index.held(origin) == origin.chunks:
                with index.write() as db:
                    index.set_whole(db, origin.source, origin, others=True)

    def close(self) -> None:
        """Let go of the connections."""
        close(self._client)

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        """Raise what Chroma and its HTTP client raise as StoreError."""
        from chromadb.errors import ChromaError

        try:
            yield
        except StoreError:
            raise
        except (ChromaError, ValueError, OSError) as error:
            text = str(error) or type(error).__name__
            raise StoreError(f"{self.where} cannot be {done}: {text}; what was stored before is safe.") from error
        except Exception as error:
            if type(error).__module__.split(".")[0] not in ("httpx", "httpcore"):
                raise
            raise StoreError(
                f"{self.where} does not answer ({error}); wanted a running Chroma server: start it and try again."
            ) from error


# -- clients ---------------------------------------------------------------------------------------------------------

_open_paths: Final[set[str]] = set()


def in_folder(folder: Path) -> "ClientAPI":
    """A client on a folder, which shares nothing with other clients of this process on the same folder.

    Chroma shares one engine among clients on the same path; another spelling of the path is another engine.
    """
    import chromadb

    spellings = (str(folder) + "/." * n for n in count())
    path = next(path for path in spellings if path not in _open_paths)
    _open_paths.add(path)
    try:
        return chromadb.PersistentClient(path=path, settings=_settings())
    except BaseException:
        _open_paths.discard(path)
        raise


def on_server(url: str) -> "ClientAPI":
    """A client of a Chroma server.

    Raises:
        StoreError: where nothing answers at the URL, or what answers is no Chroma server.
    """
    import chromadb
    import httpx

    parts = urlsplit(url)
    secure = parts.scheme.lower() == "https"
    port = parts.port or (443 if secure else 8000)
    headers = {}
    if parts.username:
        headers["Authorization"] = httpx.BasicAuth(unquote(parts.username), unquote(parts.password or ""))._auth_header
    try:
        # chromadb itself would wait for ever for a server that takes the connection and says nothing.
        beat = f"{parts.scheme}://{parts.hostname}:{port}/api/v2/heartbeat"
        httpx.get(beat, timeout=_FIRST_SECONDS, headers=headers).raise_for_status()
        client = chromadb.HttpClient(
            host=parts.hostname or "localhost", port=port, ssl=secure, headers=headers, settings=_settings()
        )
        for session in _sessions(client):
            session.timeout = _SECONDS
        return client
    except Exception as error:  # chromadb raises ValueError, KeyError, httpx and its own errors here
        raise StoreError(
            f"no Chroma server answers at {url} ({type(error).__name__}: {error}); wanted one to keep the store: "
            f"start it with `chroma run --path FOLDER --port {parts.port or 8000}`, or give a folder instead of a URL."
        ) from error


def close(client: "ClientAPI") -> None:
    """Let go of a client and, where it has its own, of its engine."""
    path = client.get_settings().persist_directory
    for session in _sessions(client):
        session.close()
    closing: Any = client  # `close` is missing from the type that chromadb declares
    closing.close()
    _open_paths.discard(path)


def _sessions(client: Any) -> list[Any]:
    """The HTTP sessions of a client of a server, which chromadb gives no time limit and does not close itself."""
    parts = (client, getattr(client, "_admin_client", None))
    found = (getattr(getattr(part, "_server", None), "_session", None) for part in parts)
    return [session for session in found if session is not None]


def _settings() -> Any:
    from chromadb.config import Settings

    # Without _env_file the settings of the program around us would be read from its .env file.
    return Settings(anonymized_telemetry=False, _env_file=None)


def _batches(values: Sequence[Any]) -> Iterator[Any]:
    for start in range(0, len(values), _MOST):
        yield values[start : start + _MOST]
