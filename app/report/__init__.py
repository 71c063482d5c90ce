"""The HTML report: one self-contained page of an answer, its claims, and the evidence of each in its passage."""

from cragraph.report.page import Report
from cragraph.report.table import table_of

__all__ = ["Report", "table_of"]
