"""Data sets, metrics and reports."""

from cragraph.lazy import exports

__getattr__ = exports(__name__)
