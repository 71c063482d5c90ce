"""Claims, judges, signals and policies."""

from cragraph.lazy import exports

__getattr__ = exports(__name__)
