from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import Field

from cragraph.errors import ModelError
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search.rerankers.compressor import CompressorReranker
from cragraph.search.rerankers.encoder import WINDOW, EncoderReranker, ReaderScorer

MILL = "The river is cold. The mill opened in 1820. Bread was sold there."
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


@pytest.mark.parametrize("score", [None, 7.3, -2.0, "high", True])
def test_without_usable_scores_the_rank_decides_and_that_is_noted(score: Any) -> None:
    notes = Notes()
    compressor = Compressor(make=lambda d: [scored(d[1], score), scored(d[0], score)])
    found = CompressorReranker(compressor)("q", as_passages(GIVEN), notes)
    assert [(p["text"], p["rerank_score"]) for p in found] == [("two", 1.0), ("one", 0.5)]
    assert notes.sentences == ["Compressor gave no scores in 0..1; rerank scores are by rank."]


def test_a_rewritten_text_chooses_the_passage_but_does_not_replace_it() -> None:
    compressor = Compressor(make=lambda d: [Document(page_content="gist", metadata={**d[1].metadata, "score": 0.5})])
    [found] = CompressorReranker(compressor)("q", as_passages(GIVEN), Notes())
    assert found["text"] == "two"


def test_a_document_without_its_metadata_is_known_by_its_text() -> None:
    compressor = Compressor(make=lambda d: [Document(page_content="three", metadata={"relevance_score": 0.5})])
    [found] = CompressorReranker(compressor)("q", as_passages(GIVEN), Notes())
    assert found["source"] == "three.md"


def test_a_document_that_was_never_given_is_an_error() -> None:
    compressor = Compressor(make=lambda d: [Document(page_content="invented")])
    with pytest.raises(ModelError, match="invented"):
        CompressorReranker(compressor)("q", as_passages(GIVEN), Notes())


def test_a_passage_returned_twice_is_kept_once_at_its_first_rank() -> None:
    compressor = Compressor(make=lambda d: [scored(d[1], 0.8), scored(d[1], 0.2)])
    [found] = CompressorReranker(compressor)("q", as_passages(GIVEN), Notes())
    assert found["rerank_score"] == 0.8


@pytest.mark.parametrize("make", [list, lambda d: []])
def test_nothing_in_or_nothing_out_is_nothing(make: Any) -> None:
    given = as_passages(GIVEN) if make is not list else []
    assert CompressorReranker(Compressor(make=make))("q", given, Notes()) == []


def test_the_encoder_scores_every_pair_under_its_headings() -> None:
    asked: list[tuple[str, str]] = []

    def scorer(pairs: Sequence[tuple[str, str]]) -> list[float]:
        asked.extend(pairs)
        return [0.2, 0.9]

    given = as_passages([{"text": "one", "metadata": {"heading": "Above"}}, "two"])
    found = EncoderReranker(scorer)("q?", given, Notes())
    assert asked == [("q?", "Above\none"), ("q?", "two")]
    assert [(p["text"], p["rerank_score"]) for p in found] == [("two", 0.9), ("one", 0.2)]


def test_the_encoder_joins_its_odds_with_those_of_retrieval() -> None:
    given = as_passages([{"text": "one", "retrieval_score": 0.9}])
    [found] = EncoderReranker(lambda pairs: [0.1])("q", given, Notes())
    assert found["rerank_score"] == pytest.approx(0.5)
    [alone] = EncoderReranker(lambda pairs: [0.1], share=1.0)("q", given, Notes())
    assert alone["rerank_score"] == pytest.approx(0.1)


def test_a_scorer_that_miscounts_is_an_error() -> None:
    with pytest.raises(ModelError, match="1 scores for 3 passages"):
        EncoderReranker(lambda pairs: [0.5])("q", as_passages(GIVEN), Notes())


@dataclass(frozen=True)
class Read:
    answer: float


class FakeReader:
    """Finds an answer in a part that speaks of a mill, and keeps how long the parts were that it read."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def read(self, question: str, texts: Sequence[tuple[str, str]]) -> list[Read]:
        self.sizes += [len(text) for _, text in texts]
        return [Read(2.0 if "mill" in text else -2.0) for _, text in texts]


def test_the_reader_scores_a_passage_by_its_best_part() -> None:
    reader = FakeReader()
    long = "Zebras graze in the sun all day long. " * 40 + MILL
    near, far = ReaderScorer(reader)([("When did the mill open?", long), ("When did the mill open?", "Zebras graze.")])
    assert (near, far) == (pytest.approx(0.881, abs=0.001), pytest.approx(0.119, abs=0.001))
    assert len(reader.sizes) > 2
    assert max(reader.sizes) <= WINDOW + 5


def test_the_encoder_reranker_brings_the_passage_first_that_answers() -> None:
    passages = as_passages(["Zebras graze in the sun.", MILL])
    found = EncoderReranker(ReaderScorer(FakeReader()))("When did the mill open?", passages, Notes())
    assert [passage["text"] for passage in found] == [MILL, "Zebras graze in the sun."]


def test_another_reranker_may_go_first_and_its_scores_count_beside_the_models() -> None:
    passages = as_passages(["Zebras graze in the sun.", "The mill opened in 1820."])
    first = EncoderReranker(lambda pairs: [0.9 if "mill" in passage else 0.1 for _, passage in pairs], share=1.0)
    found = EncoderReranker(lambda pairs: [0.5 for _ in pairs], 0.2, first)("mill", passages, Notes())
    assert [passage["text"] for passage in found] == [passages[1]["text"], passages[0]["text"]]
    assert found[0]["rerank_score"] == pytest.approx(0.853, abs=1e-3)  # 0.8 of the first one's odds
