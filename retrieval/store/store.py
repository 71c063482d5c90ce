"""The store: what was ingested, found by meaning and by words.

One interface over one truth: in a folder (or in memory) the tables of a SQLite file, on a Chroma server its collection,
which the tables then follow.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from itertools import islice, repeat
from pathlib import Path
from time import time_ns
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from cragraph.errors import StoreError, StoreLockedError, StoreMissingError
from cragraph.protocols import Embeddings
from cragraph.retrieval.store.database import DamagedError
from cragraph.retrieval.store.dense import GRAPH_FROM, Dense
from cragraph.retrieval.store.filters import checked_where
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.lexical import Lexical
from cragraph.retrieval.store.locks import WriteLock
from cragraph.retrieval.store.records import (
    Floats,
    Identity,
    Item,
    Origin,
    Record,
    StoredDocument,
    as_floats,
    checked,
    filename_of,
    record_of,
    unit,
)
from cragraph.types import Passage

if TYPE_CHECKING:
    from cragraph.retrieval.store.server import Server

BATCH: Final = 256
"""Passages embedded and written at a time."""

_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,400}[a-zA-Z0-9]")
_URL: Final = ("http://", "https://")

UNCACHED: Final = (
    "The cache folder cannot be written, so the lexical index of the Chroma server is built in memory at every start."
)
SALVAGED: Final = (
    "The store was damaged: {kept} of {all} passages could be read and are kept, the rest is gone. Run cragraph ingest "
    "again on the same folders: it reads only the files of which something is missing."
)
LOST: Final = (
    "The last {n} writes to the store are gone (its -wal file was removed or damaged). Run cragraph ingest again on "
    "the same folders: it reads only what is missing."
)


class Store:
    """What was ingested; made by `open_store`, may be shared by threads.

    `where` filters by metadata in Chroma's language ({"year": 2023}, {"year": {"$gte": 2020}}, "$in", "$and", "$or");
    it is checked against `fields()` and raises InputError for a field that does not exist.
    """

    def __init__(
        self,
        index: Index,
        embeddings: "Embeddings",
        lock: WriteLock,
        location: str,
        server: "Server | None" = None,
        graph_from: int = GRAPH_FROM,
        note: str = "",
    ) -> None:
        self.index, self.location = index, location
        self._embeddings, self._lock, self._server = embeddings, lock, server
        self._dense, self._lexical = Dense(index, graph_from), Lexical(index)
        self._notes = [note] if note else []
        self._closed = False
        self._depth = 0

    # -- finding -----------------------------------------------------------------------------------------------

    def dense(self, query: str, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]:
        """The `k` passages nearest in meaning, best first; `retrieval_score` is their cosine, with 0 for below 0."""
        filters = self._filters(where)
        if k < 1 or not query.strip() or not self.count():
            return []
        vector = as_floats([self._embeddings.embed_query(query)])[0]
        self._check_dimension(len(vector))
        if self._server:
            return self._server.nearest(self.index, vector, min(k, self.index.count()), filters)
        return self._dense(vector, k, filters)

    def lexical(self, query: str, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]:
        """The `k` passages that share the rarest words, best first; `retrieval_score` is BM25 in 0..1."""
        self._follow()
        return self._lexical(query, k, self._filters(where))

    # -- reading -----------------------------------------------------------------------------------------------

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids, in the order asked; unknown ids are left out."""
        return self.index.get(chunk_ids)

    def count(self) -> int:
        """How many passages there are."""
        self._follow()
        return self.index.count()

    def documents(self) -> list[StoredDocument]:
        """What is in the store, a source a row, in order of name."""
        self._follow()
        return self.index.documents()

    def unfinished(self) -> dict[str, int]:
        """Files that were not read to their end, with how many of their passages wait, unseen, to be completed."""
        return self.index.staged_sources()

    def vectors(self, chunk_ids: Sequence[str]) -> Floats:
        """The vectors of these passages, float32 (n, dimension), of unit length, in the order asked.

        Raises:
            StoreError: for an id that is not in the store.
        """
        found = self._server.vectors(chunk_ids) if self._server else self._dense.vectors(chunk_ids)
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in found]
        if missing:
            raise StoreError(f"{self.location} holds no vector of {missing[0]}; wanted ids of passages that are in it.")
        if not chunk_ids:
            return np.empty((0, int(self.index.meta("dimension", 0))), dtype=np.float32)
        return unit(np.stack([found[chunk_id] for chunk_id in chunk_ids]))

    def adjacent(self, passage: Passage, before: int = 1, after: int = 1) -> list[Passage]:
        """The passages next to one in its document, in order; without the passage itself."""
        place = passage["chunk_index"]
        found = self.index.between(passage["doc_id"], place - before, place + after)
        return [other for other in found if other["chunk_index"] != place]

    def fields(self) -> dict[str, str]:
        """The fields that can be filtered by, with their types: text, number or true/false."""
        self._follow()
        return self.index.fields()

    @property
    def generation(self) -> int:
        """A number that grows with every write, for caches."""
        return self.index.generation

    @property
    def notes(self) -> list[str]:
        """What is degraded in this store at present, in plain sentences."""
        return [*self._notes, *filter(None, [self._dense.note, self._server.note if self._server else ""])]

    def problems(self) -> list[str]:
        """What is wrong with the store, each with what to do about it; reads all of it."""
        found, damage = list(self.notes), self.index.damage(vectors=self._server is None)
        again = "run cragraph ingest again on the same folders, which reads what is missing."
        found += [f"{self.index.path}: {what}; open the store for writing, {again}" for what in damage]
        passages = self.index.count()
        if self._server and not self._server.followed(self.index):
            found.append(f"{self.location} holds {self._server.count()} passages, the copy here {passages}; {again}")
        whole, named = self.index.sources(), self.index.names()
        if short := sorted(named - set(whole)):
            found.append(f"{len(short)} files are not in whole, the first of them {short[0]}; {again}")
        if waiting := self.unfinished():
            found.append(f"{len(waiting)} files were not read to their end, the first is {min(waiting)}; {again}")
        return found

    # -- writing -----------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the store's lock over several writes.

        Raises:
            StoreLockedError: where another process is writing.
        """
        with self._lock():
            self._depth += 1
            try:
                if self._depth == 1 and self._server:
                    self._server.follow(self.index, now=True)
                yield
                if self._depth == 1 and not self._server:
                    self._dense.maintain()
            finally:
                self._depth -= 1

    def add(self, passages: Iterable[Passage], origin: Origin | None = None, vectors: Floats | None = None) -> int:
        """Add passages, or rewrite those that are in; returns how many were new.

        What is in already with the same text is not embedded again. `origin` names the file that they come from.
        `vectors`, float32 (n, dimension), are stored instead of embedding where given.
        """
        rows: Iterable[Any] = repeat(None) if vectors is None else vectors
        items = (Item(passage, origin, row) for passage, row in zip(passages, rows, strict=False))
        added = 0
        with self.writing():
            while batch := list(islice(items, BATCH)):
                added += self.commit([], batch)
        return added

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove passages by id; unknown ids do no harm."""
        with self.writing():
            self._write([], {}, list(chunk_ids), [])

    def release(self, source: str) -> int:
        """Remove the passages that only this source holds, and its record; returns how many."""
        before = self.index.count()
        self.commit([(source, None)], [])
        return before - self.index.count()

    def supersede(self, origin: Origin) -> None:
        """Take away what only other states of a file hold: what a cut-off ingest left on a server."""
        with self.writing():
            mine = self.index.held_by(origin.source)
            holders = {
                i: [o for o in held if o.source != origin.source or o.state == origin.state]
                for i, held in self.index.holders(mine).items()
            }
            gone = [i for i, held in holders.items() if not held]
            self._write([], {i: held for i, held in holders.items() if held}, gone, [(origin.source, origin)])

    def stage(self, items: Sequence[Item], origin: Origin) -> None:
        """Embed passages of a file that is still being read and keep them, unseen, until it is committed."""
        with self.writing():
            ids = [item.passage["chunk_id"] for item in items]
            records = self._embedded(items, self.index.embedded(ids))
            same = [r.passage["chunk_id"] for r in records if r.vector is None]
            stored = self._server.vectors(same) if self._server else self._dense.vectors(same)
            kept = {chunk_id: vector.tobytes() for chunk_id, vector in stored.items()}
            self.index.stage((r._replace(vector=r.vector or kept[r.passage["chunk_id"]]) for r in records), origin)

    def commit(self, files: Sequence[tuple[str, Origin | None]], items: Sequence[Item]) -> int:
        """Make files hold exactly these passages and what was staged of them, all at once; returns how many are new.

        A file without an origin is taken out. What it held and nothing else holds goes; on a server, which knows no
        transactions, last. Items of no file in `files` are added.
        """
        with self.writing():
            mine = {i for source, origin in files for i in self.index.held_by(source, unheld=origin is None)}
            given = [(i, origin) for _, origin in files if origin for i in self.index.staged_ids(origin)]
            given += [(item.passage["chunk_id"], item.origin) for item in items if item.origin]
            new = {item.passage["chunk_id"] for item in items}.union(i for i, _ in given)
            known = self.index.embedded(new)
            before, replaced = self.index.holders(mine | new), {source for source, _ in files}
            holders = {i: {o.state: o for o in before.get(i, ()) if o.source not in replaced} for i in mine | new}
            for chunk_id, origin in given:
                holders[chunk_id][origin.state] = origin
            gone = [i for i in mine - new if not holders[i]]
            kept = {i: list(held.values()) for i, held in holders.items() if held or i not in mine - new}
            self._write(self._embedded(items, known), kept, gone, files)
            return len(new - known.keys())

    def _write(
        self,
        fresh: Sequence[Record],
        holders: Mapping[str, Sequence[Origin]],
        gone: Sequence[str],
        files: Sequence[tuple[str, Origin | None]],
    ) -> None:
        """One numbered change: records, those staged of `files`, and passages that have other holders than before."""
        own = {record.passage["chunk_id"] for record in fresh}
        generation = self.index.generation + 1
        dimension = next((len(record.vector) // 4 for record in fresh if record.vector), 0)

        def records() -> Iterator[list[Record]]:
            done = set(own)
            for origin in (origin for _, origin in files if origin):
                for rows in self.index.staged(origin):
                    batch = [record_of(p, holders[p["chunk_id"]], v) for p, v in rows if p["chunk_id"] not in done]
                    done.update(record.passage["chunk_id"] for record in batch)
                    yield batch
            yield [record._replace(origins=holders[record.passage["chunk_id"]]) for record in fresh]
            moved = self.index.holders(holders.keys() - done)
            rest = [i for i in holders if i not in done and list(holders[i]) != moved.get(i, [])]
            for start in range(0, len(rest), BATCH):
                yield [_held_by(passage, holders) for passage in self.index.get(rest[start : start + BATCH])]

        if self._server:
            # The time in milliseconds, so that the numbers of two writers to one server do not collide.
            generation = max(generation, self._server.generation() + 1, time_ns() // 1_000_000)
            self._server.begin(generation, dimension)
            for batch in records():
                self._server.put(batch, generation)
            self._server.drop(gone)
        with self.index.write() as db:
            for batch in records():
                kept = [record._replace(vector=None) for record in batch] if self._server else batch
                self.index.put(db, kept, generation)
            self.index.drop(db, gone)
            for source, origin in files:
                self.index.set_whole(db, source, origin)
            self.index.stamp(db, generation=generation, **({"dimension": dimension} if dimension else {}))

    def _embedded(self, items: Sequence[Item], known: Mapping[str, tuple[int, str]]) -> list[Record]:
        """The records of items, with their vectors where these are not in the store already."""
        distinct = {item.passage["chunk_id"]: item for item in items}
        records = {i: record_of(checked(item.passage)) for i, item in distinct.items()}
        same = {i for i, record in records.items() if i in known and known[i][1] == record.embedded}
        same -= {i for i, item in distinct.items() if item.vector is not None}
        fresh = [i for i in distinct if i not in same]
        texts = [records[i].embedded for i in fresh if distinct[i].vector is None]
        made = iter(self._embeddings.embed_documents(texts) if texts else [])
        matrix = as_floats(next(made) if distinct[i].vector is None else distinct[i].vector for i in fresh)
        if fresh:
            self._check_dimension(matrix.shape[1])
        vectors = {i: row.tobytes() for i, row in zip(fresh, matrix, strict=True)}
        return [record._replace(vector=vectors.get(i)) for i, record in records.items()]

    def _check_dimension(self, dimension: int) -> None:
        model = str(self.index.meta("model"))
        Identity(model, dimension).check(Identity(model, int(self.index.meta("dimension", 0))), self.location)

    # -- the rest ----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of files and connections; closing twice does no harm."""
        if not self._closed:
            self._closed = True
            self._dense.close()
            if self._server:
                self._server.close()
            self.index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _follow(self) -> None:
        if self._server:
            self._server.follow(self.index)

    def _filters(self, where: Mapping[str, Any] | None) -> dict[str, Any] | None:
        if not where:
            return None
        fields = self.fields()
        return checked_where(where, fields) if fields else None

    def _opened(self) -> None:
        """Look whether the file is as it was left, and save what can be saved where it is damaged."""
        if lost := self.index.lost():
            self._notes.append(LOST.format(n=lost))
        if (self.index.trusted() and not lost) or self._lock.busy():
            return
        if self.index.damage():
            with self._lock():
                kept, all_ = self.index.salvage()
            self._notes.append(SALVAGED.format(kept=kept, all=all_))
            with self.writing():
                self._complete()
        self.index.wrote = True  # so that closing seals it as it is now

    def _complete(self) -> None:
        """Embed the passages whose vectors are gone."""
        rows = self.index.rows("SELECT chunk_id FROM chunks WHERE id NOT IN (SELECT id FROM vectors)")
        for start in range(0, len(rows), BATCH):
            ids = [row[0] for row in rows[start : start + BATCH]]
            records = self._embedded([Item(passage) for passage in self.index.get(ids)], {})
            self._write(records, {i: self.index.holders(ids).get(i, []) for i in ids}, [], [])


def _held_by(passage: Passage, holders: Mapping[str, Sequence[Origin]]) -> Record:
    """A passage with its holders; one whose own source is not among them moves to the first."""
    origins = holders[passage["chunk_id"]]
    if origins and passage["source"] not in {origin.source for origin in origins}:
        moved = origins[0].source
        passage = Passage(**{**passage, "source": moved, "filename": filename_of(moved)})
    return record_of(passage, origins)


# -- opening ---------------------------------------------------------------------------------------------------------


def open_store(
    target: str | os.PathLike[str] | None,
    embeddings: "Embeddings",
    *,
    collection: str = "cragraph",
    create: bool = True,
    cache: str | os.PathLike[str] | None = None,
    graph_from: int = GRAPH_FROM,
) -> Store:
    """Open the store at a folder or the `http(s)://host:port` of a Chroma server; None keeps it in memory.

    `embeddings` must be the model that the store was built with. With `create` False, a store that does not exist is an
    error. `cache` is where the tables of a server are kept, by default the user's cache folder. From `graph_from`
    passages on, a folder gets a graph of its vectors.

    Raises:
        StoreError: where it cannot be opened.
        StoreMismatchError: where its vectors were made by another model.
    """
    if not _NAME.fullmatch(collection):
        raise StoreError(
            f"{collection!r} is no name of a collection; wanted 3 to 400 letters, digits, dots, dashes or underscores."
        )
    if target is None:
        return _identified(Store(Index(None), embeddings, WriteLock(None), "the store in memory"), embeddings)
    if str(target).lower().startswith(_URL):
        return _on_server(str(target).rstrip("/"), embeddings, collection, create, cache)
    return _in_folder(Path(target).expanduser(), embeddings, collection, create, graph_from)


def _in_folder(folder: Path, embeddings: "Embeddings", collection: str, create: bool, graph_from: int) -> Store:
    path = folder / f"{collection}.db"
    if path.with_suffix(".seal").exists() and not (path.exists() and path.stat().st_size):
        raise StoreError(
            f"{path} is gone or empty, and with it what was ingested; wanted it as it was left: put it back, or remove "
            f"{path.with_suffix('.seal')} and run cragraph ingest PATH again."
        )
    if not create and not path.exists():
        others = ", ".join(sorted(other.stem for other in folder.glob("*.db")))
        what = f"the store {folder} holds no collection {collection!r}, but {others}" if others else None
        raise StoreMissingError(
            f"{what or f'there is no store in {folder}'}; wanted ingested documents: run cragraph ingest PATH first."
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder {folder} cannot be made ({error.strerror or error}); wanted one with write permission: choose "
            "another with --store."
        ) from error
    index = Index(path, create=create)
    store = Store(index, embeddings, WriteLock(folder), f"the store {folder}", graph_from=graph_from)
    try:
        with suppress(StoreLockedError):
            store._opened()
        return _identified(store, embeddings)
    except BaseException:
        store.close()
        raise


def _identified(store: Store, embeddings: "Embeddings") -> Store:
    """The store, if it was built with this model; a new one is from now on."""
    index, wanted = store.index, Identity.of(embeddings)
    model = index.meta("model")
    if model is None:
        index.set_meta(model=wanted.model, dimension=wanted.dimension)
    else:
        wanted.check(Identity(str(model), int(index.meta("dimension", 0))), store.location)
    return store


def _on_server(
    url: str, embeddings: "Embeddings", collection: str, create: bool, cache: str | os.PathLike[str] | None
) -> Store:
    from cragraph.retrieval.store.server import Server

    folder = Path(cache) if cache is not None else _cache_folder()
    path = folder / f"{sha256(url.encode()).hexdigest()[:16]}.{collection}.db"
    wanted = Identity.of(embeddings)
    server = Server(url, collection, wanted, create=create)
    try:
        index, note = _copy(path)
        index.set_meta(model=wanted.model, dimension=server.dimension())
        store = Store(index, embeddings, WriteLock(None), server.where, server, note=note)
        server.follow(index, now=True)
        return store
    except BaseException:
        server.close()
        raise


def _copy(path: Path) -> tuple[Index, str]:
    """The copy of a server's passages in the cache folder, else in memory with a sentence that says so."""
    for _ in range(2):
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            index = Index(path)
            if index.read_only:
                index.close()
                break
            if index.trusted() or not index.damage(vectors=False):
                return index, ""
            index.close()
        except OSError:
            break
        except StoreError as error:
            if not isinstance(error, DamagedError) and "version" not in str(error):
                break
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.with_suffix(".seal").unlink(missing_ok=True)
    return Index(None), UNCACHED


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "cragraph"
