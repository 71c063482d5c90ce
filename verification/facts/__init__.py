"""Facts that a claim and its evidence must share exactly: numbers, dates, units, names, negation."""

from cragraph.verification.facts.compare import Comparison, compare
from cragraph.verification.facts.extract import extract
from cragraph.verification.facts.fact import Fact, Kind

__all__ = ["Comparison", "Fact", "Kind", "compare", "extract"]
