"""The tables: passages by id, place and source, and the record of the files that they came from."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from sqlite3 import Connection
from typing import Any, Final, cast
from zlib import crc32

from cragraph.language.words import terms
from cragraph.passages import contextual_text
from cragraph.store.database import COLUMNS, Database, marks, row_crc
from cragraph.store.filters import Where, condition
from cragraph.store.records import (
    FIELDS,
    LEFT_OUT,
    Identity,
    Item,
    Origin,
    StoredDocument,
    filename_of,
    filterable,
    from_bytes,
    left_out,
)
from cragraph.types import Passage

SELECTED: Final = ", ".join(f"c.{name}" for name in COLUMNS.split(", "))
_SAMPLE: Final = 400
_TYPES: Final = {bool: "true/false", str: "text"}
_PLACE: Final = ("chunk_id", "doc_id", "chunk_index", "start_index", "source", "filename", "page")
_ORIGIN: Final = "source, sha256, size, mtime_ns, options, chunks"
_FILES: Final = (
    "WITH files AS MATERIALIZED (SELECT o.id AS file, o.source, o.sha256, o.size, o.mtime_ns, o.options, o.chunks, "
    "(SELECT count(*) FROM holdings AS h WHERE h.origin = o.id) = o.chunks AS complete FROM origins AS o) "
)
"""Every state of every file, `complete` where all its passages are in."""


class Index(Database):
    """Everything that is stored, in its tables. Every change is numbered: `generation` is the last one's number."""

    @property
    def identity(self) -> Identity:
        """The model that made the vectors."""
        return Identity(str(self.meta("model")), self.number("dimension"))

    # -- writing, inside a transaction -----------------------------------------------------------------------

    def put(self, db: Connection, items: Sequence[Item], generation: int) -> None:
        """Add or rewrite passages with their words, fields and files, no others; and vectors where they bring them."""
        known = self.embedded(item.chunk_id for item in items)
        for item in items:
            metadata, text = item.passage["metadata"], contextual_text(item.passage)
            plain = filterable(metadata)
            extra = {key: value for key, value in metadata.items() if key not in plain}
            row = (
                *(item.passage[key] for key in _PLACE),
                json.dumps(plain, ensure_ascii=False),
                text.removesuffix(item.passage["text"]),
                item.passage["text"],
                json.dumps(extra, ensure_ascii=False, default=str) if extra else None,
            )
            chunk, old = known.get(item.chunk_id, (None, None))
            sql = f"INSERT OR REPLACE INTO chunks (id, {COLUMNS}, crc) VALUES (?, {marks(row)}, ?) RETURNING id"
            chunk = int(db.execute(sql, (chunk, *row, row_crc(row))).fetchone()[0])
            if old != text:
                _words(db, chunk, old=old, new=text)
            db.execute("DELETE FROM holdings WHERE chunk = ?", (chunk,))
            holdings = [(chunk, _origin_id(db, origin)) for origin in item.origins]
            db.executemany("INSERT OR IGNORE INTO holdings VALUES (?, ?)", holdings)
            types = [(key, _TYPES.get(type(value), "number")) for key, value in plain.items()]
            db.executemany("INSERT OR IGNORE INTO fields VALUES (?, ?)", types)
            if item.vector is not None:
                vector = (chunk, generation, crc32(item.vector), item.vector)
                db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", vector)

    def drop(self, db: Connection, chunk_ids: Iterable[str]) -> None:
        """Remove passages; unknown ids do no harm."""
        for chunk, text in self.embedded(chunk_ids).values():
            _words(db, chunk, old=text)
            for table, key in (("chunks", "id"), ("vectors", "id"), ("holdings", "chunk")):
                db.execute(f"DELETE FROM {table} WHERE {key} = ?", (chunk,))

    def record(self, db: Connection, source: str, origin: Origin | None) -> None:
        """Record the state that a file is in, and no other of it; None where it is taken out."""
        row = _origin_id(db, origin) if origin else -1
        db.execute("DELETE FROM origins WHERE source = ? AND id <> ?", (source, row))
        db.execute("DELETE FROM staged WHERE source = ?", (source,))

    # -- reading passages ------------------------------------------------------------------------------------

    def count(self) -> int:
        """How many passages there are."""
        return int(self.rows("SELECT count(*) FROM chunks")[0][0])

    def ids(self) -> set[str]:
        """The ids of all passages."""
        return {row[0] for row in self.rows("SELECT chunk_id FROM chunks")}

    def left_out(self) -> dict[str, str]:
        """What is left out of files that give too many chunks, in words, by source."""
        kept = json.loads(self.meta(LEFT_OUT, "{}"))
        return {source: left_out(*of) for source, (_, *of) in kept.items()}

    def passages(self, rows: Iterable[Sequence[Any]]) -> list[Passage]:
        """`passage_of` each row, with what is left out of its file."""
        found, out = [passage_of(row) for row in rows], self.left_out()
        for passage in found:
            if said := out.get(passage["source"]):
                passage["metadata"][LEFT_OUT] = said
        return found

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids, in the order asked; unknown ids are left out."""
        rows = self.rows_in(f"SELECT {COLUMNS} FROM chunks WHERE chunk_id IN (?)", dict.fromkeys(chunk_ids))
        by_id = {row[0]: row for row in rows}
        return self.passages(by_id[chunk_id] for chunk_id in chunk_ids if chunk_id in by_id)

    def get_rows(self, rows: Sequence[int], where: Where = None) -> dict[int, Passage]:
        """The passages in these rows, those that a filter lets through, by row."""
        clause, values = condition(where)
        sql = f"SELECT {SELECTED}, c.id FROM chunks AS c WHERE c.id IN (?) AND {clause}"
        found = list(self.rows_in(sql, rows, values))
        return {row[-1]: passage for row, passage in zip(found, self.passages(found), strict=True)}

    def adjacent(self, passage: Passage, before: int, after: int) -> list[Passage]:
        """The passages next to one in its document, in order; without the passage itself."""
        place = passage["chunk_index"]
        sql = f"SELECT {COLUMNS} FROM chunks WHERE doc_id = ? AND chunk_index BETWEEN ? AND ? AND chunk_index <> ?"
        given = (passage["doc_id"], place - before, place + after, place)
        return self.passages(self.rows(f"{sql} ORDER BY chunk_index", given))

    def of_source(self, source: str, where: Where, most: int) -> list[Passage]:
        """The passages that a source holds, and those from it that no file holds, in the order of its rows or text."""
        clause, values = condition(where)
        sql = (
            f"SELECT {SELECTED} FROM chunks AS c WHERE (c.id IN (SELECT h.chunk FROM origins AS o JOIN holdings AS h "
            "ON h.origin = o.id WHERE o.source = ?) OR (c.source = ? AND c.id NOT IN (SELECT chunk FROM holdings))) "
            f"AND {clause} LIMIT ?"
        )
        passages = self.passages(self.rows(sql, (source, source, *values, most)))
        row = {p["chunk_id"]: p["metadata"].get("row") for p in passages}
        numbers = {i: n if isinstance(n, int) else 0 for i, n in row.items()}
        return sorted(passages, key=lambda p: (numbers[p["chunk_id"]], p["chunk_index"]))

    def embedded(self, chunk_ids: Iterable[str]) -> dict[str, tuple[int, str]]:
        """The row of each of these passages that is here, and what was embedded of it."""
        rows = self.rows_in("SELECT chunk_id, id, context || text FROM chunks WHERE chunk_id IN (?)", chunk_ids)
        return {chunk_id: (row, text) for chunk_id, row, text in rows}

    def share(self, where: Mapping[str, Any]) -> float:
        """About which share of the passages a checked filter lets through, by a sample."""
        clause, values = condition(where)
        newest = int(self.rows("SELECT coalesce(max(id), 0) FROM chunks")[0][0])
        # Drawn, not evenly spaced: what comes at every tenth passage would be hit always or never.
        sample = Random(newest).sample(range(1, newest + 1), min(newest, _SAMPLE)) or [0]
        sql = f"SELECT c.id FROM chunks AS c WHERE c.id IN (?) AND {clause}"
        return len(list(self.rows_in(sql, sample, values))) / len(sample)

    def fields(self) -> dict[str, str]:
        """The fields that can be filtered by, with their types: text, number, true/false."""
        types: dict[str, str] = dict(FIELDS) if self.rows("SELECT 1 FROM chunks LIMIT 1") else {}
        for name, type_ in sorted(
            self.rows("SELECT name, type FROM fields WHERE typeof(name) || typeof(type) = 'texttext'")
        ):
            types[name] = f"{types[name]} or {type_}" if name in types else type_
        return types

    def readable(self) -> Iterator[Item | None]:
        """Every passage that can be read and is what was written, with its files and its vector; None for the rest."""
        ids = {row[0] for table in ("chunks", "vectors") for row in self.read(f"SELECT id FROM {table}")}
        for chunk in sorted(ids):
            row = next(self.read(f"SELECT {COLUMNS}, crc FROM chunks WHERE id = {chunk}"), ())
            if not row or row_crc(row[:-1]) != row[-1]:
                yield None
                continue
            sql = f"SELECT {_ORIGIN} FROM holdings JOIN origins ON id = origin WHERE chunk = {chunk}"
            origins = [Origin(*origin) for origin in self.read(sql)]
            vector, crc = next(self.read(f"SELECT vector, crc FROM vectors WHERE id = {chunk}"), (None, 0))
            whole = isinstance(vector, bytes) and crc32(vector) == crc
            yield Item(passage_of(row), origins, from_bytes([vector])[0] if whole else None)

    # -- reading the record of files -------------------------------------------------------------------------

    def sources(self) -> dict[str, Origin]:
        """Every source that is in, whole, by its name."""
        rows = self.rows(f"{_FILES} SELECT {_ORIGIN} FROM files WHERE complete ORDER BY mtime_ns")
        return {row[0]: Origin(*row) for row in rows}

    def states(self, source: str) -> list[Origin]:
        """Every state of a source that holds passages."""
        return [Origin(*row) for row in self.rows(f"SELECT {_ORIGIN} FROM origins WHERE source = ?", (source,))]

    def names(self) -> set[str]:
        """Every source that holds passages, whole or not."""
        return {row[0] for row in self.rows("SELECT source FROM origins")}

    def overtaken(self) -> list[Origin]:
        """The whole states of sources of which other states hold passages too: an ingest on a server was cut off."""
        several = {row[0] for row in self.rows("SELECT source FROM origins GROUP BY source HAVING count(*) > 1")}
        return [origin for source, origin in self.sources().items() if source in several] if several else []

    def holders(self, chunk_ids: Iterable[str]) -> dict[str, list[Origin]]:
        """Every state of every file that holds each of these passages."""
        origins: dict[str, list[Origin]] = {}
        columns = _ORIGIN.replace("source", "o.source")
        sql = (
            f"SELECT c.chunk_id, {columns} FROM chunks AS c JOIN holdings AS h ON h.chunk = c.id "
            "JOIN origins AS o ON o.id = h.origin WHERE c.chunk_id IN (?) ORDER BY o.id"
        )
        for chunk_id, *row in self.rows_in(sql, chunk_ids):
            origins.setdefault(chunk_id, []).append(Origin(*row))
        return origins

    def held_by(self, source: str, *, unheld: bool = False) -> list[str]:
        """The ids of the passages that a source holds; with `unheld`, also those from it that no file holds."""
        sql = (
            "SELECT DISTINCT c.chunk_id FROM origins AS o JOIN holdings AS h ON h.origin = o.id "
            "JOIN chunks AS c ON c.id = h.chunk WHERE o.source = ?1"
        )
        if unheld:
            sql += " UNION SELECT chunk_id FROM chunks WHERE source = ?1 AND id NOT IN (SELECT chunk FROM holdings)"
        return [row[0] for row in self.rows(sql, (source,))]

    def documents(self) -> list[StoredDocument]:
        """What the store holds, one source per row, in order of name."""
        rows = self.rows(
            f"{_FILES} SELECT source, count(DISTINCT doc_id), count(DISTINCT id), size, sha256, max(complete) FROM ("
            "SELECT f.source, c.doc_id, c.id, f.size, f.sha256, f.complete FROM files AS f "
            "LEFT JOIN holdings AS h ON h.origin = f.file LEFT JOIN chunks AS c ON c.id = h.chunk "
            "UNION ALL SELECT source, doc_id, id, NULL, NULL, 1 FROM chunks "
            "WHERE id NOT IN (SELECT chunk FROM holdings)) GROUP BY source ORDER BY source"
        )
        out, doubts = self.left_out(), dict[str, list[str]]()
        for source, doubt in self.rows(
            "SELECT DISTINCT c.source, d.value FROM chunks AS c, json_each(c.extra, '$.doubts') AS d "
            "WHERE c.extra IS NOT NULL"
        ):
            doubts.setdefault(source, []).append(doubt)
        return [
            StoredDocument(
                source, filename_of(source), documents, chunks, size, sha256, bool(complete),
                doubts=tuple(doubts.get(source, ())), left_out=out.get(source, ""),
            )
            for source, documents, chunks, size, sha256, complete in rows
        ]  # fmt: skip

    # -- staged ----------------------------------------------------------------------------------------------

    def stage(self, items: Iterable[Item], origin: Origin) -> None:
        """Keep passages of a file that is still being read, with their vectors, out of sight of every search."""
        sql = "INSERT OR REPLACE INTO staged (source, state, chunk_id, passage, vector) VALUES (?, ?, ?, ?, ?)"
        with self.write() as db:
            for item in items:
                passage = json.dumps(item.passage, ensure_ascii=False, default=str)
                db.execute(sql, (origin.source, str(origin.state[1:]), item.chunk_id, passage, item.vector))

    def staged(self, origin: Origin) -> Iterator[list[Item]]:
        """What was staged of one state of a file, in batches."""
        last = 0
        sql = "SELECT id, passage, vector FROM staged WHERE source = ? AND state = ? AND id > ? ORDER BY id LIMIT 500"
        while rows := self.rows(sql, (origin.source, str(origin.state[1:]), last)):
            last = rows[-1][0]
            yield [Item(json.loads(passage), (origin,), vector) for _, passage, vector in rows]

    def staged_ids(self, origin: Origin) -> set[str]:
        """The ids of what was staged of one state of a file."""
        sql = "SELECT chunk_id FROM staged WHERE source = ? AND state = ?"
        return {row[0] for row in self.rows(sql, (origin.source, str(origin.state[1:])))}

    def staged_sources(self) -> dict[str, int]:
        """The files that were not read to their end, with how many of their passages are staged."""
        return dict(self.rows("SELECT source, count(*) FROM staged GROUP BY source"))

    def unstage(self, source: str) -> None:
        """Drop what was staged of a file."""
        with self.write() as db:
            db.execute("DELETE FROM staged WHERE source = ?", (source,))


def passage_of(row: Sequence[Any]) -> Passage:
    """A passage from the columns named in `COLUMNS`, which no search has given a score yet."""
    metadata, _, text, extra = row[len(_PLACE) : 11]
    place: dict[str, Any] = dict(zip(_PLACE, row, strict=False))
    known = json.loads(metadata) | (json.loads(extra) if extra else {})
    return cast("Passage", {"text": text, **place, "metadata": known, "retrieval_score": None, "rerank_score": None})


def _origin_id(db: Connection, origin: Origin) -> int:
    sql = (
        f"INSERT INTO origins ({_ORIGIN}) VALUES ({marks(origin)}) ON CONFLICT (source, sha256, options) "
        "DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns, chunks = excluded.chunks RETURNING id"
    )
    return int(db.execute(sql, origin).fetchone()[0])


def _words(db: Connection, chunk: int, *, old: str | None = None, new: str | None = None) -> None:
    """Put the terms of a new text in the place of those of an old one."""
    if old is not None:
        row = (chunk, " ".join(terms.__wrapped__(old)))
        db.execute("INSERT INTO words(words, rowid, terms) VALUES ('delete', ?, ?)", row)
    if new is not None:
        db.execute("INSERT INTO words(rowid, terms) VALUES (?, ?)", (chunk, " ".join(terms.__wrapped__(new))))
