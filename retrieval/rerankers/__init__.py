"""Rerankers: score passages against the question."""

from collections.abc import Callable, Mapping
from typing import Final

from cragraph.protocols import Reranker
from cragraph.retrieval.rerankers.compressor import CompressorReranker
from cragraph.retrieval.rerankers.encoder import EncoderReranker
from cragraph.retrieval.rerankers.lexical import LexicalReranker
from cragraph.retrieval.rerankers.scored import NoReranker

RERANKERS: Final[Mapping[str, Callable[[], Reranker]]] = {"none": NoReranker, "lexical": LexicalReranker}
"""Those that need nothing to be made. `EncoderReranker`, `CompressorReranker` and `LLMReranker` (in
`llm`) take the model that they run."""

__all__ = ["RERANKERS", "CompressorReranker", "EncoderReranker", "LexicalReranker", "NoReranker"]
