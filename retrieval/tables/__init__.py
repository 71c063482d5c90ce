"""Questions computed over stored rows: sums, counts, comparisons, with their working."""

from cragraph.retrieval.tables.engine import compute
from cragraph.retrieval.tables.stored import StoredTables

__all__ = ["StoredTables", "compute"]
