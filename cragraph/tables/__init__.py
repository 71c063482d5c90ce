"""Tables: questions that a table computes, read as queries; and the engine that runs them over all rows."""

from cragraph.tables.engine import compute
from cragraph.tables.matching import Near
from cragraph.tables.reading import FLOOR, RIVAL, TIED, Plan, TableReading, odds, read_query
from cragraph.tables.stored import StoredTables

__all__ = ["FLOOR", "RIVAL", "TIED", "Near", "Plan", "StoredTables", "TableReading", "compute", "odds", "read_query"]
