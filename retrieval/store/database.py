"""One SQLite file for one writer and many readers, in processes of their own: opened, checked, and saved when damaged.

Every change is one transaction in a write-ahead log, so a kill loses at most the transaction under way. Beside the file
lies a seal that says how it was left; where it does not fit, the file is checked before it is used.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Final
from zlib import crc32

from cragraph.errors import StoreError, StoreMissingError
from cragraph.text.words import terms

VERSION: Final = 3
_BATCH: Final = 500

SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id TEXT NOT NULL UNIQUE,
    doc_id TEXT NOT NULL,
    chunk_index INTEGER NOT NULL,
    start_index INTEGER NOT NULL,
    source TEXT NOT NULL,
    filename TEXT NOT NULL,
    page INTEGER,
    metadata TEXT NOT NULL,  -- before the long columns, so that filters need not read over them
    context TEXT NOT NULL,
    text TEXT NOT NULL,
    extra TEXT,
    crc INTEGER NOT NULL
);
CREATE INDEX chunks_by_place ON chunks (doc_id, chunk_index);
CREATE INDEX chunks_by_source ON chunks (source);
CREATE TABLE vectors (id INTEGER PRIMARY KEY, written INTEGER NOT NULL, crc INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX vectors_by_write ON vectors (written);
CREATE TABLE origins (
    id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    options TEXT NOT NULL,
    chunks INTEGER NOT NULL,
    whole INTEGER NOT NULL DEFAULT 0,
    UNIQUE (source, sha256, options)
);
CREATE TABLE holdings (chunk INTEGER NOT NULL, origin INTEGER NOT NULL, PRIMARY KEY (chunk, origin)) WITHOUT ROWID;
CREATE INDEX holdings_by_origin ON holdings (origin);
CREATE TABLE fields (name TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (name, type)) WITHOUT ROWID;
CREATE TABLE staged (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, state TEXT NOT NULL, chunk_id TEXT NOT NULL,
    passage TEXT NOT NULL, vector BLOB, UNIQUE (source, state, chunk_id)
);
CREATE VIRTUAL TABLE words USING fts5(terms, content='', tokenize="unicode61 remove_diacritics 0 tokenchars '.:'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row');
"""

COLUMNS: Final = "chunk_id, doc_id, chunk_index, start_index, source, filename, page, metadata, context, text, extra"

_UNWRITABLE: Final = ("readonly", "unable to open", "attempt to write")
_EXPLAINED: Final = {
    ("malformed", "not a database", "database corruption", "no such table"): (
        "{path} is damaged ({text}); wanted the passages that were ingested: put back a copy, or move it away and run "
        "cragraph ingest PATH again."
    ),
    ("no such module: fts5",): (
        "this Python's SQLite has no FTS5; wanted SQLite with full-text search: use a Python from python.org, your "
        "distribution or conda."
    ),
    ("full",): (
        "the disk is full while writing {path}; what was stored before is safe: free some space and run the same "
        "command again."
    ),
    _UNWRITABLE: (
        "{path} cannot be written ({text}); wanted a folder with write permission: change its permissions or choose "
        "another with --store."
    ),
    ("",): "{path} cannot be used ({text}); what was stored before is safe: try again.",
}
"""What to say of an error by the signs of SQLite's own words; nothing that was committed before is lost by any."""


def indexed(text: str) -> str:
    """What the lexical index keeps of a text: its terms."""
    return " ".join(terms.__wrapped__(text))


def row_crc(row: Sequence[Any]) -> int:
    """The checksum of a passage's columns, in the order of `COLUMNS`."""
    return crc32("\x1f".join(map(str, row)).encode("utf-8", "surrogatepass"))


def marks(values: Sequence[Any]) -> str:
    """A question mark for each of some values."""
    return ",".join("?" * len(values))


