"""Rerankers, one strategy a file: each scores passages against the question (see `cragraph.protocols.Reranker`)."""

from typing import TYPE_CHECKING

from cragraph.lazy import exports

if TYPE_CHECKING:
    from cragraph.retrieval.rerankers.compressor import CompressorReranker
    from cragraph.retrieval.rerankers.encoder import EncoderReranker
    from cragraph.retrieval.rerankers.lexical import LexicalReranker
    from cragraph.retrieval.rerankers.scored import NoReranker

__all__ = ["CompressorReranker", "EncoderReranker", "LexicalReranker", "NoReranker"]

__getattr__ = exports(
    __name__,
    {
        "compressor": ("CompressorReranker",),
        "encoder": ("EncoderReranker",),
        "lexical": ("LexicalReranker",),
        "scored": ("NoReranker",),
    },
)
