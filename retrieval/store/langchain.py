"""A store as a LangChain vector store, to read from."""

from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from cragraph.retrieval.store.store import Store


class StoreVectors(VectorStore):
    """Searches a store by meaning; what is to go in goes through `Store.add` or `ingest`."""

    def __init__(self, store: "Store", embeddings: "Embeddings") -> None:
        self._store, self._embeddings = store, embeddings

    @property
    def embeddings(self) -> "Embeddings":
        """The model of the store."""
        return self._embeddings

    def similarity_search(
        self, query: str, k: int = 4, filter: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Document]:
        """The `k` documents nearest in meaning; `filter` is a `where` of the store."""
        return [document for document, _ in self.similarity_search_with_score(query, k, filter)]

    def similarity_search_with_score(
        self, query: str, k: int = 4, filter: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """The `k` documents nearest in meaning, each with its cosine."""
        found = self._store.dense(query, k, filter)
        return [(_document(passage), passage["retrieval_score"] or 0.0) for passage in found]

    def get_by_ids(self, ids: Any, /) -> list[Document]:
        """The documents with these ids."""
        return [_document(passage) for passage in self._store.get(list(ids))]

    @classmethod
    def from_texts(cls, *args: Any, **kwargs: Any) -> "StoreVectors":
        """Not for writing."""
        raise NotImplementedError("a store is filled by cragraph ingest, or by Store.add.")

    def _select_relevance_score_fn(self) -> Any:
        return lambda cosine: cosine


def _document(passage: Passage) -> Document:
    own = {key: passage[key] for key in ("doc_id", "chunk_index", "start_index", "source", "filename", "page")}
    return Document(id=passage["chunk_id"], page_content=passage["text"], metadata={**passage["metadata"], **own})
