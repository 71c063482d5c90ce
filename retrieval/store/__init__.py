"""The store: dense vectors in Chroma and a lexical SQLite index beside them, kept in step."""

from cragraph.retrieval.store.filters import checked_where
from cragraph.retrieval.store.opening import open_store
from cragraph.retrieval.store.parsing import parse_where
from cragraph.retrieval.store.records import Item, Origin, StoredDocument
from cragraph.retrieval.store.store import Store

__all__ = ["Item", "Origin", "Store", "StoredDocument", "checked_where", "open_store", "parse_where"]
