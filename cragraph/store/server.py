"""Chroma: the collection on a server that keeps the passages of several machines, and the clients that speak to it.

The tables beside it, for search by words, are a copy that follows it by the numbers of the writes.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

import numpy as np

from cragraph.errors import StoreError, StoreMissingError, mask
from cragraph.store.filters import Where
from cragraph.store.index import Index
from cragraph.store.records import FIELDS, Floats, Identity, Item, Origin, batched, filterable, from_bytes
from cragraph.types import Passage

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

GENERATION, RECORD = "_g", "_r"  # the keys of our own in a record's metadata
_SECONDS: Final = 60.0  # how long a server may take over one request: a write of 2,000 chunks takes it a few
_FIRST_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 5.0
_MOST: Final = 2000  # records a request: well under Chroma's own limit, and a bound on what one write holds in memory
HNSW: Final[Any] = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200, "ef_search": 200}
"""How densely a graph is linked, and how widely it is built and searched: twice Chroma's own figures, with which a
passage among near-copies of others was now and then not found by its own text."""

_MODEL, _DIMENSION, _GENERATION = "cragraph:embedding", "cragraph:dimension", "cragraph:generation"

ALONE: Final = "Words are searched as they were when the server last answered: {reason}."


class Server:
    """One collection of a Chroma server, and the tables that follow it, which are set once it is opened."""

    index: Index

    def __init__(self, url: str, name: str, identity: Identity, *, create: bool) -> None:
        self.where, self.name = f"the store at {mask(url)}", name
        self.note = ""
        self._looked = 0.0
        self._lock = RLock()
        self._client = on_server(url)
        try:
            self._collection = self._ask("opened", self._opened, identity, create)
        except BaseException:
            close(self._client)
            raise

    def _opened(self, wanted: Identity, create: bool) -> "Collection":
        from chromadb.errors import NotFoundError

        try:
            collection = self._client.get_collection(self.name, embedding_function=None)
        except NotFoundError as error:
            if not create:
                raise StoreMissingError(
                    f"{self.where} holds no collection {self.name!r}; wanted documents that were ingested: run "
                    "cragraph ingest PATH first."
                ) from error
            metadata = {_MODEL: wanted.model, _DIMENSION: wanted.dimension, _GENERATION: 0}
            return self._client.get_or_create_collection(
                self.name, embedding_function=None, metadata=metadata, configuration={"hnsw": HNSW}
            )
        stated = collection.metadata or {}
        if _MODEL not in stated:
            raise StoreError(
                f"the collection {self.name!r} in {self.where} was not made by cragraph; wanted one that says which "
                "model made its vectors: choose another collection or another store."
            )
        space = json.loads(json.dumps(collection.configuration_json)).get("hnsw", {}).get("space", wanted.metric)
        wanted.check(Identity(str(stated[_MODEL]), int(stated.get(_DIMENSION, 0)), str(space)), self.where)
        return collection

    def _ask(self, done: str, ask: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """What the server answers; what Chroma and its HTTP client raise becomes a StoreError."""
        from chromadb.errors import ChromaError
        from httpx import HTTPError

        try:
            return ask(*given, **named)
        except StoreError:
            raise
        except (ChromaError, ValueError, OSError) as error:
            text = str(error) or type(error).__name__
            raise StoreError(f"{self.where} cannot be {done}: {text}; what was stored before is safe.") from error
        except HTTPError as error:
            raise StoreError(
                f"{self.where} does not answer ({error}); wanted a running Chroma server: start it and try again."
            ) from error

    # -- writing ---------------------------------------------------------------------------------------------

    def generation(self) -> int:
        """The number of the last write."""
        fresh = self._ask("read", self._client.get_collection, self.name, embedding_function=None)
        return int((fresh.metadata or {}).get(_GENERATION, 0))

    def dimension(self) -> int:
        """The dimension of the vectors; 0 before the first was added."""
        return int((self._collection.metadata or {}).get(_DIMENSION, 0))

    def write(
        self, number: int, batches: Iterable[Sequence[Item]], gone: Iterable[str], dimension: int | None = None
    ) -> None:
        """One numbered write: items with their vectors, or their metadata alone; `gone` are removed last."""
        metadata = {**(self._collection.metadata or {}), _GENERATION: number, _DIMENSION: dimension or self.dimension()}
        self._ask("written", self._collection.modify, metadata=metadata)
        for items in (part for batch in batches for part in batched(batch, _MOST)):
            for full in (True, False):
                some = [item for item in items if (item.vector is not None) is full]
                given: Any = {"ids": [i.chunk_id for i in some], "metadatas": [to_chroma(i, number) for i in some]}
                if some and full:
                    given["documents"] = [item.passage["text"] for item in some]
                    given["embeddings"] = from_bytes([item.vector for item in some])
                if some:
                    self._ask("written", self._collection.upsert if full else self._collection.update, **given)
        for ids in batched(gone, _MOST):
            self._ask("written", self._collection.delete, ids=ids)

    def rename(self, name: str) -> None:
        """Call the collection otherwise."""
        self._ask("renamed", self._collection.modify, name=name)

    def drop(self) -> None:
        """Remove the collection."""
        self._ask("removed", self._client.delete_collection, self.name)

    # -- reading ---------------------------------------------------------------------------------------------

    def count(self) -> int:
        """How many records there are."""
        return int(self._ask("read", self._collection.count))

    def items(self, chunk_ids: Sequence[str]) -> list[Item]:
        """The records with these ids, in no order."""
        records = self._ask("read", self._collection.get, ids=chunk_ids, include=["documents", "metadatas"])
        rows = zip(records["documents"], (json.loads(one[RECORD]) for one in records["metadatas"]), strict=True)
        return [Item(own | {"text": text}, [Origin(*one) for one in origins]) for text, (own, origins) in rows]

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of these records, by id."""
        vectors: dict[str, Floats] = {}
        for batch in batched(chunk_ids, _MOST):
            with self._lock:
                records = self._ask("read", self._collection.get, ids=batch, include=["embeddings"])
            vectors |= zip(records["ids"], np.asarray(records["embeddings"], dtype=np.float32), strict=True)
        return vectors

    def nearest(self, vector: Floats, k: int, where: Where = None) -> list[Passage]:
        """The passages nearest to a vector, best first; `retrieval_score` is their cosine, 0 for below 0."""
        wanted: Any = {"query_embeddings": vector[None, :], "n_results": k, "include": ["distances"]}
        wanted |= {"where": chroma_where(where)} if where else {}
        with self._lock:
            results = self._ask("searched", self._collection.query, **wanted)
        ids, distances = results["ids"][0], results["distances"][0]
        passages = {passage["chunk_id"]: passage for passage in self.index.get(ids)}
        missing = [chunk_id for chunk_id in ids if chunk_id not in passages]  # not fetched yet
        passages |= {item.chunk_id: item.passage for item in self.items(missing)} if missing else {}
        return [
            Passage(**{**passages[chunk_id], "retrieval_score": min(1.0, max(0.0, 1.0 - distance))})
            for chunk_id, distance in zip(ids, distances, strict=True)
            if chunk_id in passages
        ]

    # -- the copy --------------------------------------------------------------------------------------------

    def follow(self, *, now: bool = False) -> None:
        """Bring the tables up to the server, if it was not asked a moment ago, or else `now`.

        Where the server does not answer, the tables stay as they are and `note` says so; with `now`, StoreError.
        """
        if not now and monotonic() - self._looked < _LOOK_SECONDS:
            return
        with self._lock:
            self._looked = monotonic()
            try:
                if not self.followed():
                    self._fetch()
                self.note = ""
            except StoreError as error:
                if now:
                    raise
                self.note = ALONE.format(reason=str(error).split(";")[0])

    def followed(self) -> bool:
        """Whether the tables are at the server's last write and hold as many passages."""
        return self.index.generation == self.generation() and self.index.count() == self.count()

    def _fetch(self) -> None:
        """Bring over what was written since, and compare the ids where the counts still differ."""
        index, generation, gone = self.index, self.generation(), set[str]()
        since = {"where": {GENERATION: {"$gt": index.generation}}} if index.generation else {}
        self._bring(self._ask("read", self._collection.get, include=[], **since)["ids"])
        if index.count() != self.count():
            here = index.ids()  # before what is there: what is added meanwhile stays
            there = set(self._ask("read", self._collection.get, include=[])["ids"])
            self._bring(sorted(there - here))
            gone = here - there
        with index.write(generation=generation) as db:
            index.drop(db, gone)
            db.execute("DELETE FROM origins WHERE chunks > 0 AND id NOT IN (SELECT origin FROM holdings)")

    def _bring(self, chunk_ids: Sequence[str]) -> None:
        for batch in batched(chunk_ids, _MOST):
            items = self.items(batch)
            with self.index.write() as db:
                self.index.put(db, items, 0)

    def close(self) -> None:
        """Let go of the connections."""
        close(self._client)


