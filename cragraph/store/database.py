"""One SQLite file for one writer and many readers, in processes of their own: opened, checked, sealed.

Every change is one transaction in a write-ahead log, so a kill loses at most that one. When a writer is done, the log
is emptied and the seal beside the file keeps the file's checksum, which is compared when the file is opened.
"""

import json
import os
import platform
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar, Final
from weakref import WeakValueDictionary
from zlib import crc32

from filelock import FileLock, Timeout

from cragraph.errors import StoreError, StoreLockedError, StoreMissingError
from cragraph.store.records import batched

VERSION: Final = 5  # a new version brings a step from the one before, in `upgrades`
_BATCH: Final = 500
_BLOCK: Final = 1 << 20

SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE collections (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, crc INTEGER NOT NULL, collection INTEGER NOT NULL REFERENCES collections,
    chunk_id TEXT NOT NULL, doc_id TEXT NOT NULL, chunk_index INTEGER NOT NULL, start_index INTEGER NOT NULL,
    source TEXT NOT NULL, filename TEXT NOT NULL, page INTEGER,
    metadata TEXT NOT NULL,  -- before the long columns, so that filters need not read over them
    context TEXT NOT NULL, text TEXT NOT NULL, extra TEXT, UNIQUE (chunk_id, collection)
);
CREATE INDEX chunks_by_collection ON chunks (collection);
CREATE INDEX chunks_by_place ON chunks (doc_id, chunk_index);
CREATE INDEX chunks_by_source ON chunks (source);
CREATE TABLE vectors (id INTEGER PRIMARY KEY, written INTEGER NOT NULL, crc INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX vectors_by_write ON vectors (written);
CREATE TABLE origins (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, sha256 TEXT NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, options TEXT NOT NULL, chunks INTEGER NOT NULL,
    collection INTEGER NOT NULL REFERENCES collections, crc INTEGER NOT NULL, UNIQUE (source, sha256, options)
);
CREATE TABLE holdings (chunk INTEGER NOT NULL, origin INTEGER NOT NULL, PRIMARY KEY (chunk, origin)) WITHOUT ROWID;
CREATE INDEX holdings_by_origin ON holdings (origin);
CREATE TABLE fields (
    collection INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (collection, name, type)
) WITHOUT ROWID;
CREATE TABLE staged (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, state TEXT NOT NULL, chunk_id TEXT NOT NULL,
    passage TEXT NOT NULL, vector BLOB, UNIQUE (source, state, chunk_id)
);
CREATE VIRTUAL TABLE words USING fts5(terms, content='', tokenize="unicode61 remove_diacritics 0 tokenchars '.:'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, 'row');
"""

TABLES: Final = """
CREATE TABLE tables (
    id INTEGER PRIMARY KEY AUTOINCREMENT, origin INTEGER NOT NULL, about TEXT NOT NULL, crc INTEGER NOT NULL
);
CREATE TABLE parts (
    "table" INTEGER NOT NULL, col INTEGER NOT NULL, part INTEGER NOT NULL, crc INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY ("table", col, part)
);
"""
"""Large tables, in columns: what version 5 has beside version 4."""

COLUMNS: Final = (
    "collection, chunk_id, doc_id, chunk_index, start_index, source, filename, page, metadata, context, text, extra"
)

BROKEN: Final = (sqlite3.DatabaseError, UnicodeDecodeError)  # SQLite's message may contain a damaged text
_UNWRITABLE: Final = ("readonly", "unable to open", "attempt to write")
_FULL: Final = ("full", "disk I/O error")
_EXPLAINED: Final = {
    ("malformed", "codec", "not a database", "database corruption", "no such table"): (
        "{path} is damaged ({text}); wanted the passages that were ingested: put back a copy, or move it away and run "
        "cragraph ingest PATH again."
    ),
    ("no such module: fts5",): (
        "this Python's SQLite has no FTS5; wanted SQLite with full-text search: use a Python from python.org, your "
        "distribution or conda."
    ),
    _FULL: (
        "the disk is full while writing {path}; what was stored before is safe: free some space and run the same "
        "command again."
    ),
    _UNWRITABLE: (
        "{path} cannot be written ({text}); wanted a folder with write permission: change its permissions or choose "
        "another with --store."
    ),
    ("",): "{path} cannot be used ({text}); what was stored before is safe: try again.",
}
"""Messages by parts of SQLite's own; none of these errors loses what was committed before."""


def row_crc(row: Sequence[Any]) -> int:
    """The checksum of a row: its id, then its columns, where the columns of a passage are `COLUMNS`."""
    return crc32("\x1f".join(map(str, row)).encode("utf-8", "surrogatepass"))


def vector_crc(row: int, vector: bytes) -> int:
    """The checksum of the vector in a row."""
    return crc32(vector, row & 0xFFFFFFFF)


def part_crc(table: int, column: int, part: int, data: bytes) -> int:
    """The checksum of a part of a column."""
    return crc32(data, crc32(f"{table} {column} {part}".encode()))


def marks(values: Sequence[Any]) -> str:
    """Question marks of SQL, one for each value."""
    return ",".join("?" * len(values))


class Database:
    """One connection, used by one thread at a time; with `path` None the database is in memory.

    `read_only` says why the file cannot be written. `opened` counts how often it was opened: remembered row numbers are
    valid for one opening. `damaged_rows` are the passages, and `damaged_tables` the large tables, with a wrong
    checksum."""

    def __init__(self, path: Path | None, *, create: bool = True) -> None:
        self.path, self.read_only, self.opened = path, "", 0
        self._open(create)

    def _open(self, create: bool) -> None:
        self.lock, self._pid = RLock(), os.getpid()
        self._file: tuple[int, int] | None = None
        self._content: _Content | None = None
        self.opened += 1
        self.damaged_rows: set[int] = set()
        self.damaged_tables: set[int] = set()
        for file in () if self.path is None else (self.path, self.log, Path(f"{self.path}-shm")):
            if file.exists() and not file.is_file():
                raise StoreError(
                    f"{file} is a {'folder' if file.is_dir() else 'pipe or a device'}, and the file that belongs there "
                    "is gone: move it away and put the file back, or run cragraph ingest PATH again."
                )
        with self._explained():
            if self.path is None:
                self._db = _connected(":memory:", create=True)
                return
            if create and not self.path.exists():
                with suppress(OSError):  # SQLite's own message is better
                    os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            uri = self.path.absolute().as_uri()
            try:
                self._db = _connected(f"{uri}?mode=rw", create)
            except sqlite3.OperationalError as error:
                # In a folder that cannot be written, or on a full disk, SQLite can read a finished file only when told
                # that nobody writes.
                with suppress(OSError):
                    if self.path.stat().st_size and any(sign in str(error) for sign in (*_UNWRITABLE, *_FULL)):
                        self._db = _connected(f"{uri}?mode=ro&immutable=1", create=False)
                        self.read_only = str(error)
                if not self.read_only:
                    raise
            self._file = _identity(self.path)
            self._content = _Content.of(self.path)

    @property
    def log(self) -> Path:
        """The write-ahead log beside the file."""
        return Path(f"{self.path}-wal")

    @property
    def seal(self) -> Path:
        """The path of the seal."""
        return Path(self.path or "").with_suffix(".seal")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except BROKEN as error:
            raise self._error(error) from error

    def _error(self, text: object) -> StoreError:
        advice = next(advice for signs, advice in _EXPLAINED.items() if any(sign in str(text) for sign in signs))
        return StoreError(advice.format(path=self.path or "the store in memory", text=text))

    @property
    def connection(self) -> sqlite3.Connection:
        """This process's connection to the file that is at the path now."""
        if self._pid != os.getpid():
            if self.path:
                self._open(create=False)
            self.lock, self._pid = RLock(), os.getpid()  # memory is copied by a fork
        elif self.path and not self._db.in_transaction and _identity(self.path) != self._file:
            if not self.path.exists():
                raise StoreError(f"{self.path} is gone; wanted the store: put it back, or run cragraph ingest PATH.")
            with self.lock:
                self.close()
                self._open(create=False)  # the file was replaced, or a copy was put back
        return self._db

    @contextmanager
    def write(self, **meta: Any) -> Iterator[sqlite3.Connection]:
        """One transaction, all of it or nothing; `meta` are values to be kept with the data."""
        db = self.connection
        with self.lock, self._explained():
            if self.read_only:
                raise self._error(self.read_only)
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            finally:
                self._seal([self.generation])  # until then the log, which is not empty, tells that this one is old

    def keep(self, **meta: Any) -> None:
        """Store values beside the data."""
        with self.write(**meta):
            pass

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query."""
        db = self.connection
        with self.lock, self._explained():
            return db.execute(sql, parameters).fetchall()

    def rows_in(self, sql: str, values: Iterable[Any], more: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run a query whose first `(?)` stands for the values, some hundreds at a time; `more` values follow."""
        for batch in batched(values, _BATCH):
            yield from self.rows(sql.replace("(?)", f"({marks(batch)})", 1), [*batch, *more])

    def read(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query up to the first that cannot be read."""
        with suppress(*BROKEN):
            yield from self._db.execute(sql)

    def meta(self, key: str, default: Any = None) -> Any:
        """A value stored beside the data."""
        rows = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else default

    def number(self, key: str) -> int:
        """A whole number stored beside the data, 0 if missing; raises StoreError for any other value."""
        value = self.meta(key, 0)
        if not isinstance(value, int) or value < 0:
            raise StoreError(
                f"{self.path or 'the store in memory'} is damaged: its {key} is {value!r:.80}; wanted a whole number: "
                "put back a copy, or move it away and run cragraph ingest PATH again."
            )
        return value

    @property
    def generation(self) -> int:
        """The number of the last change."""
        return self.number("generation")

    def close(self) -> None:
        """Close the file."""
        if self._pid == os.getpid():
            with self.lock:
                self._db.close()
                self._content = None

    # -- the seal, and damage ----------------------------------------------------------------------------------

    def _seal(self, state: Sequence[int]) -> None:
        if self.path and not self.read_only:
            with suppress(OSError):
                self.seal.touch(mode=0o600)
                self.seal.write_text(json.dumps(state))

    def _sealed(self) -> list[int]:
        """The seal's values: the number of the last write, then size and checksum if the file is complete."""
        with suppress(OSError, ValueError, TypeError):
            return [int(number) for number in json.loads(self.seal.read_text())]
        return []

    def checkpoint(self) -> None:
        """Empty the log into the file and seal it; the write lock must be held."""
        if self._content and not self.read_only and len(self._sealed()) != 3:
            with self.lock, self._explained():
                busy, *_ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                if not busy:
                    self._seal([self.generation, *self._content.checksum()])

    def seal_state(self) -> tuple[str, int]:
        """The state in which the file was left ("sealed", "unsealed" or "changed"), and the number of lost writes."""
        if self._content is None:
            return "sealed", 0
        generation, *mark = self._sealed() or [0]
        try:
            lost = max(0, generation - self.generation)
        except StoreError:
            return "changed", 0
        if not mark or (self.log.exists() and self.log.stat().st_size):
            return "unsealed", lost
        return "sealed" if mark == self._content.checksum() else "changed", lost

    def damage(self) -> list[str]:
        """The damage of the file, in plain words; empty if there is none."""
        faults: list[str] = []
        with self.lock:
            try:
                checked = self.connection.execute("PRAGMA integrity_check(3)")
                faults += [str(row[0]) for row in checked if row[0] != "ok"]
                for what, sql, crc in (
                    ("passages", f"SELECT id, {COLUMNS}, crc FROM chunks", lambda *row: row_crc(row)),
                    ("vectors", "SELECT id, vector, crc FROM vectors", vector_crc),
                    ("tables", "SELECT id, origin, about, crc FROM tables", lambda *row: row_crc(row)),
                    ("parts of tables", 'SELECT "table", col, part, data, crc FROM parts', part_crc),
                ):
                    if bad := sum(crc(*row[:-1]) != row[-1] for row in self._db.execute(sql)):
                        faults.append(f"{bad} {what} are not what was written")
                without = "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM vectors)"
                if bad := self._db.execute(without).fetchone()[0]:
                    faults.append(f"{bad} passages have no vector")
                self._db.execute("INSERT INTO words(words) VALUES ('integrity-check')")
            except (*BROKEN, TypeError) as error:
                faults.append(f"it cannot be read ({error})")
        return faults

    def replace_by(self, path: Path) -> None:
        """Replace the database's file by another file, and open that one."""
        assert self.path is not None
        self.close()
        replace(self.path, path)
        self._open(create=False)
        self.checkpoint()


class _Content:
    """The bytes of a file that SQLite has open in this process.

    All connections to the file share one descriptor, which is closed after the last of them: closing it earlier would
    free SQLite's locks.
    """

    _shared: ClassVar[WeakValueDictionary[tuple[int, int] | None, "_Content"]] = WeakValueDictionary()
    _lock: ClassVar[Any] = RLock()

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        close(self._descriptor)

    @classmethod
    def of(cls, path: Path) -> "_Content":
        """The content of the file at a path, which a connection must have open."""
        with cls._lock:
            if (content := cls._shared.get(_identity(path))) is None:
                content = cls(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))
                cls._shared[_identity(path)] = content
            return content

    def checksum(self) -> list[int]:
        """Size and checksum."""
        size = crc = 0
        with self._lock:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            while block := os.read(self._descriptor, _BLOCK):
                size, crc = size + len(block), crc32(block, crc)
        return [size, crc]


def _identity(path: Path) -> tuple[int, int] | None:
    """The device and number of the file at a path; None if there is none."""
    with suppress(OSError):
        status = path.stat()
        return status.st_dev, status.st_ino
    return None


def replace(path: Path, new: Path) -> None:
    """Put a new file in the place of a closed file, in one step: after a kill the old or the new file is there."""
    for file in _companions(path):
        file.unlink(missing_ok=True)
    new.replace(path)
    remove(new)


def remove(path: Path) -> None:
    """Remove a database with its log and its seal."""
    for file in (path, *_companions(path)):
        file.unlink(missing_ok=True)


def _companions(path: Path) -> list[Path]:
    return [path.with_suffix(".seal"), Path(f"{path}-wal"), Path(f"{path}-shm")]


def _connected(target: str, create: bool) -> sqlite3.Connection:
    db = sqlite3.connect(
        target, uri=target.startswith("file:"), check_same_thread=False, isolation_level=None, timeout=30.0
    )
    # A text that is no longer UTF-8 is found by the checksum of its row.
    db.text_factory = lambda text: str(text, "utf-8", "replace")
    try:
        version = _version(db)
        if version == VERSION - 1 or (create and not version):
            db.execute("PRAGMA page_size = 8192")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            lacking = {0: SCHEMA + TABLES, VERSION - 1: TABLES}.get(_version(db))  # another process may be quicker
            for statement in lacking.split(";\n") if lacking else ():
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")
            db.execute("COMMIT")
            version = _version(db)
        place = db.execute("PRAGMA database_list").fetchone()[2]
        if version == 0:
            raise StoreMissingError(f"No documents found in {place}. Run: cragraph ingest FOLDER")
        if version != VERSION:
            raise StoreError(
                f"{place} is of version {version}; wanted {VERSION}: update cragraph, or move it away and run cragraph "
                "ingest PATH."
            )
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")  # removed rows are overwritten, not left in free pages
        db.execute("PRAGMA cache_size = -65536")
    except BaseException:
        db.close()
        raise
    return db


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


PATIENCE: Final = 20.0  # seconds that a writer waits for the lock, which others hold for one write at a time


class WriteLock:
    """The write lock of a folder, freed by the system when its holder dies; without a folder, a lock for threads."""

    def __init__(self, folder: Path | None, patience: float = PATIENCE) -> None:
        self._folder, self._threads = folder, RLock()
        self._lock = folder and FileLock(folder / "write.lock", timeout=patience, thread_local=False, mode=0o600)

    @contextmanager
    def __call__(self, patience: float | None = None) -> Iterator[None]:
        """Hold the lock. Waits for other threads; raises StoreLockedError if another process keeps holding it for so
        many seconds."""
        with self._threads:
            if not self._lock or not self._folder or self._lock.is_locked:
                yield
                return
            owner = self._folder / "writer.json"
            try:
                self._lock.acquire(timeout=patience)
            except Timeout as error:
                holder = "another process"
                with suppress(OSError, ValueError, KeyError, TypeError):
                    holder = "process {pid} on {host} since {since}".format(**json.loads(owner.read_text("utf-8")))
                raise StoreLockedError(
                    f"{self._folder} is being written by {holder}; wanted to be its only writer: wait for it to "
                    "finish, or serve the store to several writers with a Chroma server "
                    "(`chroma run --path FOLDER --port 8000`, then `--store http://localhost:8000`)."
                ) from error
            except OSError as error:
                if Path(self._lock.lock_file).is_dir():
                    raise StoreError(f"{self._lock.lock_file} is a folder; wanted a file: move it away.") from error
                raise StoreError(
                    f"{self._folder} cannot be written ({error.strerror or error}); wanted a folder with write "
                    "permission: change its permissions or choose another with --store."
                ) from error
            try:
                # Information only: the lock itself is held, and a dead process's entry does no harm.
                with suppress(OSError):
                    owner.touch(mode=0o600)
                    since = datetime.now(UTC).isoformat(timespec="seconds")
                    owner.write_text(json.dumps({"pid": os.getpid(), "host": platform.node(), "since": since}))
                yield
            finally:
                with suppress(OSError):
                    owner.unlink(missing_ok=True)
                self._lock.release()
