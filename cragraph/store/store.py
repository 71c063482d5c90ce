"""The store: ingested passages in the tables of a SQLite file, searched by meaning and by words."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Final, Self, cast

import numpy as np

from cragraph.documents.document import TAKEN
from cragraph.documents.tables import Table
from cragraph.errors import StoreError
from cragraph.passages import contextual_text
from cragraph.protocols import Embeddings
from cragraph.store.collections import Collections, Held, checked_name, may_pass, with_names
from cragraph.store.database import WriteLock
from cragraph.store.dense import Dense
from cragraph.store.filters import Where, checked_where, fits
from cragraph.store.index import DAMAGED_TABLE, NO_TABLES, Files, Index, Tables
from cragraph.store.lexical import Lexical
from cragraph.store.records import (
    DEFAULT,
    FIELD,
    Floats,
    Item,
    Key,
    Origin,
    StoredDocument,
    UnchangedFiles,
    as_floats,
    batched,
    checked,
    filename_of,
    from_bytes,
    unit,
)
from cragraph.types import Passage

NAMED_ROW: Final = 0.5  # the score of a row found by an exact value, if no passage has a score
_ROW_ID: Final = re.compile(r"([0-9a-f]{16})\.([1-9]\d{0,9})")
BATCH: Final = 256  # passages embedded and written at a time
AGAIN: Final = "Run cragraph ingest again on the same folders: it reads only the files of which something is missing."
MENDED: Final = "mended"  # key: the loss after a repair, until an ingest has read the lost files again
DAMAGED_ROWS: Final = f"{{n}} passages are not what was written, so they were left out. {AGAIN}"


class Store(Collections):
    """The ingested passages; made by `open_store`, may be shared by threads.

    `where` filters by metadata in Chroma's language ({"year": 2023}, {"year": {"$gte": 2020}}, "$in", "$and", "$or");
    it is checked against `fields()` and raises InputError for an unknown field. The metadata of a passage name its
    collection, and `where` may name collections: {"collection": "work"}. Without that all collections are searched.
    """

    def __init__(self, index: Index, embeddings: Embeddings, lock: WriteLock, location: str, note: str = "") -> None:
        self.index, self.location = index, location
        self._embeddings, self._lock, self._vectors = embeddings, lock, Dense(index)
        self._lexical = Lexical(index)
        self._note = note
        self._closed = False
        self._writers: list[None] = []  # after the last of them the file is sealed

    # -- finding ---------------------------------------------------------------------------------------------

    def dense(self, query: str, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages nearest in meaning, best first; `retrieval_score` is their cosine, with 0 for below 0."""
        filters = self._filters(where)
        if k < 1 or not query.strip() or not self.fields():  # an empty store has no fields
            return []
        vectors = as_floats([self._embeddings.embed_query(query)])
        self._check(vectors)
        return self._once(self._vectors.nearest, vectors[0], k, filters)

    def lexical(self, query: str, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages that share the rarest words, best first; `retrieval_score` is BM25 in 0..1.

        The rows of large tables that the query names by an exact value come before them.
        """
        filters = self._filters(where)
        found = self._once(self._lexical, query, k, filters)
        return [*self._rows_named(query, k, filters, found), *found][: max(k, 0)]

    def _rows_named(self, query: str, k: int, where: Where, found: Sequence[Passage]) -> list[Passage]:
        score = max((passage["retrieval_score"] or 0.0 for passage in found), default=0.0) or NAMED_ROW
        rows = (table.row(number) for table in self.index.tables() for number in table.named(query, where)[:k])
        return [cast("Passage", {**row, "retrieval_score": score}) for row in rows if fits(row, where)]

    def _once(self, search: Callable[..., list[Passage]], query: Any, k: int, filters: Where) -> list[Passage]:
        """The best `k` passages of a search without repetitions: a text may be in several collections."""
        found = search(query, 2 * k if len(self.index.collections()) > 1 else k, filters)
        return list({passage["chunk_id"]: passage for passage in reversed(found)}.values())[::-1][:k]

    # -- collections -----------------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """The collections, the default one first."""
        return sorted(self.index.collections().values(), key=lambda name: (name != DEFAULT, name.casefold()))

    def held(self) -> list[Held]:
        """The collections, with their numbers of documents and passages."""
        rows = self.documents()
        return [
            Held(name, sum(row.collection == name for row in rows), len(self.index.rows_in_collection(name)))
            for name in self.names()
        ]

    def move(self, sources: Iterable[str], to: str) -> list[str]:
        """Move sources into a collection, new or not; returns the moved ones in order of name.

        Nothing is read or embedded again. A text that another file shares is an exception: the next ingest reads its
        file.
        """
        wanted, to = set(sources), self.home(to)
        with self.writing():
            moved = sorted({d.source for d in self.documents() if d.source in wanted and d.collection != to})
            for source in moved:
                self._move(source, to)
        return moved

    def _move(self, source: str, to: str) -> None:
        rows = self.index.rows_of(source)
        shared = self.index.shared(rows, source)
        states = [origin._replace(collection=to) for origin in self.index.states(source)][-1:]
        if shared:  # their metadata may be the other file's, so the next ingest reads this file again
            states = [origin._replace(size=0) for origin in states]
        items = []
        for row, item in ((row, item) for row in rows if (item := self.index.item(row))):
            own: dict[str, Any] = {"source": source, "filename": filename_of(source)}
            if row in shared:
                kept = {name: value for name, value in item.passage["metadata"].items() if name in TAKEN}
                own["metadata"] = kept | {"title": Path(own["filename"]).stem}
            vector = None if row in shared else item.vector
            items.append(Item(cast("Passage", item.passage | own), states, vector, to))
        self._write([(source, states[0] if states else None)], self.embedded(items))

    def rename(self, old: str, new: str) -> str:
        """Rename a collection; returns the new name. Raises InputError if that name is taken."""
        with self.writing():
            old, new = self.renaming(old, new)
            with self._change() as (db, _):
                self.index.rename(db, old, new)
        return new

    def drop(self, name: str) -> list[str]:
        """Remove a collection from the store; returns its sources. The files themselves stay."""
        with self.writing():
            name = self.known(name)
            sources = [document.source for document in self.documents({FIELD: name})]
            with self._change() as (db, _):
                self.index.discard(db, name)
            self.index.forget_words()
        return sources

    # -- reading ---------------------------------------------------------------------------------------------

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids, in the order asked; unknown ids are left out."""
        found = {passage["chunk_id"]: passage for passage in self.index.get(chunk_ids)}
        rows = {i: row.groups() for i in chunk_ids if i not in found and (row := _ROW_ID.fullmatch(i))}
        for table in self.index.tables() if rows else ():
            for chunk_id, (key, number) in rows.items():
                if table.key == key and int(number) <= table.size:
                    found.setdefault(chunk_id, table.row(int(number) - 1))
        return [found[chunk_id] for chunk_id in chunk_ids if chunk_id in found]

    def tables(self, source: str, where: Where = None) -> list[Table]:
        """The large tables of a source, with the rows that a filter lets through."""
        filters = self._filters(where)
        found = (table.table(filters) for table in self.index.tables() if table.source == source)
        return [table for table in found if table]

    def count(self) -> int:
        """The number of passages."""
        return self.index.count()

    def documents(self, where: Where = None) -> list[StoredDocument]:
        """The documents of the collections that a filter lets through, one source per row, in order of name."""
        through = self._through(where)
        return [document for document in self.index.documents() if document.collection in through]

    def unfinished(self) -> dict[str, int]:
        """Files that were not read to their end, with the number of their staged passages, which no search sees."""
        return self.index.staged_sources()

    def vectors(self, chunk_ids: Sequence[str]) -> Floats:
        """Unit vectors of these passages, float32 (n, dimension), in the order asked; zeros for an unknown id.

        Another process may have removed a passage since it was found.
        """
        known = self._vectors.vectors(chunk_ids)
        none = np.zeros(self.index.identity.dimension, dtype=np.float32)
        rows = [known.get(chunk_id, none) for chunk_id in chunk_ids]
        return unit(np.stack(rows) if rows else np.empty((0, len(none)), dtype=np.float32))

    @property
    def generation(self) -> int:
        """The number of the last change."""
        return self.index.generation

    def adjacent(self, passage: Passage, before: int = 1, after: int = 1) -> list[Passage]:
        """The passages next to one in its document, in order; without the passage itself."""
        return self.index.adjacent(passage, before, after)

    def of_source(self, source: str, where: Where = None, most: int = 50_000) -> list[Passage]:
        """The passages of a source in the order of its text or its rows, at most `most`."""
        return self.index.of_source(source, self._filters(where), most)

    def fields(self, where: Where = None) -> dict[str, str]:
        """The fields that filters may use in the collections of a filter, with their types: text, number or
        true/false."""
        return self.index.fields(self._through(where))

    @property
    def files(self) -> UnchangedFiles:
        """The ingested files that have not changed since; `path in store.files` asks for one."""
        return UnchangedFiles(self.index.states)

    @property
    def notes(self) -> list[str]:
        """The present degradations of this store, in plain sentences."""
        misfit = DAMAGED_ROWS.format(n=len(self.index.damaged_rows)) if self.index.damaged_rows else ""
        mended = self.index.meta(MENDED, "")
        spoilt = DAMAGED_TABLE if self.index.damaged_tables else ""
        return list(dict.fromkeys(filter(None, (self._note, mended, misfit, spoilt))))

    def problems(self) -> list[str]:
        """The faults of the store, each with its remedy; reads the whole store."""
        again = "run cragraph ingest again on the same folders, which reads what is missing."
        problems = self.notes
        for what in self.index.damage():
            problems.append(f"{self.index.path}: {what}; open the store for writing, {again}")
        if short := sorted(self.index.homes().keys() - self.index.sources().keys()):
            problems.append(f"{len(short)} files are not in whole, the first of them {short[0]}; {again}")
        if waiting := self.unfinished():
            problems.append(f"{len(waiting)} files were not read to their end, the first is {min(waiting)}; {again}")
        return problems

    # -- writing ---------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the store's lock over several writes. Raises StoreLockedError if another process is writing."""
        with self._lock(), self._checkpointing():
            yield

    @contextmanager
    def taking_turns(self) -> Iterator[None]:
        """Several writes without holding the lock between them, so that others may write; seals the file at the end.

        Raises StoreLockedError if another process goes on writing.
        """
        with self._lock():
            pass
        with self._checkpointing():
            yield

    @contextmanager
    def _checkpointing(self) -> Iterator[None]:
        self._writers.append(None)
        try:
            yield
        finally:
            self._writers.pop()
            with suppress(StoreError):  # the change is in the log
                if not self._writers:
                    with self._lock():
                        self.index.checkpoint()

    @contextmanager
    def _change(self, **meta: Any) -> Iterator[tuple[Connection, int]]:
        """One transaction with its number."""
        with self.writing():
            number = self.index.generation + 1
            with self.index.write(generation=number, **meta) as db:
                yield db, number

    def add(
        self,
        passages: Iterable[Passage],
        origin: Origin | None = None,
        vectors: Floats | None = None,
        collection: str = DEFAULT,
    ) -> int:
        """Add passages to a collection, or rewrite them; returns the number of new ones.

        `origin` names their file. Texts that are stored already are not embedded again, nor passages that come with
        `vectors`, float32 (n, dimension).
        """
        origins = (origin,) if origin else ()
        home = origin.collection if origin else checked_name(collection)
        rows = iter(() if vectors is None else vectors)
        items = (Item(passage, origins, next(rows, None), home) for passage in passages)
        with self.writing():
            return sum(self.commit([], batch) for batch in batched(items, BATCH))

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove passages by id; unknown ids are ignored."""
        with self._change() as (db, _):
            self.index.drop(db, [row for row, _ in self.index.embedded(chunk_ids).values()])

    def release(self, *sources: str) -> int:
        """Remove the records of sources and the passages that only they hold; returns the number of passages."""
        before = self.index.count()
        with self.writing():
            self._write([(source, None) for source in sources], [])
            self.index.forget_words()
        return before - self.index.count()

    def stage(self, items: Sequence[Item], origin: Origin) -> None:
        """Embed and stage passages of a file that is still being read; no search sees them before `commit`."""
        waiting = self.index.staged_ids(origin)
        items = self.embedded([item for item in items if item.key[1] not in waiting])
        with self.writing():
            waiting = self.index.staged_ids(origin)  # staged by an earlier run that was cut off
            made = self.embedded([item for item in items if item.key[1] not in waiting])
            stored = self._vectors.vectors([item.key[1] for item in made if item.vector is None])
            self.index.stage((i._replace(vector=i.vector or stored[i.key[1]].tobytes()) for i in made), origin)

    def commit(self, files: Files, items: Sequence[Item], tables: Tables = NO_TABLES) -> int:
        """Make files hold exactly these passages and what was staged of them, all at once; returns how many are new.

        `tables` are the large tables by source. A file without an origin is removed. Passages that no file holds are
        removed. Items of no file in `files` are added.
        """
        items = self.embedded(items)  # before the lock is taken: embedding takes long, writing does not
        with self.writing():
            return self._write(files, self.embedded(items), tables)

    def _write(self, files: Files, items: Sequence[Item], tables: Tables = NO_TABLES) -> int:
        meta = next(({"dimension": len(item.vector) // 4} for item in items if item.vector), {})
        with self._change(**meta) as (db, number):
            return self.index.commit(db, files, items, number, tables)

    def embedded(self, items: Sequence[Item]) -> list[Item]:
        """The items in storable form without repetitions, with vectors for texts that are not stored yet."""
        distinct: dict[Key, Item] = {}
        for item in items:  # files that share a text all hold it
            held = distinct[item.key].origins if item.key in distinct else ()
            origins = dict.fromkeys((*held, *item.origins))
            distinct[item.key] = item._replace(passage=checked(item.passage), origins=tuple(origins))
        known = self.index.embedded(chunk_id for _, chunk_id in distinct)
        texts = {key: contextual_text(item.passage) for key, item in distinct.items()}
        stored = {k: text for k, (row, text) in known.items() if row not in self.index.damaged_rows}
        new = [k for k, item in distinct.items() if item.vector is not None or stored.get(k) != texts[k]]
        unembedded = list(dict.fromkeys(texts[k] for k in new if distinct[k].vector is None))
        made = dict(zip(unembedded, self._embeddings.embed_documents(unembedded) if unembedded else (), strict=True))
        given = (distinct[k].vector for k in new)
        matrix = as_floats(
            made[texts[k]] if vector is None else _floats(vector) for k, vector in zip(new, given, strict=True)
        )
        if new:
            self._check(matrix)
        vectors = {k: row.tobytes() for k, row in zip(new, matrix, strict=True)}
        return [item._replace(vector=vectors.get(k)) for k, item in distinct.items()]

    def _check(self, vectors: Floats) -> None:
        stored = self.index.identity
        stored._replace(dimension=vectors.shape[1]).check(stored, self.location)

    # -- the rest --------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close files and connections; closing twice does no harm."""
        if not self._closed:
            self._closed = True
            self._vectors.close()
            self.index.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _filters(self, where: Where) -> dict[str, Any] | None:
        if not where:
            return None
        where = with_names(where, self.known)
        fields = self.fields(where) or self.fields()  # of all, where it searches an empty collection
        return checked_where(where, fields) if fields else None

    def _through(self, where: Where) -> list[str]:
        """The collections that a filter may let through."""
        names = self.names()
        return [name for name in names if may_pass(with_names(where, self.known), name)] if where else names

    def mended(self) -> None:
        """Clear the record of a loss: an ingest has read all missing files."""
        if self.index.meta(MENDED) and not self.index.homes().keys() - self.index.sources().keys():
            with self.writing():
                self.index.keep(**{MENDED: ""})
        self._note = ""


def _floats(vector: Any) -> Any:
    return from_bytes([vector])[0] if isinstance(vector, bytes) else vector
