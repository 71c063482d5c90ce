"""A SQLite database for one writer and many readers, in processes of their own."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Final

from cragraph.errors import StoreError
from cragraph.retrieval.store.schema import SCHEMA, VERSION

_BATCH: Final = 500
_DAMAGED: Final = ("malformed", "not a database", "database corruption")


class DamagedError(StoreError):
    """The file is no usable index; it can be thrown away and made again."""


class Database:
    """One connection, used by one thread at a time.

    Committed pages go to a write-ahead log, so readers in other processes are never in the way of the writer nor it in
    theirs, and a kill loses at most the transaction under way.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.lock = RLock()
        self.read_only = False
        try:
            self._db = self._open()
        except sqlite3.DatabaseError as error:
            raise self.explained(error) from error

    def _open(self) -> sqlite3.Connection:
        if self.path is None:
            return self._prepared(_connect(":memory:"))
        try:
            return self._prepared(_connect(str(self.path)))
        except sqlite3.OperationalError as error:
            # In a folder that cannot be written, SQLite can read a finished database only when told nobody writes.
            if not self.path.exists() or not _unwritable(error):
                raise
        self.read_only = True
        return _connect(f"{self.path.absolute().as_uri()}?mode=ro&immutable=1")

    def _prepared(self, db: sqlite3.Connection) -> sqlite3.Connection:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA cache_size = -65536")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            db.close()
            raise DamagedError(f"{self.path} is of version {version}; wanted {VERSION}: it is made again.")
        if version == 0:
            db.executescript(SCHEMA)
            db.execute(f"PRAGMA user_version = {VERSION}")
        return db

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        with self.lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield self._db
                    self._db.execute("COMMIT")
                except BaseException:
                    if self._db.in_transaction:
                        self._db.execute("ROLLBACK")
                    raise
            except sqlite3.DatabaseError as error:
                raise self.explained(error) from error

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a query."""
        with self.lock:
            try:
                return self._db.execute(sql, parameters).fetchall()
            except sqlite3.DatabaseError as error:
                raise self.explained(error) from error

    def rows_in(self, sql: str, values: Iterable[Any], more: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Run a query with `(?)` standing for the values, some hundreds at a time; `more` are those that follow."""
        rest = list(values)
        for start in range(0, len(rest), _BATCH):
            batch = rest[start : start + _BATCH]
            yield from self.rows(sql.replace("(?)", "(" + ",".join("?" * len(batch)) + ")"), [*batch, *more])

    def state(self) -> tuple[int, int]:
        """Something that differs whenever this connection or another one has changed anything since."""
        with self.lock:
            return self._db.total_changes, int(self.rows("PRAGMA data_version")[0][0])

    def close(self) -> None:
        """Close the file."""
        with self.lock:
            self._db.close()

    def explained(self, error: sqlite3.DatabaseError) -> StoreError:
        """The error in our words; nothing that was committed before is lost by any of these."""
        text = str(error)
        if any(sign in text for sign in _DAMAGED):
            return DamagedError(f"{self.path} is damaged ({text}); wanted an index: it is made again from Chroma.")
        if "no such module: fts5" in text:
            return StoreError(
                "this Python's SQLite has no FTS5; wanted SQLite with full-text search: use a Python from python.org, "
                "your distribution or conda."
            )
        if "full" in text:
            return StoreError(
                f"the disk is full while writing {self.path}; what was stored before is safe: free some space and run "
                "the same command again."
            )
        if _unwritable(error):
            return StoreError(
                f"{self.path} cannot be written ({text}); wanted a folder with write permission: change its "
                "permissions or choose another with --store."
            )
        return StoreError(
            f"{self.path or 'the index in memory'} cannot be used ({text}); what was stored before is safe: try again."
        )


def _connect(target: str) -> sqlite3.Connection:
    return sqlite3.connect(
        target, uri=target.startswith("file:"), check_same_thread=False, isolation_level=None, timeout=30.0
    )


def _unwritable(error: sqlite3.Error) -> bool:
    return any(sign in str(error) for sign in ("readonly", "unable to open", "attempt to write"))
