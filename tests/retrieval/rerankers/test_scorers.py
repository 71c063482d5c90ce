from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.retrieval.rerankers.encoder import EncoderReranker, GroundingScorer, SentenceScorer, windows_of
from cragraph.testing.embeddings import HashEmbeddings

MILL = "The river is cold. The mill opened in 1820. Bread was sold there."


@dataclass(frozen=True)
class Found:
    supported: float


class FakeGrounder:
    """Supports a pair as far as its passage is long."""

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Found]:
        return [Found(min(1.0, len(passage) / 100)) for _, passage in pairs]


def test_a_passage_is_as_close_as_its_closest_two_sentences() -> None:
    scorer = SentenceScorer(HashEmbeddings(64))
    asked = "The mill opened in 1820. Bread was sold there."
    close, far, empty = scorer([(asked, MILL), (asked, "Zebras graze."), (asked, "")])
    assert close > 0.99
    assert far < 0.5
    assert empty == 0.0


def test_each_text_is_embedded_once() -> None:
    embeddings = HashEmbeddings(64)
    SentenceScorer(embeddings)([("Which mill?", MILL), ("Which mill?", MILL)])
    assert len(embeddings.asked) == len(set(embeddings.asked)) == 4
    assert SentenceScorer(embeddings)([]) == []


def test_windows_are_sentences_with_the_next_one() -> None:
    assert windows_of(MILL) == [
        "The river is cold. The mill opened in 1820.",
        "The mill opened in 1820. Bread was sold there.",
        "Bread was sold there.",
    ]
    assert windows_of("") == []


def test_the_grounding_scorer_takes_the_model_at_its_word() -> None:
    assert GroundingScorer(FakeGrounder())([("q", "x" * 50), ("q", "x" * 200)]) == [pytest.approx(0.5), 1.0]


def test_the_encoder_reranker_brings_the_passage_with_the_closest_sentence_first() -> None:
    passages = as_passages(["Zebras graze in the sun.", MILL])
    found = EncoderReranker(SentenceScorer(HashEmbeddings(64)))("The mill opened in 1820.", passages, Notes())
    assert [passage["text"] for passage in found] == [MILL, "Zebras graze in the sun."]


def test_another_reranker_may_go_first_and_its_scores_count_beside_the_models() -> None:
    passages = as_passages(["Zebras graze in the sun.", "The mill opened in 1820."])
    first = EncoderReranker(lambda pairs: [0.9 if "mill" in passage else 0.1 for _, passage in pairs], share=1.0)
    found = EncoderReranker(lambda pairs: [0.5 for _ in pairs], 0.2, first)("mill", passages, Notes())
    assert [passage["text"] for passage in found] == [passages[1]["text"], passages[0]["text"]]
    assert found[0]["rerank_score"] == pytest.approx(0.853, abs=1e-3)  # 0.8 of the first one's odds
