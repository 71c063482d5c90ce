"""Documents, stores, search and rerankers."""

from cragraph.lazy import exports

__getattr__ = exports(__name__)