class Database:
    """One connection, used by one thread at a time; `path` None keeps it in memory.

    Raises:
        StoreError: where the file cannot be used. `create` False wants it to be there.
    """

    def __init__(self, path: Path | None, *, create: bool = True) -> None:
        self.path = path
        self.read_only = False
        self.wrote = False
        self._open(create)

    def _open(self, create: bool) -> None:
        self.lock, self._pid = RLock(), os.getpid()
        with self._explained():
            if self.path is None:
                self._db = _connected(":memory:", create=True)
                return
            if create:
                with suppress(OSError):  # SQLite says better what is wrong
                    os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            uri = self.path.absolute().as_uri()
            try:
                self._db = _connected(f"{uri}?mode=rw", create)
            except sqlite3.OperationalError as error:
                # In a folder that cannot be written, SQLite can read a finished file only when told nobody writes.
                if not self.path.exists() or not _has(error, _UNWRITABLE):
                    raise
                self._db, self.read_only = _connected(f"{uri}?mode=ro&immutable=1", create=False), True

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Raise what SQLite raises as StoreError, in our words."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            said = next(said for signs, said in _EXPLAINED.items() if _has(error, signs))
            raise StoreError(said.format(path=self.path or "the store in memory", text=error)) from error

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this process: one that was forked from the opener gets its own."""
        if self._pid != os.getpid():
            if self.path is None:
                self.lock, self._pid = RLock(), os.getpid()  # memory is copied by a fork
            else:
                self._open(create=False)
        return self._db

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        db = self.connection
        with self.lock, self._explained():
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            self.wrote = True
            self._seal(self._generation())

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query."""
        db = self.connection
        with self.lock, self._explained():
            return db.execute(sql, parameters).fetchall()

    def rows_in(self, sql: str, values: Iterable[Any], more: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run a query with `(?)` standing for the values, some hundreds at a time; `more` are those that follow."""
        rest = list(values)
        for start in range(0, len(rest), _BATCH):
            batch = rest[start : start + _BATCH]
            yield from self.rows(sql.replace("(?)", f"({marks(batch)})"), [*batch, *more])

    def meta(self, key: str, default: Any = None) -> Any:
        """A value kept with the data."""
        rows = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else default

    def set_meta(self, **values: Any) -> None:
        """Set values kept with the data."""
        with self.write() as db:
            self.stamp(db, **values)

    def stamp(self, db: sqlite3.Connection, **values: Any) -> None:
        """The same within a transaction."""
        db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def state(self) -> tuple[int, int]:
        """Something that differs whenever this connection or another one has changed anything since."""
        db = self.connection
        with self.lock:
            return db.total_changes, int(self.rows("PRAGMA data_version")[0][0])

    def close(self) -> None:
        """Close the file; the last of its users leaves it sealed."""
        if self._pid != os.getpid():
            return
        log = Path(f"{self.path}-wal")
        with self.lock, suppress(sqlite3.ProgrammingError):
            generation, logged = self._generation(), log.exists()
            self._db.close()
            if self.wrote or (logged and not log.exists()):
                self._seal(generation)

    # -- checking --------------------------------------------------------------------------------------------------

    def _generation(self) -> int:
        return int(next(self._readable("SELECT value FROM meta WHERE key = 'generation'"), (0,))[0])

    def _seal(self, generation: int) -> None:
        """Write down how the file was left."""
        if self.path is None or self.read_only:
            return
        with suppress(OSError):
            status, seal = self.path.stat(), self.path.with_suffix(".seal")
            seal.touch(mode=0o600)
            left = {"generation": generation, "size": status.st_size, "mtime_ns": status.st_mtime_ns}
            seal.write_text(json.dumps(left))

    def _sealed(self, key: str) -> int:
        """What the seal says, -1 where there is none that can be read."""
        assert self.path is not None
        with suppress(OSError, ValueError, TypeError, KeyError):
            return int(json.loads(self.path.with_suffix(".seal").read_text())[key])
        return -1

    def trusted(self) -> bool:
        """Whether the file is as its last user left it."""
        if self.path is None:
            return True
        status = self.path.stat()
        return (self._sealed("size"), self._sealed("mtime_ns")) == (status.st_size, status.st_mtime_ns)

    def lost(self) -> int:
        """How many writes are gone that were once made: the log beside the file was taken away or damaged."""
        return max(0, self._sealed("generation") - int(self.meta("generation", 0))) if self.path else 0

    def damage(self, *, vectors: bool = True) -> list[str]:
        """What is wrong with the data, in plain words; empty where all of it can be read and is what was written.

        `vectors` wants one for each passage.
        """
        found: list[str] = []
        with self.lock:
            try:
                found += [str(row[0]) for row in self.connection.execute("PRAGMA integrity_check(3)") if row[0] != "ok"]
                for what, sql, crc in (
                    ("passages", f"SELECT {COLUMNS}, crc FROM chunks", row_crc),
                    ("vectors", "SELECT vector, crc FROM vectors", lambda row: crc32(row[0])),
                ):
                    if bad := sum(crc(row[:-1]) != row[-1] for row in self._db.execute(sql)):
                        found.append(f"{bad} {what} are not what was written")
                without = "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM vectors)"
                if vectors and (bad := self._db.execute(without).fetchone()[0]):
                    found.append(f"{bad} passages have no vector")
                self._db.execute("INSERT INTO words(words) VALUES ('integrity-check')")
            except (sqlite3.DatabaseError, TypeError) as error:
                found.append(f"it cannot be read ({error})")
        return found

    def salvage(self) -> tuple[int, int]:
        """Move what can still be read, and is what was written, into a new file; how many passages, of how many.

        The words are indexed anew. A file of which passages are missing is read again by the next ingest.

        Raises:
            StoreError: where nothing can be read.
        """
        assert self.path is not None
        spare = self.path.with_suffix(".salvaged")
        _remove(spare)
        kept = 0
        rescued = Database(spare)
        try:
            with rescued.write() as new:

                def put(table: str, row: Sequence[Any], columns: str = "") -> None:
                    new.execute(f"INSERT OR IGNORE INTO {table} {columns} VALUES ({marks(row)})", row)

                for table in ("meta", "fields", "origins", "holdings"):
                    for row in self._readable(f"SELECT * FROM {table}"):
                        put(table, row)
                ids = {row[0] for table in ("chunks", "vectors") for row in self._readable(f"SELECT id FROM {table}")}
                for chunk in sorted(ids):
                    row = next(self._readable(f"SELECT {COLUMNS}, crc FROM chunks WHERE id = {chunk}"), ())
                    if not row or row_crc(row[:-1]) != row[-1]:
                        continue
                    kept += 1
                    put("chunks", (chunk, *row), f"(id, {COLUMNS}, crc)")
                    put("words", (chunk, indexed(row[8] + row[9])), "(rowid, terms)")
                    vector = next(self._readable(f"SELECT * FROM vectors WHERE id = {chunk}"), ())
                    if vector and isinstance(vector[3], bytes) and crc32(vector[3]) == vector[2]:
                        put("vectors", vector)
                new.execute("DELETE FROM holdings WHERE chunk NOT IN (SELECT id FROM chunks)")
        finally:
            rescued.close()
        if not kept:
            _remove(spare)
            raise StoreError(
                f"{self.path} is damaged and nothing in it can be read; wanted the passages that were ingested: move "
                "it away and run cragraph ingest PATH again."
            )
        self._db.close()
        _remove(self.path)
        spare.replace(self.path)
        spare.with_suffix(".seal").unlink(missing_ok=True)
        self._open(create=False)
        self.wrote = True
        return kept, len(ids)

    def _readable(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query up to the first that cannot be read."""
        with suppress(sqlite3.DatabaseError, UnicodeDecodeError):
            yield from self._db.execute(sql)


def _connected(target: str, create: bool) -> sqlite3.Connection:
    db = sqlite3.connect(
        target, uri=target.startswith("file:"), check_same_thread=False, isolation_level=None, timeout=30.0
    )
    try:
        if not (version := _version(db)) and create:
            db.execute("PRAGMA page_size = 8192")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            if not (version := _version(db)):  # another process may have been quicker
                for statement in SCHEMA.split(";\n"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
                version = VERSION
            db.execute("COMMIT")
        place = db.execute("PRAGMA database_list").fetchone()[2]
        if version == 0:
            raise StoreMissingError(
                f"{place} holds no store; wanted ingested documents: run cragraph ingest PATH first."
            )
        if version != VERSION:
            raise StoreError(
                f"{place} is of version {version}; wanted {VERSION}: move it away and run cragraph ingest PATH."
            )
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -65536")
    except BaseException:
        db.close()
        raise
    return db


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _has(error: sqlite3.Error, signs: Sequence[str]) -> bool:
    return any(sign in str(error) for sign in signs)


def _remove(path: Path) -> None:
    """Remove a database with its log."""
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