def to_chroma(item: Item, number: int) -> dict[str, Any]:
    """The metadata of a record in Chroma: what can be filtered by, and as one JSON string what is read back.

    Numbers are stored and compared as floats: Chroma cuts a fraction down before it compares it with a whole number.
    """
    passage: dict[str, Any] = {key: value for key, value in item.passage.items() if key != "text"}
    fields = {key: passage[key] for key in FIELDS if passage[key] is not None} | filterable(passage["metadata"])
    return {
        **{key: _as_float(value) for key, value in fields.items()},
        GENERATION: number,
        RECORD: json.dumps([passage, item.origins], ensure_ascii=False, default=str),
    }


def chroma_where(where: Mapping[str, Any]) -> Any:
    """A checked filter as Chroma wants it: numbers as floats, and one type in a list."""
    ((key, value),) = where.items()
    if key in ("$and", "$or"):
        return {key: [chroma_where(part) for part in value]}
    ((operator, operand),) = value.items()
    if operator not in ("$in", "$nin"):
        return {key: {operator: _as_float(operand)}}
    options = list(map(_as_float, operand))
    parts = [{key: {operator: [o for o in options if type(o) is one]}} for one in dict.fromkeys(map(type, options))]
    return parts[0] if len(parts) == 1 else {"$or" if operator == "$in" else "$and": parts}


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


