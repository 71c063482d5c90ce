"""Chat models, embeddings, the embedded encoder and its weights."""

from cragraph.lazy import exports

__getattr__ = exports(__name__)
