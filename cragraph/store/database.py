"""One SQLite file for one writer and many readers, in processes of their own: opened, checked, sealed.

Every change is one transaction in a write-ahead log, so a kill loses at most that one. A seal beside the file says how
it was left; where it does not fit, the file is checked before it is used.
"""

import json
import os
import platform
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, Final
from zlib import crc32

from filelock import FileLock, Timeout

from cragraph.errors import StoreError, StoreLockedError, StoreMissingError
from cragraph.store.records import batched

VERSION: Final = 3
_BATCH: Final = 500

SCHEMA: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, chunk_id TEXT NOT NULL UNIQUE, doc_id TEXT NOT NULL, page INTEGER,
    chunk_index INTEGER NOT NULL, start_index INTEGER NOT NULL, source TEXT NOT NULL, filename TEXT NOT NULL,
    metadata TEXT NOT NULL,  -- before the long columns, so that filters need not read over them
    context TEXT NOT NULL, text TEXT NOT NULL, extra TEXT, crc INTEGER NOT NULL
);
CREATE INDEX chunks_by_place ON chunks (doc_id, chunk_index);
CREATE INDEX chunks_by_source ON chunks (source);
CREATE TABLE vectors (id INTEGER PRIMARY KEY, written INTEGER NOT NULL, crc INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE INDEX vectors_by_write ON vectors (written);
CREATE TABLE origins (
    id INTEGER PRIMARY KEY, source TEXT NOT NULL, sha256 TEXT NOT NULL, size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL, options TEXT NOT NULL, chunks INTEGER NOT NULL, UNIQUE (source, sha256, options)
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


def row_crc(row: Sequence[Any]) -> int:
    """The checksum of the `COLUMNS` of a passage."""
    return crc32("\x1f".join(map(str, row)).encode("utf-8", "surrogatepass"))


def marks(values: Sequence[Any]) -> str:
    """A question mark for each of some values."""
    return ",".join("?" * len(values))


class Database:
    """One connection, used by one thread at a time; `path` None keeps it in memory."""

    def __init__(self, path: Path | None, *, create: bool = True) -> None:
        self.path = path
        self.read_only = self.wrote = False
        self._open(create)

    def _open(self, create: bool) -> None:
        self.lock, self._pid = RLock(), os.getpid()
        self._file: tuple[int, int] | None = None
        for file in () if self.path is None else (self.path, Path(f"{self.path}-wal"), Path(f"{self.path}-shm")):
            if file.exists() and not file.is_file():
                raise StoreError(
                    f"{file} is a {'folder' if file.is_dir() else 'pipe or a device'}, and the file that belongs there "
                    "is gone: move it away and put the file back, or run cragraph ingest PATH again."
                )
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
                if not self.path.exists() or not any(sign in str(error) for sign in _UNWRITABLE):
                    raise
                self._db, self.read_only = _connected(f"{uri}?mode=ro&immutable=1", create=False), True
            self._file = self._identity()

    def _identity(self) -> tuple[int, int] | None:
        """Which file lies at the path; None where there is none."""
        if self.path is None:
            return None
        with suppress(OSError):
            status = self.path.stat()
            return status.st_dev, status.st_ino
        return None

    def is_gone(self) -> bool:
        """Whether the file that was opened was renamed, removed or replaced since."""
        return self.path is not None and self._identity() != self._file

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            advice = next(text for signs, text in _EXPLAINED.items() if any(sign in str(error) for sign in signs))
            raise StoreError(advice.format(path=self.path or "the store in memory", text=error)) from error

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of this process: one that was forked from the opener gets its own."""
        if self._pid != os.getpid():
            if self.path:
                self._open(create=False)
            self.lock, self._pid = RLock(), os.getpid()  # memory is copied by a fork
        return self._db

    @contextmanager
    def write(self, **meta: Any) -> Iterator[sqlite3.Connection]:
        """One transaction, all of it or nothing; `meta` are values to be kept with the data."""
        db = self.connection
        with self.lock, self._explained():
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            self.wrote = True
            self._seal(self.generation)

    def keep(self, **meta: Any) -> None:
        """Keep values with the data."""
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
        with suppress(sqlite3.DatabaseError, UnicodeDecodeError):
            yield from self._db.execute(sql)

    def meta(self, key: str, default: Any = None) -> Any:
        """A value kept with the data."""
        rows = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else default

    def number(self, key: str) -> int:
        """A whole number kept with the data, 0 where there is none; raises StoreError for anything else there."""
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
        """Close the file; the last of its users leaves it sealed."""
        if self._pid != os.getpid():
            return
        log = Path(f"{self.path}-wal")
        with self.lock, suppress(sqlite3.ProgrammingError):
            generation, logged = next(self.read("SELECT value FROM meta WHERE key = 'generation'"), (0,)), log.exists()
            self._db.close()
            if isinstance(generation[0], int) and (self.wrote or (logged and not log.exists())):
                self._seal(generation[0])

    def __del__(self) -> None:
        """Leave a file sealed that nobody closed: else the next to open it would check all of it."""
        with suppress(Exception):  # it may never have been opened
            self.close()

    def _seal(self, generation: int) -> None:
        if self.path and not self.read_only:
            with suppress(OSError):
                status, seal = self.path.stat(), self.path.with_suffix(".seal")
                seal.touch(mode=0o600)
                seal.write_text(json.dumps([generation, status.st_size, status.st_mtime_ns]))

    def left(self) -> tuple[bool, int]:
        """Whether the file is as its last user left it, and how many writes are gone, with the log beside it."""
        if self.path is None:
            return True, 0
        status = self.path.stat()
        with suppress(OSError, ValueError, TypeError):
            generation, size, mtime_ns = map(int, json.loads(self.path.with_suffix(".seal").read_text()))
            return (size, mtime_ns) == (status.st_size, status.st_mtime_ns), max(0, generation - self.generation)
        return False, 0

    def damage(self, *, vectors: bool = True) -> list[str]:
        """What cannot be read or is not what was written, in plain words; `vectors` wants one for each passage."""
        faults: list[str] = []
        with self.lock:
            try:
                checked = self.connection.execute("PRAGMA integrity_check(3)")
                faults += [str(row[0]) for row in checked if row[0] != "ok"]
                for what, sql, crc in (
                    ("passages", f"SELECT {COLUMNS}, crc FROM chunks", row_crc),
                    ("vectors", "SELECT vector, crc FROM vectors", lambda row: crc32(row[0])),
                ):
                    if bad := sum(crc(row[:-1]) != row[-1] for row in self._db.execute(sql)):
                        faults.append(f"{bad} {what} are not what was written")
                without = "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT id FROM vectors)"
                if vectors and (bad := self._db.execute(without).fetchone()[0]):
                    faults.append(f"{bad} passages have no vector")
                self._db.execute("INSERT INTO words(words) VALUES ('integrity-check')")
            except (sqlite3.DatabaseError, TypeError) as error:
                faults.append(f"it cannot be read ({error})")
        return faults

    def replace_by(self, path: Path) -> None:
        """Go on with another file, which takes the place of this one."""
        assert self.path is not None
        self._db.close()
        remove(self.path)
        path.replace(self.path)
        path.with_suffix(".seal").unlink(missing_ok=True)
        self._open(create=False)


def remove(path: Path) -> None:
    """Remove a database with its log and its seal."""
    for file in (path, path.with_suffix(".seal"), Path(f"{path}-wal"), Path(f"{path}-shm")):
        file.unlink(missing_ok=True)


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


PATIENCE: Final = 20.0  # seconds that a writer waits for another, which holds the lock for one write at a time


class WriteLock:
    """The lock of a folder, freed by the system when its holder dies; without a folder, one for threads."""

    def __init__(self, folder: Path | None, patience: float = PATIENCE) -> None:
        self._folder, self._threads = folder, RLock()
        self._lock = folder and FileLock(folder / "write.lock", timeout=patience, thread_local=False, mode=0o600)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold it; waits for other threads of this store, StoreLockedError where another process holds it."""
        with self._threads:
            if not self._lock or not self._folder or self._lock.is_locked:
                yield
                return
            owner = self._folder / "writer.json"
            try:
                self._lock.acquire()
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
                with suppress(OSError):  # a courtesy: the lock is held, and what a dead process leaves does no harm
                    owner.touch(mode=0o600)
                    since = datetime.now(UTC).isoformat(timespec="seconds")
                    owner.write_text(json.dumps({"pid": os.getpid(), "host": platform.node(), "since": since}))
                yield
            finally:
                with suppress(OSError):
                    owner.unlink(missing_ok=True)
                self._lock.release()

    def busy(self) -> bool:
        """Whether somebody else is writing at this moment."""
        if not self._lock or self._lock.is_locked:
            return False
        try:
            with FileLock(self._lock.lock_file, timeout=0, mode=0o600):
                return False
        except OSError as error:
            return isinstance(error, Timeout)
