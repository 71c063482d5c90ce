"""The tables: passages by id, place and source, and the records of their files."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from random import Random
from sqlite3 import Connection
from typing import Any, Final, cast

from cragraph.documents.tables import TABLE_ROWS, Packed
from cragraph.errors import StoreError
from cragraph.language.words import terms
from cragraph.passages import contextual_text
from cragraph.store.database import COLUMNS, Database, marks, part_crc, row_crc, vector_crc
from cragraph.store.filters import Where, condition
from cragraph.store.records import (
    DEFAULT,
    FIELD,
    FIELDS,
    LEFT_OUT,
    Identity,
    Item,
    Key,
    Origin,
    Readable,
    StoredDocument,
    batched,
    filename_of,
    filterable,
    in_order,
    left_out,
)
from cragraph.store.tables import KeptTable, StoredTable, parts_of
from cragraph.types import Passage

SELECTED: Final = ", ".join(f"c.{name}" for name in ("crc", "id", *COLUMNS.split(", ")))
"""The columns that `Index.passages` reads from `chunks AS c`."""

_WIDTH: Final = SELECTED.count(",") + 1
_SAMPLE: Final = 400
_BATCH: Final = 256
_TYPES: Final = {bool: "true/false", str: "text"}
_PLACE: Final = ("chunk_id", "doc_id", "chunk_index", "start_index", "source", "filename", "page")
_ORIGIN: Final = "o.source, o.sha256, o.size, o.mtime_ns, o.options, o.chunks, k.name"
_ORIGINS: Final = "origins AS o JOIN collections AS k ON k.id = o.collection"
_FILES: Final = (
    f"WITH files AS MATERIALIZED (SELECT o.id AS file, {_ORIGIN} AS collection, "
    f"(SELECT count(*) FROM holdings AS h WHERE h.origin = o.id) = o.chunks AS complete FROM {_ORIGINS}) "
)
"""Every state of every file; `complete` if all its passages are in."""

DAMAGED_TABLE: Final = "A table of the store is not what was written. Run cragraph ingest again on the same folders."
Tables = Mapping[str, Sequence[StoredTable]]  # large tables by source
NO_TABLES: Final[Tables] = {}
Files = Sequence[tuple[str, Origin | None]]  # sources with their state; None for a removed source


class Index(Database):
    """The stored passages and files in their tables. Changes are numbered; `generation` is the last number."""

    @property
    def identity(self) -> Identity:
        """The model that made the vectors."""
        return Identity(str(self.meta("model")), self.number("dimension"))

    # -- writing, inside a transaction -----------------------------------------------------------------------

    def commit(
        self, db: Connection, files: Files, items: Iterable[Item], generation: int, tables: Tables = NO_TABLES
    ) -> int:
        """Make files hold exactly these passages and what was staged of them; items of no file are added.

        `tables` are the large tables by source. A file without an origin is removed. Passages that no file holds are
        removed. Returns the number of new passages.
        """
        before = {row for source, _ in files for row in self.rows_of(source)}
        kept = {origin: _origin_id(db, origin) for _, origin in files if origin}
        db.executemany("DELETE FROM holdings WHERE origin = ?", [(row,) for row in kept.values()])
        new, written = 0, set[int]()
        staged = (batch for origin in kept for batch in self.staged(origin))
        for batch in chain(batched(items, _BATCH), staged):
            added, rows = self.put(db, batch, generation)
            new, written = new + added, written | rows
        others = f"SELECT id FROM origins WHERE source = ? AND id NOT IN ({','.join(map(str, kept.values()))})"
        for source, _ in files:
            db.execute(f"DELETE FROM holdings WHERE origin IN ({others})", (source,))
            db.execute(f"DELETE FROM origins WHERE id IN ({others})", (source,))
            db.execute("DELETE FROM staged WHERE source = ?", (source,))
        held = {row[0] for row in self.rows_in("SELECT DISTINCT chunk FROM holdings WHERE chunk IN (?)", before)}
        self.drop(db, before - held - written)
        self._rehome(db, held - written)
        for origin, row in kept.items():
            if origin.source in tables:
                db.execute("DELETE FROM tables WHERE origin = ?", (row,))
                for table in tables[origin.source]:
                    _put_table(db, row, table)
        _drop_tables(db)
        cut = self.cut_files()
        recorded = {source for source, origin in files if origin is None or origin.cut is not None}
        now = {k: of for k, of in cut.items() if k not in recorded} | {o.source: [*o.cut] for o in kept if o.cut}
        if now != cut:
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (LEFT_OUT, json.dumps(now)))
        self.damaged_tables.intersection_update(row[0] for row in db.execute("SELECT id FROM tables"))
        return new

    def put(self, db: Connection, items: Sequence[Item], generation: int) -> tuple[int, set[int]]:
        """Add or rewrite passages with their words, fields and files, and with vectors if they have some.

        Returns the number of new passages, and the rows written.
        """
        known, new, rows = self.embedded(item.passage["chunk_id"] for item in items), 0, set[int]()
        homes = {name: _collection_id(db, name) for name in {item.collection for item in items}}
        for item in items:
            metadata, text = item.passage["metadata"], contextual_text(item.passage)
            if metadata.get(FIELD) == item.collection:  # which is kept once
                metadata = {name: value for name, value in metadata.items() if name != FIELD}
            plain, home = filterable(metadata), homes[item.collection]
            extra = {key: value for key, value in metadata.items() if key not in plain}
            values = (
                home,
                *(item.passage[key] for key in _PLACE),
                json.dumps(plain, ensure_ascii=False),
                text.removesuffix(item.passage["text"]),
                item.passage["text"],
                json.dumps(extra, ensure_ascii=False, default=str) if extra else None,
            )
            chunk, old = known.get(item.key, (None, None))
            new += chunk is None
            sql = f"INSERT OR REPLACE INTO chunks (id, {COLUMNS}, crc) VALUES (?, {marks(values)}, 0) RETURNING id"
            chunk = int(db.execute(sql, (chunk, *values)).fetchone()[0])
            db.execute("UPDATE chunks SET crc = ? WHERE id = ?", (row_crc((chunk, *values)), chunk))
            known[item.key] = (chunk, text)
            rows.add(chunk)
            self.damaged_rows.discard(chunk)
            if old != text:
                _words(db, chunk, old=old, new=text)
            holdings = [(chunk, _origin_id(db, origin)) for origin in item.origins]
            db.executemany("INSERT OR IGNORE INTO holdings VALUES (?, ?)", holdings)
            types = [(home, key, _TYPES.get(type(value), "number")) for key, value in plain.items()]
            db.executemany("INSERT OR IGNORE INTO fields VALUES (?, ?, ?)", types)
            if item.vector is not None:
                vector = (chunk, generation, vector_crc(chunk, item.vector), item.vector)
                db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", vector)
        return new, rows

    def drop(self, db: Connection, rows: Iterable[int]) -> None:
        """Remove passages by their rows."""
        rows = list(rows)
        for chunk, text in self.rows_in("SELECT id, context || text FROM chunks WHERE id IN (?)", rows):
            _words(db, chunk, old=text)
        for table, key in (("chunks", "id"), ("vectors", "id"), ("holdings", "chunk")):
            db.executemany(f"DELETE FROM {table} WHERE {key} = ?", [(row,) for row in rows])

    def _rehome(self, db: Connection, rows: Iterable[int]) -> None:
        """Set the source of passages whose file is gone to the first other file that holds them."""
        sql = (
            "SELECT c.id, min(o.source) FROM chunks AS c JOIN holdings AS h ON h.chunk = c.id JOIN origins AS o "
            "ON o.id = h.origin WHERE c.id IN (?) GROUP BY c.id HAVING NOT max(o.source = c.source)"
        )
        sources = dict(self.rows_in(sql, rows))
        for row in list(self.rows_in(f"SELECT id, {COLUMNS} FROM chunks WHERE id IN (?)", sources)):
            source = sources[row[0]]
            new = (*row[:6], source, filename_of(source), *row[8:])
            sql = "UPDATE chunks SET source = ?, filename = ?, crc = ? WHERE id = ?"
            db.execute(sql, (source, new[7], row_crc(new), row[0]))

    def touch(self, origin: Origin) -> None:
        """Record the new state of a file whose passages are unchanged."""
        with self.write() as db:
            _origin_id(db, origin)

    def forget_words(self) -> None:
        """Merge the index of words, so that no word of removed passages is left in it."""
        with self.write() as db:
            db.execute("INSERT INTO words(words) VALUES ('optimize')")

    # -- collections -----------------------------------------------------------------------------------------

    def collections(self) -> dict[int, str]:
        """The names of the collections by their rows."""
        return dict(self.rows("SELECT id, name FROM collections"))

    def rename(self, db: Connection, old: str, new: str) -> None:
        """Rename a collection."""
        db.execute("UPDATE collections SET name = ? WHERE name = ?", (new, old))

    def discard(self, db: Connection, name: str) -> None:
        """Remove a collection with all that is in it."""
        self.drop(db, self.rows_in_collection(name))
        home = _collection_id(db, name)
        db.execute("DELETE FROM holdings WHERE origin IN (SELECT id FROM origins WHERE collection = ?)", (home,))
        db.execute("DELETE FROM staged WHERE source IN (SELECT source FROM origins WHERE collection = ?)", (home,))
        for table, key in (("origins", "collection"), ("fields", "collection"), ("collections", "id")):
            db.execute(f"DELETE FROM {table} WHERE {key} = ?", (home,))
        _drop_tables(db)

    def rows_in_collection(self, name: str) -> set[int]:
        """The rows of the passages of a collection."""
        sql = "SELECT id FROM chunks WHERE collection = (SELECT id FROM collections WHERE name = ?)"
        return {row[0] for row in self.rows(sql, (name,))}

    # -- reading passages ------------------------------------------------------------------------------------

    def passages(self, rows: Iterable[Sequence[Any]]) -> list[tuple[Passage, Sequence[Any]]]:
        """The passages of rows that begin with `SELECTED`, each with the rest of its row.

        A passage whose checksum does not fit is left out, and its row is added to `damaged_rows`.
        """
        found: list[tuple[Passage, Sequence[Any]]] = []
        names, out = self.collections(), self.left_out()
        for crc, *row in rows:
            if row_crc(row[: _WIDTH - 1]) != crc:
                self.damaged_rows.add(row[0])
                continue
            passage, name = passage_of(row), names.get(row[1], DEFAULT)
            if name != DEFAULT:
                passage["metadata"][FIELD] = name
            if said := out.get(passage["source"]):
                passage["metadata"][LEFT_OUT] = said
            found.append((passage, row[_WIDTH - 1 :]))
        return found

    def count(self) -> int:
        """The number of passages."""
        return int(self.rows("SELECT count(*) FROM chunks")[0][0])

    def keys(self) -> dict[Key, int]:
        """The rows of all passages by their key."""
        sql = "SELECT k.name, c.chunk_id, c.id FROM chunks AS c JOIN collections AS k ON k.id = c.collection"
        return {(name, chunk_id): row for name, chunk_id, row in self.rows(sql)}

    def cut_files(self) -> dict[str, list[Any]]:
        """The `cut` of the files with too many chunks, by source."""
        return dict(json.loads(self.meta(LEFT_OUT, "{}")))

    def left_out(self) -> dict[str, str]:
        """What was left out of files with too many chunks, in words, by source."""
        return {source: left_out(*of) for source, (_, *of) in self.cut_files().items()}

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids, in the order asked; unknown ids are left out."""
        rows = self.rows_in(f"SELECT {SELECTED} FROM chunks AS c WHERE c.chunk_id IN (?)", dict.fromkeys(chunk_ids))
        by_id = {passage["chunk_id"]: passage for passage, _ in reversed(self.passages(rows))}
        return [by_id[chunk_id] for chunk_id in chunk_ids if chunk_id in by_id]

    def get_rows(self, rows: Iterable[int], where: Where = None) -> dict[int, Passage]:
        """The passages in these rows that a filter lets through, by row."""
        clause, values = condition(where)
        sql = f"SELECT {SELECTED}, c.id FROM chunks AS c WHERE c.id IN (?) AND {clause}"
        return {row: passage for passage, (row,) in self.passages(self.rows_in(sql, rows, values))}

    def item(self, row: int) -> Item | None:
        """The passage in a row as it was written, with its files, its vector and its collection; None if damaged."""
        crc, *columns = next(self.read(f"SELECT crc, id, {COLUMNS} FROM chunks WHERE id = {row}"), (None,))
        if not columns or row_crc(columns) != crc:
            return None
        sql = f"SELECT {_ORIGIN} FROM {_ORIGINS} JOIN holdings AS h ON h.origin = o.id WHERE h.chunk = {row}"
        origins = [Origin(*origin) for origin in self.read(sql)]
        vector, crc = next(self.read(f"SELECT vector, crc FROM vectors WHERE id = {row}"), (None, 0))
        whole = isinstance(vector, bytes) and vector_crc(row, vector) == crc
        [name] = next(self.read(f"SELECT name FROM collections WHERE id = {columns[1]}"), (DEFAULT,))
        return Item(passage_of(columns), origins, vector if whole else None, name)

    def adjacent(self, passage: Passage, before: int, after: int) -> list[Passage]:
        """The passages next to one in its document and its collection, in order; without the passage itself."""
        place, name = passage["chunk_index"], passage["metadata"].get(FIELD)
        home = name if name in self.collections().values() else DEFAULT  # otherwise it is a document's own field
        clause, values = condition({FIELD: {"$eq": home}})
        sql = (
            f"SELECT {SELECTED} FROM chunks AS c WHERE doc_id = ? AND chunk_index BETWEEN ? AND ? AND chunk_index <> ?"
        )
        given = (passage["doc_id"], place - before, place + after, place, *values)
        return [near for near, _ in self.passages(self.rows(f"{sql} AND {clause} ORDER BY chunk_index", given))]

    def of_source(self, source: str, where: Where, most: int) -> list[Passage]:
        """The passages of a source, in the order of its rows or text, with those that no file holds."""
        clause, values = condition(where)
        sql = (
            f"SELECT {SELECTED} FROM chunks AS c WHERE (c.id IN (SELECT h.chunk FROM origins AS o JOIN holdings AS h "
            "ON h.origin = o.id WHERE o.source = ?) OR (c.source = ? AND c.id NOT IN (SELECT chunk FROM holdings))) "
            f"AND {clause} LIMIT ?"
        )
        return in_order(passage for passage, _ in self.passages(self.rows(sql, (source, source, *values, most))))

    def embedded(self, chunk_ids: Iterable[str]) -> dict[Key, tuple[int, str]]:
        """The row and the embedded text of each of these passages that is stored."""
        sql = (
            "SELECT k.name, c.chunk_id, c.id, c.context || c.text FROM chunks AS c JOIN collections AS k "
            "ON k.id = c.collection WHERE c.chunk_id IN (?)"
        )
        return {(name, i): (row, text) for name, i, row, text in self.rows_in(sql, chunk_ids)}

    def share(self, where: Mapping[str, Any]) -> float:
        """The estimated share of passages, 0..1, that a checked filter lets through, from a sample."""
        clause, values = condition(where)
        newest = int(self.rows("SELECT coalesce(max(id), 0) FROM chunks")[0][0])
        # A random sample: evenly spaced rows would always or never hit a value of every tenth passage.
        sample = Random(newest).sample(range(1, newest + 1), min(newest, _SAMPLE)) or [0]
        sql = f"SELECT c.id FROM chunks AS c WHERE c.id IN (?) AND {clause}"
        return len(list(self.rows_in(sql, sample, values))) / len(sample)

    def fields(self, names: Iterable[str]) -> dict[str, str]:
        """The fields of some collections that can be filtered by, with their types: text, number, true/false."""
        homes = [home for home, name in self.collections().items() if name in names]
        if not any(self.rows_in("SELECT 1 FROM chunks WHERE collection IN (?) LIMIT 1", homes)):
            return {}
        types: dict[str, str] = {**FIELDS}
        rows = self.rows_in("SELECT name, type FROM fields WHERE collection IN (?)", homes)
        for name, type_ in sorted({(str(name), str(type_)) for name, type_ in rows}):
            types[name] = f"{types[name]} or {type_}" if name in types else type_
        return types | {FIELD: "text"}

    # -- writing a damaged file anew -------------------------------------------------------------------------

    def readable(self) -> Readable:
        """What can be read of this file and is what was written."""
        meta = dict(self.read("SELECT * FROM meta"))
        number = meta.get("generation")
        meta["generation"] = max(number if isinstance(number, int) else 0, *self._sealed()[:1], 0) + 1
        rows = self.read(f"SELECT o.crc, o.id, o.collection, {_ORIGIN} FROM {_ORIGINS}")
        origins = [Origin(*row) for crc, number, home, *row in rows if row_crc((number, *row[:6], home)) == crc]
        ids = {row[0] for table in ("chunks", "vectors") for row in self.read(f"SELECT id FROM {table}")}
        return Readable(meta, origins, map(self.item, sorted(ids) or [0]), self._readable_tables())

    def _readable_tables(self) -> Iterator[tuple[Origin, StoredTable]]:
        known = {number: Origin(*row) for number, *row in self.read(f"SELECT o.id, {_ORIGIN} FROM {_ORIGINS}")}
        for number, origin, about, crc in [*self.read("SELECT id, origin, about, crc FROM tables")]:
            parts = [*self.read(f'SELECT col, part, data, crc FROM parts WHERE "table" = {number}')]
            whole = row_crc((number, origin, about)) == crc and all(part_crc(number, *part) == c for *part, c in parts)
            if whole and origin in known and len(parts) == parts_of(about):
                yield known[origin], StoredTable(about, [Packed(*part[:3]) for part in parts])

    def take(self, origins: Iterable[Origin], tables: Iterable[tuple[Origin, StoredTable]] | None) -> None:
        """Take in the files and large tables of another file; a file whose tables are gone is not in whole."""
        with self.write() as db:
            for origin in origins:
                _origin_id(db, origin)
            for origin, table in tables or ():
                _put_table(db, _origin_id(db, origin), table)
            wanted = (
                f"SELECT DISTINCT {_ORIGIN} FROM {_ORIGINS} JOIN holdings AS h ON h.origin = o.id JOIN chunks AS c "
                f"ON c.id = h.chunk WHERE json_extract(c.metadata, '$.{TABLE_ROWS}') IS NOT NULL "
                "AND o.id NOT IN (SELECT origin FROM tables)"
            )
            for row in () if tables is None else self.rows(wanted):
                _origin_id(db, Origin(*row)._replace(chunks=-1))

    # -- large tables ----------------------------------------------------------------------------------------

    def tables(self) -> list[KeptTable]:
        """The large tables of all files, in order of name."""
        sql = (
            "SELECT t.crc, t.id, t.origin, t.about, o.source, k.name FROM tables AS t JOIN origins AS o "
            "ON o.id = t.origin JOIN collections AS k ON k.id = o.collection ORDER BY o.source, t.id"
        )
        found = []
        for crc, number, origin, about, source, collection in self.rows(sql):
            if row_crc((number, origin, about)) == crc:
                found.append(KeptTable(source, collection, about, partial(self._parts, number)))
            else:
                self.damaged_tables.add(number)
        return found

    def _parts(self, table: int, column: int, part: int | None = None) -> Iterator[Packed]:
        sql = 'SELECT part, crc, data FROM parts WHERE "table" = ? AND col = ? AND coalesce(part = ?, 1) ORDER BY part'
        for place, crc, data in self.rows(sql, (table, column, part)):
            if part_crc(table, column, place, data) != crc:
                self.damaged_tables.add(table)
                raise StoreError(DAMAGED_TABLE)
            yield Packed(column, place, data)

    # -- reading the record of files -------------------------------------------------------------------------

    def sources(self) -> dict[str, Origin]:
        """Every source that is in whole, in one state and undamaged, by name."""
        rows = self.rows(f"{_FILES} SELECT * FROM files GROUP BY source HAVING min(complete) AND count(*) = 1")
        of_chunks = "SELECT o.source FROM holdings AS h JOIN origins AS o ON o.id = h.origin WHERE h.chunk IN (?)"
        of_tables = "SELECT o.source FROM tables AS t JOIN origins AS o ON o.id = t.origin WHERE t.id IN (?)"
        damaged = {*self.rows_in(of_chunks, self.damaged_rows), *self.rows_in(of_tables, self.damaged_tables)}
        cut = self.cut_files()
        found = (Origin(*row[1:8])._replace(cut=tuple(cut.get(row[1], ()))) for row in rows)
        return {origin.source: origin for origin in found if (origin.source,) not in damaged}

    def states(self, source: str) -> list[Origin]:
        """Every state of a source that holds passages."""
        return [Origin(*row) for row in self.rows(f"SELECT {_ORIGIN} FROM {_ORIGINS} WHERE o.source = ?", (source,))]

    def homes(self) -> dict[str, str]:
        """The collection of every file, whole or not."""
        return dict(self.rows(f"SELECT o.source, k.name FROM {_ORIGINS}"))

    def rows_of(self, source: str) -> list[int]:
        """The rows of the passages that a source holds, and of those from it that no file holds."""
        sql = (
            "SELECT h.chunk FROM origins AS o JOIN holdings AS h ON h.origin = o.id WHERE o.source = ?1 "
            "UNION SELECT id FROM chunks WHERE source = ?1 AND id NOT IN (SELECT chunk FROM holdings)"
        )
        return [row[0] for row in self.rows(sql, (source,))]

    def shared(self, rows: Iterable[int], source: str) -> set[int]:
        """The rows among these that files other than this source hold too."""
        sql = "SELECT h.chunk FROM holdings AS h JOIN origins AS o ON o.id = h.origin WHERE h.chunk IN (?)"
        return {row[0] for row in self.rows_in(f"{sql} AND o.source <> ?", rows, (source,))}

    def documents(self) -> list[StoredDocument]:
        """The stored documents, one source of a collection per row, in order of name."""
        rows = self.rows(
            f"{_FILES} SELECT source, count(DISTINCT doc_id), count(DISTINCT id), size, sha256, max(complete), home "
            "FROM (SELECT f.source, c.doc_id, c.id, f.size, f.sha256, f.complete, f.collection AS home FROM files AS f "
            "LEFT JOIN holdings AS h ON h.origin = f.file LEFT JOIN chunks AS c ON c.id = h.chunk "
            "UNION ALL SELECT c.source, c.doc_id, c.id, NULL, NULL, 1, k.name FROM chunks AS c "
            "JOIN collections AS k ON k.id = c.collection WHERE c.id NOT IN (SELECT chunk FROM holdings)) "
            "GROUP BY source, home ORDER BY source, home"
        )
        out, doubts, tables = self.left_out(), dict[str, list[str]](), dict[str, list[str]]()
        for table in self.tables():
            tables.setdefault(table.source, []).append(table.line())
        for source, doubt in self.rows(
            "SELECT DISTINCT c.source, d.value FROM chunks AS c, json_each(c.extra, '$.doubts') AS d "
            "WHERE c.extra IS NOT NULL"
        ):
            doubts.setdefault(source, []).append(doubt)
        return [
            StoredDocument(
                source, filename_of(source), documents, chunks, size, sha256, bool(complete), home,
                doubts=tuple(doubts.get(source, ())), left_out=out.get(source, ""),
                tables=tuple(tables.get(source, ())),
            )
            for source, documents, chunks, size, sha256, complete, home in rows
        ]  # fmt: skip

    # -- staged ----------------------------------------------------------------------------------------------

    def stage(self, items: Iterable[Item], origin: Origin) -> None:
        """Stage passages, with their vectors, of a file that is still being read; no search sees them."""
        sql = "INSERT OR REPLACE INTO staged (source, state, chunk_id, passage, vector) VALUES (?, ?, ?, ?, ?)"
        with self.write() as db:
            for item in items:
                passage = json.dumps(item.passage, ensure_ascii=False, default=str)
                db.execute(sql, (origin.source, str(origin.state[1:]), item.key[1], passage, item.vector))

    def staged(self, origin: Origin) -> Iterator[list[Item]]:
        """The staged passages of one state of a file, in batches."""
        last = 0
        sql = "SELECT id, passage, vector FROM staged WHERE source = ? AND state = ? AND id > ? ORDER BY id LIMIT 500"
        while rows := self.rows(sql, (origin.source, str(origin.state[1:]), last)):
            last = rows[-1][0]
            yield [Item(json.loads(passage), (origin,), vector, origin.collection) for _, passage, vector in rows]

    def staged_ids(self, origin: Origin) -> set[str]:
        """The ids of the staged passages of one state of a file."""
        sql = "SELECT chunk_id FROM staged WHERE source = ? AND state = ?"
        return {row[0] for row in self.rows(sql, (origin.source, str(origin.state[1:])))}

    def staged_sources(self) -> dict[str, int]:
        """The files that were not read to their end, with their number of staged passages."""
        return dict(self.rows("SELECT source, count(*) FROM staged GROUP BY source"))

    def unstage(self, source: str) -> None:
        """Drop the staged passages of a file."""
        with self.write() as db:
            db.execute("DELETE FROM staged WHERE source = ?", (source,))


