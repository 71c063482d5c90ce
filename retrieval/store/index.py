"""The local index: every passage with its words, and which sources hold it, in SQLite beside Chroma."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from cragraph.retrieval.store.database import Database
from cragraph.retrieval.store.ledger import hold
from cragraph.retrieval.store.records import Record, filterable
from cragraph.retrieval.store.schema import COLUMNS, UPSERT
from cragraph.retrieval.store.sql import condition
from cragraph.types import Passage

_SAMPLE: Final = 400

CORE_TYPES: Final[Mapping[str, str]] = {
    "doc_id": "text",
    "chunk_index": "number",
    "start_index": "number",
    "source": "text",
    "filename": "text",
    "page": "number",
}


class Index:
    """Passages by id, place and source, and the stamp that says how far it follows Chroma.

    `path` None keeps it in memory. Every write carries the stamp of the Chroma write it belongs to, in one transaction.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.database = Database(path)
        self._counted: tuple[tuple[int, int], int] = (-1, -1), 0

    # -- the stamp ---------------------------------------------------------------------------------------------

    def stamp(self, key: str) -> int:
        """A number kept with the data: `generation` (the Chroma write it follows), `writing` (one under way)."""
        rows = self.database.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return int(rows[0][0]) if rows else 0

    def set_stamp(self, **stamps: int) -> None:
        """Set numbers kept with the data."""
        with self.database.write() as db:
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", stamps.items())

    # -- writing -----------------------------------------------------------------------------------------------

    def put(self, records: Iterable[Record], **stamps: int) -> None:
        """Add or rewrite passages with their words, holders and fields, and the stamps, all or nothing."""
        with self.database.write() as db:
            for record in records:
                plain = filterable(record.passage["metadata"])
                row = db.execute(UPSERT, _row(record, plain)).fetchone()
                hold(db, int(row[0]), record.origins)
                db.executemany("INSERT OR IGNORE INTO fields VALUES (?, ?)", _types(plain))
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", stamps.items())

    def drop(self, chunk_ids: Iterable[str], **stamps: int) -> None:
        """Remove passages with their words and holders."""
        with self.database.write() as db:
            db.executemany("DELETE FROM chunks WHERE chunk_id = ?", [(chunk_id,) for chunk_id in chunk_ids])
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", stamps.items())

    # -- reading -----------------------------------------------------------------------------------------------

    def count(self) -> int:
        """How many passages there are; counted once a change, as every search asks."""
        state = self.database.state()
        counted, number = self._counted
        if counted != state:
            number = int(self.database.rows("SELECT count(*) FROM chunks")[0][0])
            self._counted = state, number
        return number

    def ids(self) -> set[str]:
        """The ids of all passages."""
        return {row[0] for row in self.database.rows("SELECT chunk_id FROM chunks")}

    def get(self, chunk_ids: Sequence[str]) -> list[Passage]:
        """The passages with these ids, in the order asked; unknown ids are left out."""
        rows = self.database.rows_in(f"SELECT {COLUMNS} FROM chunks WHERE chunk_id IN (?)", dict.fromkeys(chunk_ids))
        found = {row[0]: row for row in rows}
        return [passage_of(found[chunk_id]) for chunk_id in chunk_ids if chunk_id in found]

    def between(self, doc_id: str, first: int, last: int) -> list[Passage]:
        """The passages of a document from one `chunk_index` to another, both included."""
        rows = self.database.rows(
            f"SELECT {COLUMNS} FROM chunks WHERE doc_id = ? AND chunk_index BETWEEN ? AND ? ORDER BY chunk_index",
            (doc_id, first, last),
        )
        return [passage_of(row) for row in rows]

    def contexts(self, chunk_ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """What was embedded of each of these passages that is here: its context and its text."""
        rows = self.database.rows_in("SELECT chunk_id, context, text FROM chunks WHERE chunk_id IN (?)", chunk_ids)
        return {chunk_id: (context, text) for chunk_id, context, text in rows}

    def kept_vectors(self, chunk_ids: Iterable[str]) -> dict[str, bytes]:
        """The vectors held here beside Chroma's, as float16 bytes, by id."""
        sql = "SELECT chunk_id, vector FROM chunks WHERE vector IS NOT NULL AND chunk_id IN (?)"
        return dict(self.database.rows_in(sql, chunk_ids))

    def share(self, where: Mapping[str, Any]) -> float:
        """About which share of the passages a checked filter lets through, by a sample."""
        clause, values = condition(where)
        newest = int(self.database.rows("SELECT coalesce(max(id), 0) FROM chunks")[0][0])
        # Drawn, not evenly spaced: what comes at every tenth passage would be hit always or never.
        sample = Random(newest).sample(range(1, newest + 1), min(newest, _SAMPLE)) or [0]
        sql = f"SELECT c.id FROM chunks AS c WHERE c.id IN (?) AND {clause}"
        return len(list(self.database.rows_in(sql, sample, values))) / len(sample)

    def fields(self) -> dict[str, str]:
        """The fields that can be filtered by, with their types: text, number, true/false."""
        types: dict[str, str] = dict(CORE_TYPES) if self.count() else {}
        for name, type_ in sorted(self.database.rows("SELECT name, type FROM fields")):
            types[name] = f"{types[name]} or {type_}" if name in types else type_
        return types

    def close(self) -> None:
        """Close the file."""
        self.database.close()


def passage_of(row: Sequence[Any]) -> Passage:
    """A passage from the columns named in `COLUMNS`."""
    chunk_id, doc_id, chunk_index, start_index, source, filename, page, text, metadata, extra = row[:10]
    return Passage(
        text=text,
        chunk_id=chunk_id,
        doc_id=doc_id,
        chunk_index=chunk_index,
        start_index=start_index,
        source=source,
        filename=filename,
        page=page,
        metadata=json.loads(metadata) | (json.loads(extra) if extra else {}),
        retrieval_score=None,
        rerank_score=None,
    )


def _row(record: Record, plain: Mapping[str, Any]) -> tuple[Any, ...]:
    passage = record.passage
    extra = {key: value for key, value in passage["metadata"].items() if key not in plain}
    return (
        *(passage[key] for key in ("chunk_id", "doc_id", "chunk_index", "start_index", "source", "filename", "page")),
        record.context,
        passage["text"],
        json.dumps(plain, ensure_ascii=False),
        json.dumps(extra, ensure_ascii=False, default=str) if extra else None,
        record.vector,
    )


def _types(plain: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (key, "true/false" if isinstance(value, bool) else "text" if isinstance(value, str) else "number")
        for key, value in plain.items()
    ]
