"""Stores as older versions of the program made them, for the tests of upgrades and the faults of a kill in one."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from zlib import crc32

from cragraph.language.words import terms
from cragraph.passages import contextual_text
from cragraph.store import Store
from cragraph.store.records import DEFAULT, filterable

SCHEMA_3: Final = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, chunk_id TEXT NOT NULL UNIQUE, doc_id TEXT NOT NULL, page INTEGER,
    chunk_index INTEGER NOT NULL, start_index INTEGER NOT NULL, source TEXT NOT NULL, filename TEXT NOT NULL,
    metadata TEXT NOT NULL, context TEXT NOT NULL, text TEXT NOT NULL, extra TEXT, crc INTEGER NOT NULL
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
_COLUMNS_3: Final = "chunk_id, doc_id, chunk_index, start_index, source, filename, page, metadata, context, text, extra"


def version_3(store: Store, folder: Path) -> None:
    """Write what a store holds as version 3 kept it: a file for each collection, with a seal beside it."""
    folder.mkdir(parents=True)
    for name in store.names():
        path = (
            folder / f"{'cragraph' if name == DEFAULT else name if name.isascii() else 'x-' + name.encode().hex()}.db"
        )
        with closing(sqlite3.connect(path)) as db, db:
            db.executescript("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL;" + SCHEMA_3)
            model = store.index.identity
            meta = {"model": model.model, "dimension": model.dimension, "generation": 1, "left_out": "{}"}
            db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            origins: dict[str, int] = {}
            for row in store.index.rows_in_collection(name):
                item = store.index.item(row)
                assert item is not None
                passage, plain = item.passage, filterable(item.passage["metadata"])
                extra = {key: value for key, value in passage["metadata"].items() if key not in plain}
                whole = contextual_text(passage)
                values = (
                    *(passage[key] for key in ("chunk_id", "doc_id", "chunk_index", "start_index", "source")),
                    *(passage["filename"], passage["page"], json.dumps(plain, ensure_ascii=False)),
                    *(whole.removesuffix(passage["text"]), passage["text"]),
                    json.dumps(extra, ensure_ascii=False) if extra else None,
                )
                crc = crc32("\x1f".join(map(str, values)).encode("utf-8", "surrogatepass"))
                marks = ",".join("?" * (len(values) + 2))
                db.execute(f"INSERT INTO chunks (id, {_COLUMNS_3}, crc) VALUES ({marks})", (row, *values, crc))
                db.execute("INSERT INTO vectors VALUES (?, 1, ?, ?)", (row, crc32(item.vector), item.vector))
                words = " ".join(terms.__wrapped__(whole))
                db.execute("INSERT INTO words(rowid, terms) VALUES (?, ?)", (row, words))
                for origin in item.origins:
                    if origin.source not in origins:
                        origins[origin.source] = len(origins) + 1
                        db.execute("INSERT INTO origins VALUES (?,?,?,?,?,?,?)", (len(origins), *origin[:6]))
                    db.execute("INSERT INTO holdings VALUES (?, ?)", (row, origins[origin.source]))
            db.execute("PRAGMA user_version = 3")
        status = path.stat()
        path.with_suffix(".seal").write_text(json.dumps([1, status.st_size, status.st_mtime_ns]))
        path.chmod(0o600)
