"""Writers of answers: extractive, or by a chat model."""

from cragraph.lazy import exports

__getattr__ = exports(__name__)
