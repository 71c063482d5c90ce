"""Facts that a claim and its evidence must share exactly: numbers, dates, units, names, negation."""

from cragraph.text.facts.compare import Comparison, compare
from cragraph.text.facts.extract import extract
from cragraph.text.facts.fact import Fact, Kind

__all__ = ["Comparison", "Fact", "Kind", "compare", "extract"]
