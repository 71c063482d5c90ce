"""Which source holds which passages, and which sources are in whole."""

import sqlite3
from collections.abc import Iterable

from cragraph.retrieval.store.database import Database
from cragraph.retrieval.store.records import Origin, StoredDocument

_ORIGIN = "source, sha256, size, mtime_ns, options, chunks"


class Ledger:
    """The record of ingested files, in the same database as their passages.

    A passage belongs to every file that has it; an origin is one state of one file, split in one way.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def sources(self) -> dict[str, Origin]:
        """Every source that is in, whole, by its name."""
        rows = self._database.rows(f"SELECT {_ORIGIN} FROM origins WHERE whole = 1")
        return {row[0]: Origin(*row) for row in rows}

    def overtaken(self) -> dict[str, Origin]:
        """Sources that are in whole and of which other states hold passages too, with the whole one."""
        rows = self._database.rows(
            f"SELECT {_ORIGIN} FROM origins AS o WHERE whole = 1 AND EXISTS "
            "(SELECT 1 FROM origins AS p WHERE p.source = o.source AND p.whole = 0)"
        )
        return {row[0]: Origin(*row) for row in rows}

    def names(self) -> set[str]:
        """Every source that holds passages, whole or not."""
        return {row[0] for row in self._database.rows("SELECT source FROM origins")}

    def set_whole(self, origin: Origin) -> None:
        """Record that this state of a file is in, whole, in place of any other state of it."""
        with self._database.write() as db:
            row = _origin_id(db, origin)
            db.execute("UPDATE origins SET whole = (id = ?) WHERE source = ?", (row, origin.source))

    def forget(self, source: str, but: Origin | None = None) -> None:
        """Drop the record of a source; what passages it held is not touched."""
        kept = (source, but.sha256, but.options) if but else (source, "", "")
        with self._database.write() as db:
            db.execute("DELETE FROM origins WHERE source = ? AND NOT (sha256 = ? AND options = ?)", kept)

    def held(self, origin: Origin) -> int:
        """How many passages this state of a file holds."""
        return len(self.held_by(origin.source, only=origin))

    def held_by(self, source: str, only: Origin | None = None) -> list[str]:
        """The ids of the passages that a source holds, in any of its states or in one."""
        sql = (
            "SELECT DISTINCT c.chunk_id FROM origins AS o JOIN holdings AS h ON h.origin = o.id "
            "JOIN chunks AS c ON c.id = h.chunk WHERE o.source = ?"
        )
        if only is None:
            return [row[0] for row in self._database.rows(sql, (source,))]
        sql += " AND o.sha256 = ? AND o.options = ?"
        return [row[0] for row in self._database.rows(sql, (source, only.sha256, only.options))]

    def unheld(self, source: str) -> list[str]:
        """The ids of passages that say they are from a source without any file holding them."""
        sql = "SELECT chunk_id FROM chunks WHERE source = ? AND id NOT IN (SELECT chunk FROM holdings)"
        return [row[0] for row in self._database.rows(sql, (source,))]

    def holders(self, chunk_ids: Iterable[str]) -> dict[str, list[Origin]]:
        """Every state of every file that holds each of these passages."""
        held: dict[str, list[Origin]] = {}
        columns = ", ".join(f"o.{name}" for name in _ORIGIN.split(", "))
        sql = (
            f"SELECT c.chunk_id, {columns} FROM chunks AS c JOIN holdings AS h ON h.chunk = c.id "
            "JOIN origins AS o ON o.id = h.origin WHERE c.chunk_id IN (?) ORDER BY o.id"
        )
        for chunk_id, *row in self._database.rows_in(sql, chunk_ids):
            held.setdefault(chunk_id, []).append(Origin(*row))
        return held

    def documents(self) -> list[StoredDocument]:
        """What the store holds, a source a row, in order of name."""
        rows = self._database.rows(
            "SELECT p.source, count(DISTINCT c.doc_id), count(DISTINCT c.id), o.size, o.sha256 FROM ("
            "SELECT o.source AS source, h.chunk AS id FROM holdings AS h JOIN origins AS o ON o.id = h.origin "
            "UNION SELECT source, id FROM chunks WHERE id NOT IN (SELECT chunk FROM holdings)) AS p "
            "JOIN chunks AS c ON c.id = p.id LEFT JOIN origins AS o ON o.source = p.source AND o.whole = 1 "
            "GROUP BY p.source "
            "UNION SELECT source, 0, 0, size, sha256 FROM origins WHERE whole = 1 AND chunks = 0 ORDER BY 1"
        )
        return [StoredDocument(row[0], filename_of(row[0]), *row[1:]) for row in rows]


def hold(db: sqlite3.Connection, chunk: int, origins: Iterable[Origin]) -> None:
    """Make these, and no others, the holders of a passage (by its row)."""
    db.execute("DELETE FROM holdings WHERE chunk = ?", (chunk,))
    db.executemany("INSERT INTO holdings VALUES (?, ?)", [(chunk, _origin_id(db, origin)) for origin in origins])


def filename_of(source: str) -> str:
    """The last part of a source's path."""
    return source.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _origin_id(db: sqlite3.Connection, origin: Origin) -> int:
    row = db.execute(
        f"INSERT INTO origins ({_ORIGIN}) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (source, sha256, options) "
        "DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, chunks = max(chunks, excluded.chunks) "
        "RETURNING id",
        (origin.source, *origin.row()),
    ).fetchone()
    return int(row[0])
