"""Questions that a table computes: read as queries, with how sure the reading is."""

from cragraph.generation.computing.matching import Near
from cragraph.generation.computing.reading import FLOOR, RIVAL, TIED, Reading, odds, read_query

__all__ = ["FLOOR", "RIVAL", "TIED", "Near", "Reading", "odds", "read_query"]
