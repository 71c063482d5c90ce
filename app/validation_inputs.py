"""Chunks and embedding models of other libraries, read as ours."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.embeddings import Embeddings

from cragraph.errors import InputError
from cragraph.passages import as_passages
from cragraph.types import Passage


def as_texts(chunks: Iterable[Any]) -> list[Passage]:
    """Passages from strings, mappings, LangChain documents, objects with text and metadata, or nodes with a score."""
    if isinstance(chunks, str) or not isinstance(chunks, Iterable):
        raise InputError(f"chunks came as one {type(chunks).__name__}; wanted a list of chunks: put it in a list.")
    return as_passages([_plain(chunk) for chunk in chunks])


def _plain(chunk: Any) -> Any:
    """A chunk as `as_passages` reads it; a LlamaIndex node's text, metadata and score are taken out of it."""
    node = getattr(chunk, "node", chunk)
    if isinstance(node, str | dict) or isinstance(getattr(node, "page_content", None), str):
        return node
    text = getattr(node, "text", None)
    if not isinstance(text, str) and callable(getattr(node, "get_content", None)):
        text = node.get_content()
    if not isinstance(text, str):
        return node
    metadata = dict(getattr(node, "metadata", None) or {})
    score = getattr(chunk, "score", None)
    if isinstance(score, int | float) and not isinstance(score, bool):
        metadata.setdefault("retrieval_score", min(max(float(score), 0.0), 1.0))
    return {**metadata, "text": text}


@dataclass(frozen=True)
class AdaptedEmbeddings(Embeddings):
    """Another library's embedding model as LangChain's."""

    embed: Callable[[list[str]], Any]
    name: str

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text."""
        return [[float(value) for value in vector] for vector in self.embed(texts)]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        return self.embed_documents([text])[0]


def as_embeddings(model: Any) -> Embeddings:
    """An embedding model by its methods: LangChain's, LlamaIndex's or sentence-transformers'.

    Raises InputError for anything else.
    """
    if isinstance(model, Embeddings) or callable(getattr(model, "embed_documents", None)):
        return cast(Embeddings, model)
    for method in ("get_text_embedding_batch", "encode"):
        if callable(getattr(model, method, None)):
            return AdaptedEmbeddings(getattr(model, method), type(model).__name__)
    raise InputError(
        f"the embedding model is a {type(model).__name__} without embed_documents, get_text_embedding_batch or encode; "
        "wanted an embedding model of LangChain, LlamaIndex or sentence-transformers: or leave it out for the "
        "embedded one."
    )
