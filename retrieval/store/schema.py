"""The tables of the local index."""

from typing import Final

from cragraph.retrieval.store.terms import TOKENIZER

VERSION: Final = 2

SCHEMA: Final = f"""
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chunks (
    id INTEGER PRIMARY KEY,
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
    vector BLOB
);
CREATE INDEX IF NOT EXISTS chunks_by_place ON chunks (doc_id, chunk_index);
CREATE INDEX IF NOT EXISTS chunks_by_source ON chunks (source);
CREATE TABLE IF NOT EXISTS origins (
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
CREATE TABLE IF NOT EXISTS holdings (
    chunk INTEGER NOT NULL, origin INTEGER NOT NULL, PRIMARY KEY (chunk, origin)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS holdings_by_origin ON holdings (origin);
CREATE TABLE IF NOT EXISTS fields (name TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (name, type)) WITHOUT ROWID;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
    context, text, content='chunks', content_rowid='id', tokenize='{TOKENIZER}'
);
CREATE VIRTUAL TABLE IF NOT EXISTS vocabulary USING fts5vocab(words, 'row');
CREATE TRIGGER IF NOT EXISTS chunk_added AFTER INSERT ON chunks BEGIN
    INSERT INTO words(rowid, context, text) VALUES (new.id, new.context, new.text);
END;
CREATE TRIGGER IF NOT EXISTS chunk_removed AFTER DELETE ON chunks BEGIN
    INSERT INTO words(words, rowid, context, text) VALUES ('delete', old.id, old.context, old.text);
    DELETE FROM holdings WHERE chunk = old.id;
END;
CREATE TRIGGER IF NOT EXISTS chunk_rewritten AFTER UPDATE OF context, text ON chunks
WHEN old.context IS NOT new.context OR old.text IS NOT new.text BEGIN
    INSERT INTO words(words, rowid, context, text) VALUES ('delete', old.id, old.context, old.text);
    INSERT INTO words(rowid, context, text) VALUES (new.id, new.context, new.text);
END;
"""

UPSERT: Final = """
INSERT INTO chunks (chunk_id, doc_id, chunk_index, start_index, source, filename, page, context, text, metadata, extra,
                    vector)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (chunk_id) DO UPDATE SET
    doc_id = excluded.doc_id, chunk_index = excluded.chunk_index, start_index = excluded.start_index,
    source = excluded.source, filename = excluded.filename, page = excluded.page, context = excluded.context,
    text = excluded.text, metadata = excluded.metadata, extra = excluded.extra,
    vector = coalesce(excluded.vector, vector)
RETURNING id
"""

COLUMNS: Final = "chunk_id, doc_id, chunk_index, start_index, source, filename, page, text, metadata, extra"
"""What a passage is read from."""
