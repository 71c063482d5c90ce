from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import Field

from cragraph.errors import ModelError
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search.rerankers import CompressorReranker

GIVEN = [{"text": text, "source": f"{text}.md", "metadata": {"year": 2020}} for text in ("one", "two", "three")]


class Compressor(BaseDocumentCompressor):
    """Returns what a function makes of the documents."""

    make: Any
    seen: list[Any] = Field(default_factory=list)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        self.seen.append((query, [d.metadata["source"] for d in documents]))
        return list(self.make(list(documents)))


def scored(document: Document, score: Any) -> Document:
    return Document(page_content=document.page_content, metadata={**document.metadata, "relevance_score": score})


def test_a_compressors_order_and_scores_are_taken_over() -> None:
    notes = Notes()
    compressor = Compressor(make=lambda d: [scored(d[2], 0.9), scored(d[0], 0.4)])
    found = CompressorReranker(compressor)("which?", as_passages(GIVEN), notes)
    assert [(p["text"], p["rerank_score"]) for p in found] == [("three", 0.9), ("one", 0.4)]
    assert found[0]["metadata"]["year"] == 2020
    assert "_cragraph_position" not in found[0]["metadata"]
    assert compressor.seen == [("which?", ["one.md", "two.md", "three.md"])]
    assert notes.sentences == []
    assert CompressorReranker(compressor).name == "Compressor"


def test_a_document_that_was_never_given_is_an_error() -> None:
    compressor = Compressor(make=lambda d: [Document(page_content="invented")])
    with pytest.raises(ModelError, match="invented"):
        CompressorReranker(compressor)("q", as_passages(GIVEN), Notes())