# -- clients ----------------------------------------------------------------------------------------------------------


def in_folder(folder: Path) -> "ClientAPI":
    """A client of a folder."""
    import chromadb

    return chromadb.PersistentClient(path=folder, settings=_settings())


def on_server(url: str) -> "ClientAPI":
    """A client of a Chroma server; raises StoreError where nothing answers, or what answers is no Chroma server."""
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


def collections_of(url: str) -> list[str]:
    """The names of the collections on a server that were made by cragraph; raises StoreError where none answers."""
    client = on_server(url)
    try:
        return [one.name for one in client.list_collections() if _MODEL in (one.metadata or {})]
    except Exception as error:  # chromadb raises ValueError, KeyError, httpx and its own errors here
        raise StoreError(
            f"the collections at {mask(url)} cannot be listed: {error or type(error).__name__}."
        ) from error
    finally:
        close(client)


def close(client: "ClientAPI") -> None:
    """Let go of a client, and of its engine where it was the last that used it."""
    for session in _sessions(client):
        session.close()
    closing: Any = client  # `close` is missing from the type that chromadb declares
    closing.close()


def _sessions(client: Any) -> list[Any]:
    """The HTTP sessions of a client of a server, which chromadb gives no time limit and does not close itself."""
    parts = (client, getattr(client, "_admin_client", None))
    sessions = (getattr(getattr(part, "_server", None), "_session", None) for part in parts)
    return [session for session in sessions if session is not None]


def _settings() -> Any:
    from chromadb.config import Settings

    # Without _env_file the settings of the program around us would be read from its .env file.
    return Settings(anonymized_telemetry=False, _env_file=None)