def passage_of(row: Sequence[Any]) -> Passage:
    """A passage from its id and the columns named in `COLUMNS`, without a score."""
    metadata, _, text, extra = row[len(_PLACE) + 2 : len(_PLACE) + 6]
    place: dict[str, Any] = dict(zip(_PLACE, row[2:], strict=False))
    known = json.loads(metadata) | (json.loads(extra) if extra else {})
    return cast("Passage", {"text": text, **place, "metadata": known, "retrieval_score": None, "rerank_score": None})


def _put_table(db: Connection, origin: int, table: StoredTable) -> None:
    sql = "INSERT INTO tables (origin, about, crc) VALUES (?, ?, 0) RETURNING id"
    number = int(db.execute(sql, (origin, table.about)).fetchone()[0])
    db.execute("UPDATE tables SET crc = ? WHERE id = ?", (row_crc((number, origin, table.about)), number))
    rows = ((number, column, part, part_crc(number, column, part, data), data) for column, part, data in table.parts)
    db.executemany("INSERT INTO parts VALUES (?, ?, ?, ?, ?)", rows)


def _drop_tables(db: Connection) -> None:
    """Remove the tables of files that are gone."""
    db.execute("DELETE FROM tables WHERE origin NOT IN (SELECT id FROM origins)")
    db.execute('DELETE FROM parts WHERE "table" NOT IN (SELECT id FROM tables)')


