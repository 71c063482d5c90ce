"""Any LangChain document compressor as a reranker."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Final

from cragraph.errors import ModelError
from cragraph.protocols import Notes
from cragraph.search.rerankers import with_score
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor, Document

_KEY: Final = "_cragraph_position"
_SCORES: Final = ("relevance_score", "score")


@dataclass(frozen=True)
class CompressorReranker:
    """Lets a `BaseDocumentCompressor` order and drop passages, whose texts stay as they are.

    Its `relevance_score` (or `score`) in a document's metadata becomes the `rerank_score` where it is in 0..1;
    otherwise the score falls evenly with the rank, and `notes` says so.
    """

    compressor: "BaseDocumentCompressor"
    title: str = ""

    @property
    def name(self) -> str:
        """The title where it has one, else the compressor's class."""
        return self.title or type(self.compressor).__name__

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies of the passages that it kept, in its order; ModelError where it returned what it was not given."""
        from langchain_core.documents import Document

        if not passages:
            return []
        # A column of the documents' own that is called "score" must not be read as what the compressor found.
        documents = [
            Document(
                page_content=p["text"],
                metadata={k: v for k, v in p["metadata"].items() if k not in _SCORES}
                | {"source": p["source"], _KEY: position},
            )
            for position, p in enumerate(passages)
        ]
        given: dict[int, float | None] = {}
        for document in self.compressor.compress_documents(documents, query):
            given.setdefault(self._position(document, passages), _score(document))
        scores = list(given.values())
        if any(score is None or not 0.0 <= score <= 1.0 for score in scores):
            notes.degraded(f"{self.name} gave no scores in 0..1; rerank scores are by rank.")
            scores = [1.0 - rank / len(given) for rank in range(len(given))]
        return [with_score(passages[position], score or 0.0) for position, score in zip(given, scores, strict=True)]

    def _position(self, document: "Document", passages: Sequence[Passage]) -> int:
        position = document.metadata.get(_KEY)
        if position is None:
            position = next((i for i, p in enumerate(passages) if p["text"] == document.page_content), None)
        if position is None:
            raise ModelError(
                f"{self.name} returned a document that it was not given ({document.page_content[:60]!r}); wanted some "
                "of the passages: use a compressor that keeps metadata or texts."
            )
        return int(position)


def _score(document: "Document") -> float | None:
    values = (document.metadata.get(key) for key in _SCORES)
    return next((float(v) for v in values if isinstance(v, Real) and not isinstance(v, bool)), None)
