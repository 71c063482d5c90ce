"""The store: ingested passages, searched by meaning and by words; and the ingest of files."""

from cragraph.store.bulk import IngestReport, Progress, forget, ingest, watch
from cragraph.store.collections import Held
from cragraph.store.filters import checked_where, parse_where
from cragraph.store.opening import open_store
from cragraph.store.reading import Failed, SplitOptions, messages
from cragraph.store.records import Item, Origin, StoredDocument
from cragraph.store.store import Store

__all__ = [
    "Failed", "Held", "IngestReport", "Item", "Origin", "Progress", "SplitOptions", "Store", "StoredDocument",
    "checked_where", "forget", "ingest", "messages", "open_store", "parse_where", "watch",
]  # fmt: skip