def _collection_id(db: Connection, name: str) -> int:
    db.execute("INSERT OR IGNORE INTO collections (name) VALUES (?)", (name,))
    return int(db.execute("SELECT id FROM collections WHERE name = ?", (name,)).fetchone()[0])


def _origin_id(db: Connection, origin: Origin) -> int:
    given = (*origin[:6], _collection_id(db, origin.collection))
    sql = (
        "INSERT INTO origins (source, sha256, size, mtime_ns, options, chunks, collection, crc) "
        f"VALUES ({marks(given)}, 0) "
        "ON CONFLICT (source, sha256, options) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, "
        "chunks = excluded.chunks, collection = excluded.collection RETURNING id"
    )
    row = int(db.execute(sql, given).fetchone()[0])
    db.execute("UPDATE origins SET crc = ? WHERE id = ?", (row_crc((row, *given)), row))
    return row


def _words(db: Connection, chunk: int, *, old: str | None = None, new: str | None = None) -> None:
    """Replace the terms of an old text by those of the new one."""
    if old is not None:
        row = (chunk, " ".join(terms.__wrapped__(old)))
        db.execute("INSERT INTO words(words, rowid, terms) VALUES ('delete', ?, ?)", row)
    if new is not None:
        db.execute("INSERT INTO words(rowid, terms) VALUES (?, ?)", (chunk, " ".join(terms.__wrapped__(new))))
