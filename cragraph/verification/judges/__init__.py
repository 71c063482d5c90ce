"""Judges: one file an implementation."""

from cragraph.lazy import exports

__getattr__ = exports(__name__)
