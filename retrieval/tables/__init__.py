"""Questions computed over stored rows: sums, counts, comparisons, with their working."""

from cragraph.retrieval.tables.engine import compute
from cragraph.retrieval.tables.stored import StoredTables
from cragraph.retrieval.tables.table import Table, tables_of

__all__ = ["StoredTables", "Table", "compute", "tables_of"]
