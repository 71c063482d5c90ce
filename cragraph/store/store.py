"""The store: what was ingested, in the tables of a SQLite file, found by meaning and by words."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from cragraph.errors import StoreError, StoreLockedError, StoreMissingError
from cragraph.passages import contextual_text
from cragraph.protocols import Embeddings
from cragraph.store.database import PATIENCE, WriteLock, remove
from cragraph.store.dense import Dense
from cragraph.store.filters import Where, checked_where
from cragraph.store.index import Index
from cragraph.store.lexical import Lexical
from cragraph.store.records import (
    Floats,
    Identity,
    Item,
    Origin,
    StoredDocument,
    as_floats,
    at_home,
    batched,
    checked,
    filename_of,
    from_bytes,
    sha256_of,
    unit,
)
from cragraph.types import Passage

BATCH: Final = 256  # passages embedded and written at a time
_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]{1,400}[a-zA-Z0-9]")

Files = Sequence[tuple[str, Origin | None]]  # sources and the state that each is in; None where it is taken out
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

    def __init__(self, index: Index, embeddings: Embeddings, lock: WriteLock, location: str) -> None:
        self.index, self.location = index, location
        self._embeddings, self._lock, self._vectors = embeddings, lock, Dense(index)
        self._lexical = Lexical(index)
        self._notes: list[str] = []
        self._closed = False
        self._depth = 0

    # -- finding ---------------------------------------------------------------------------------------------

    def dense(self, query: str, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages nearest in meaning, best first; `retrieval_score` is their cosine, with 0 for below 0."""
        filters = self._filters(where)
        if k < 1 or not query.strip() or not self.fields():  # which an empty store has none of
            return []
        return self.nearest(as_floats([self._embeddings.embed_query(query)]), k, filters)

    def nearest(self, vectors: Floats, k: int, filters: dict[str, Any] | None) -> list[Passage]:
        """`dense` for the vector of a question, float32 (1, dimension), and a filter that was checked."""
        self._check(vectors)
        return self._vectors.nearest(vectors[0], k, filters)

    def searcher(self, filters: dict[str, Any] | None) -> tuple[Lexical, dict[str, Any] | None]:
        """What searches by words here, brought up to date, with a filter that was checked."""
        return self._lexical, filters

    def lexical(self, query: str, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages that share the rarest words, best first; `retrieval_score` is BM25 in 0..1."""
        return self._lexical(query, k, self._filters(where))

    # -- reading ---------------------------------------------------------------------------------------------

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids, in the order asked; unknown ids are left out."""
        return self.index.get(chunk_ids)

    def count(self) -> int:
        """How many passages there are."""
        return self.index.count()

    def documents(self) -> list[StoredDocument]:
        """What is in the store, one source per row, in order of name."""
        return self.index.documents()

    def unfinished(self) -> dict[str, int]:
        """Files that were not read to their end, with how many of their passages wait, unseen, to be completed."""
        return self.index.staged_sources()

    def vectors(self, chunk_ids: Sequence[str]) -> Floats:
        """Unit vectors of these passages, float32 (n, dimension), in the order asked; StoreError for an unknown id."""
        vectors = self._vectors.vectors(chunk_ids)
        if missing := [chunk_id for chunk_id in chunk_ids if chunk_id not in vectors]:
            raise StoreError(f"{self.location} holds no vector of {missing[0]}; wanted ids of passages that are in it.")
        none = np.empty((0, self.index.identity.dimension), dtype=np.float32)
        return unit(np.stack([vectors[chunk_id] for chunk_id in chunk_ids]) if chunk_ids else none)

    def known_vectors(self, chunk_ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of those of these passages that are here, by id."""
        return self._vectors.vectors(chunk_ids)

    @property
    def generation(self) -> int:
        """The number of the last change."""
        return self.index.generation

    def adjacent(self, passage: Passage, before: int = 1, after: int = 1) -> list[Passage]:
        """The passages next to one in its document, in order; without the passage itself."""
        return self.index.adjacent(passage, before, after)

    def of_source(self, source: str, where: Where = None, most: int = 50_000) -> list[Passage]:
        """The passages of a source in the order of its text or its rows, at most so many."""
        return self.index.of_source(source, self._filters(where), most)

    def fields(self, where: Where = None) -> dict[str, str]:
        """The fields that can be filtered by, with their types: text, number or true/false.

        Of several collections those that `where` lets through count; this is one.
        """
        return self.index.fields()

    @property
    def files(self) -> "ReadFiles":
        """The files that were ingested and are still as they were read; `path in store.files` asks for one."""
        return ReadFiles(self.index)

    @property
    def notes(self) -> list[str]:
        """What is degraded in this store at present, in plain sentences."""
        return [*self._notes]

    def noted(self, where: Where = None) -> list[str]:
        """What is degraded where a filter searches: all that is, as this is one collection."""
        return self.notes

    def problems(self) -> list[str]:
        """What is wrong with the store, each with what to do about it; reads all of it."""
        again = "run cragraph ingest again on the same folders, which reads what is missing."
        problems = list(self.notes)
        for what in self.index.damage():
            problems.append(f"{self.index.path}: {what}; open the store for writing, {again}")
        if short := sorted(self.index.names() - set(self.index.sources())):
            problems.append(f"{len(short)} files are not in whole, the first of them {short[0]}; {again}")
        if waiting := self.unfinished():
            problems.append(f"{len(waiting)} files were not read to their end, the first is {min(waiting)}; {again}")
        return problems

    # -- writing ---------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the store's lock over several writes; raises StoreLockedError where another process is writing."""
        with self._lock():
            self._depth += 1
            try:
                if self._depth == 1 and self.index.is_gone():
                    raise StoreError(f"{self.location} was renamed or removed meanwhile; run the same command again.")
                yield
            finally:
                self._depth -= 1

    @contextmanager
    def taking_turns(self) -> Iterator[None]:
        """Hold nothing over several writes, so that others may write between them.

        Raises StoreLockedError if another process is writing and goes on to.
        """
        with self.writing():
            pass
        yield

    def add(self, passages: Iterable[Passage], origin: Origin | None = None, vectors: Floats | None = None) -> int:
        """Add passages, or rewrite those that are in; returns how many were new.

        `origin` names the file that they come from. Texts that are in already are not embedded again, nor those that
        come with `vectors`, float32 (n, dimension).
        """
        origins = (origin,) if origin else ()
        rows = iter(() if vectors is None else vectors)
        items = (Item(passage, origins, next(rows, None)) for passage in passages)
        with self.writing():
            return sum(self.commit([], batch) for batch in batched(items, BATCH))

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove passages by id; unknown ids do no harm."""
        with self.writing():
            self._write([], {}, chunk_ids, [])

    def release(self, source: str) -> int:
        """Remove the passages that only this source holds, and its record; returns how many."""
        before = self.index.count()
        self.commit([(source, None)], [])
        return before - self.index.count()

    def stage(self, items: Sequence[Item], origin: Origin) -> None:
        """Embed passages of a file that is still being read and keep them, unseen, until it is committed."""
        waiting = self.index.staged_ids(origin)
        items = self._prepared([item for item in items if item.chunk_id not in waiting])
        with self.writing():
            waiting = self.index.staged_ids(origin)  # by an earlier run that was cut off
            items = [item for item in items if item.chunk_id not in waiting]
            made = self._embedded(items, self.index.embedded(item.chunk_id for item in items))
            stored = self._vectors.vectors([item.chunk_id for item in made if item.vector is None])
            self.index.stage((i._replace(vector=i.vector or stored[i.chunk_id].tobytes()) for i in made), origin)

    def commit(self, files: Files, items: Sequence[Item]) -> int:
        """Make files hold exactly these passages and what was staged of them, all at once; returns how many are new.

        A file without an origin is taken out. What nothing holds any more goes. Items of no file in `files` are added.
        """
        items = self._prepared(items)
        with self.writing():
            origins = dict(files)
            given = [(i, origin) for origin in origins.values() if origin for i in self.index.staged_ids(origin)]
            staged = {i for i, _ in given}
            given += [(item.chunk_id, origin) for item in items for origin in item.origins]
            new = staged.union(item.chunk_id for item in items)
            items = [item for item in items if item.chunk_id not in staged]
            mine = {i for source, origin in files for i in self.index.held_by(source, unheld=origin is None)}
            before, known = self.index.holders(mine | new), self.index.embedded(new)
            states = {origin.state for origin in origins.values() if origin}
            holders = {
                i: {o.state: o for o in before.get(i, ()) if o.source not in origins or o.state in states}
                for i in mine | new
            }
            for chunk_id, origin in given:
                holders[chunk_id][origin.state] = origin
            gone = {i for i in mine - new if not holders[i]}
            kept = {i: list(holding.values()) for i, holding in holders.items() if i not in gone}
            self._write(self._embedded(items, known), kept, gone, files)
            return len(new - known.keys())

    def _write(
        self, fresh: Sequence[Item], holders: Mapping[str, Sequence[Origin]], gone: Collection[str], files: Files
    ) -> None:
        """One numbered change: passages, those staged of `files`, and those that have other holders than before."""
        number = self.index.generation + 1
        meta = next(({"dimension": len(item.vector) // 4} for item in fresh if item.vector), {})

        def batches() -> Iterator[list[Item]]:
            done = {item.chunk_id for item in fresh}
            yield [item._replace(origins=holders[item.chunk_id]) for item in fresh]
            for origin in (origin for _, origin in files if origin):
                for staged in self.index.staged(origin):
                    new = {item.chunk_id: item for item in staged if item.chunk_id not in done}
                    done.update(new)
                    yield [item._replace(origins=holders[i]) for i, item in new.items()]
            now = self.index.holders(holders.keys() - done)
            moved = [i for i in holders.keys() - done if list(holders[i]) != now.get(i, [])]
            for some in batched(moved, BATCH):
                yield [_held(passage, holders) for passage in self.index.get(some)]

        with self.index.write(generation=number, **meta) as db:
            for batch in batches():
                self.index.put(db, batch, number)
            self.index.drop(db, gone)
            for source, origin in files:
                self.index.record(db, source, origin)

    def _prepared(self, items: Sequence[Item]) -> list[Item]:
        """The items as `_embedded` makes them, before the lock is taken: embedding takes long, and writing does not."""
        return self._embedded(items, self.index.embedded(item.chunk_id for item in items))

    def _embedded(self, items: Sequence[Item], known: Mapping[str, tuple[int, str]]) -> list[Item]:
        """The items, each once and as it can be stored, with the vectors of those whose text is not in already."""
        distinct: dict[str, Item] = {}
        for item in items:  # files that share a text all hold it
            held = distinct[item.chunk_id].origins if item.chunk_id in distinct else ()
            origins = dict.fromkeys((*held, *item.origins))
            distinct[item.chunk_id] = item._replace(passage=checked(item.passage), origins=tuple(origins))
        texts = {i: contextual_text(item.passage) for i, item in distinct.items()}
        new = [i for i, item in distinct.items() if item.vector is not None or known.get(i, (0, None))[1] != texts[i]]
        unembedded = list(dict.fromkeys(texts[i] for i in new if distinct[i].vector is None))
        made = dict(zip(unembedded, self._embeddings.embed_documents(unembedded) if unembedded else (), strict=True))
        given = (distinct[i].vector for i in new)
        matrix = as_floats(
            made[texts[i]] if vector is None else _floats(vector) for i, vector in zip(new, given, strict=True)
        )
        if new:
            self._check(matrix)
        vectors = {i: row.tobytes() for i, row in zip(new, matrix, strict=True)}
        return [item._replace(vector=vectors.get(i)) for i, item in distinct.items()]

    def _check(self, vectors: Floats) -> None:
        stored = self.index.identity
        stored._replace(dimension=vectors.shape[1]).check(stored, self.location)

    # -- the rest --------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Let go of files and connections; closing twice does no harm."""
        if not self._closed:
            self._closed = True
            self._vectors.close()
            self.index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _filters(self, where: Where) -> dict[str, Any] | None:
        fields = self.fields() if where else {}
        return checked_where(where, fields) if fields else None

    def _mend(self) -> None:
        fits, lost = self.index.left()
        if lost:
            self._notes.append(LOST.format(n=lost))
        if (fits and not lost) or self._lock.busy():
            return
        if self.index.damage():
            with self._lock():
                self._salvage()
        self.index.wrote = True  # so that closing seals it as it is now

    def _salvage(self) -> None:
        """Move what can be read, and is what was written, into a new file; vectors that are gone are made again."""
        assert self.index.path is not None
        path = self.index.path.with_suffix(".salvaged")
        remove(path)
        meta = dict(self.index.read("SELECT * FROM meta"))
        kept = count = 0
        index = Index(path)
        with Store(index, self._embeddings, WriteLock(None), self.location) as spare:
            index.keep(**meta)
            for items in batched(self.index.readable(), BATCH):
                sound = spare._embedded([item for item in items if item], {})
                with index.write() as db:
                    index.put(db, sound, index.generation)
                kept, count = kept + len(sound), count + len(items)
        if not kept:
            remove(path)
            raise StoreError(
                f"{self.index.path} is damaged and nothing in it can be read; wanted the passages that were ingested: "
                "move it away and run cragraph ingest PATH again."
            )
        self.index.replace_by(path)
        self._notes.append(SALVAGED.format(kept=kept, all=count))


@dataclass(frozen=True)
class ReadFiles:
    """Tells files that ingest read, and that hold what they held then, from whatever else a passage may name."""

    index: Index

    def __contains__(self, source: object) -> bool:
        if not isinstance(source, str):
            return False
        path, states = Path(source), self.index.states(source)
        try:
            return any(path.stat().st_size == was.size and sha256_of(path) == was.sha256 for was in states)
        except (OSError, ValueError):
            return False


def _floats(vector: Any) -> Any:
    return from_bytes([vector])[0] if isinstance(vector, bytes) else vector


def _held(passage: Passage, holders: Mapping[str, Sequence[Origin]]) -> Item:
    """A passage with its holders; one whose own source is not among them moves to the first."""
    origins = holders[passage["chunk_id"]]
    if origins and passage["source"] not in {origin.source for origin in origins}:
        source = origins[0].source
        passage = Passage(**{**passage, "source": source, "filename": filename_of(source)})
    return Item(passage, origins)


# -- opening ----------------------------------------------------------------------------------------------------------


def open_store(
    target: str | os.PathLike[str] | None,
    embeddings: Embeddings,
    *,
    collection: str = "cragraph",
    create: bool = True,
    patience: float = PATIENCE,
) -> Store:
    """Open the store in a folder; None keeps it in memory.

    A write waits so many seconds of `patience` for another process's.

    Raises:
        StoreError: where it cannot be opened, or is not there and `create` is False.
        StoreMismatchError: where its vectors were made by another model.
    """
    if not _NAME.fullmatch(collection):
        raise StoreError(
            f"{collection!r} is no name of a collection; wanted 3 to 400 letters, digits, dots, dashes or underscores."
        )
    folder = None if target is None else at_home(target)
    index = Index(folder and _file(folder, collection, create), create=create)
    named = f"the collection {collection} of " * (collection != "cragraph")
    location = f"{named}the store {folder or 'in memory'}"
    store = Store(index, embeddings, WriteLock(folder, patience), location)
    try:
        with suppress(StoreLockedError):
            store._mend()
        wanted = Identity.of(embeddings)
        if store.index.meta("model") is None:
            store.index.keep(model=wanted.model, dimension=wanted.dimension)
        wanted.check(store.index.identity, store.location)
    except BaseException:
        store.close()
        raise
    return store


def _file(folder: Path, collection: str, create: bool) -> Path:
    """The file of a collection in a folder, which is made where it may be."""
    path = folder / f"{collection}.db"
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"{folder} is a file; wanted a folder that holds a store: choose another with --store.")
    seal = path.with_suffix(".seal")
    if seal.exists() and not (path.exists() and path.stat().st_size):
        raise StoreError(
            f"{path} is gone or empty, and with it what was ingested; wanted it as it was left: put it back, or remove "
            f"{seal} and run cragraph ingest PATH again."
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
    return path
