"""Rerankers of other libraries: any LangChain document compressor, cross-encoders, and plug-ins, by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, cast

from cragraph import plugins
from cragraph.choices import COMPRESSORS, COMPRESSORS_NAMED
from cragraph.errors import ModelError, SettingsError
from cragraph.passages import contextual_text
from cragraph.private import untold
from cragraph.protocols import Notes, Reranker
from cragraph.search.rerankers import logistic, ranked, with_score
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.documents import BaseDocumentCompressor, Document

ALL: Final = 10_000  # documents that a compressor returns at most: by default each keeps only the best three
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
        """The title, else the compressor's class."""
        return self.title or type(self.compressor).__name__

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies of the passages that it kept, in its order. Raises ModelError if it returned a foreign document."""
        from langchain_core.documents import Document

        if not passages:
            return []
        # A document's own field "score" must not be taken for the compressor's score.
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


@dataclass(frozen=True)
class CrossEncoderReranker:
    """Scores (question, passage) pairs with a LangChain cross-encoder, as LangChain's compressor drops the scores.

    Scores outside 0..1 are taken as log-odds.
    """

    encoder: Any
    name: str

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with their `rerank_score`, best first; ModelError if the model gave not one score per pair."""
        scores = [float(s) for s in self.encoder.score([(query, contextual_text(p)) for p in passages] or [])]
        if len(scores) != len(passages):
            raise ModelError(
                f"the reranker {self.name!r} gave {len(scores)} scores for {len(passages)} passages; wanted one each: "
                "check its model."
            )
        within = all(0.0 <= score <= 1.0 for score in scores)
        return ranked(passages, scores if within else map(logistic, scores))


def named_reranker(spec: str) -> Reranker:
    """The reranker of a name, its model loaded.

    Raises SettingsError for an unknown name or model, ModelError if a package is missing.
    """
    name, _, model = spec.partition(":")
    if name not in COMPRESSORS:
        return brought_reranker(spec)
    untold()
    try:
        if name == "cross-encoder":
            from langchain_community.cross_encoders import HuggingFaceCrossEncoder

            return CrossEncoderReranker(HuggingFaceCrossEncoder(**({"model_name": model} if model else {})), spec)
        if name == "cohere":
            from langchain_cohere import CohereRerank as Compressor
        else:
            from langchain_community.document_compressors import FlashrankRerank as Compressor
        return CompressorReranker(Compressor(top_n=ALL, **({"model": model} if model else {})), spec)
    except ImportError as error:
        raise ModelError(
            f"the reranker {spec!r} needs a package that is not installed ({_first_line(error)}): run "
            f"`pip install {COMPRESSORS[name]}`."
        ) from error
    except Exception as error:  # unknown model, no key: each library raises its own error
        raise SettingsError(
            f"the reranker {spec!r} cannot be built ({_first_line(error)}): correct the name of its model, or set what "
            "it asks for, such as its key."
        ) from error


def brought_reranker(spec: str) -> Reranker:
    """The reranker that an installed package brings; raises SettingsError if there is none, or it is no reranker."""
    own = plugins.made("rerankers", spec)
    if hasattr(own, "compress_documents"):
        return CompressorReranker(own, spec)
    if not callable(own):
        raise SettingsError(
            f"the reranker {spec!r} came as a {type(own).__name__}; wanted a LangChain BaseDocumentCompressor or "
            f"one of {', '.join(COMPRESSORS_NAMED)}: install the package that brings it, or correct the name."
        )
    return cast(Reranker, own)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0].rstrip(".")
