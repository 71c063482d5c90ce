"""The reranker that compares stretches in meaning: what answers in other words comes forward, and nothing is lost."""

from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search.rerankers import FIRST, LexicalReranker, NearestReranker
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage

MONEY = "Who looks after the money?"
TREASURER = (
    "The hall was painted in May, and the roof was mended by two men from Hesk. Ann Poole is our treasurer. "
    "Boats leave from the lower jetty at nine."
)
BOX = "Nobody looks after the bicycles behind the hall. The money box by the door is for the lifeboat."


def scored(*texts: str, score: float = 0.3) -> list[Passage]:
    return as_passages([{"text": t, "chunk_id": str(n), "retrieval_score": score} for n, t in enumerate(texts)])


def order(found: list[Passage]) -> list[str]:
    return [passage["chunk_id"] for passage in found]


class Failing(HashEmbeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise ConnectionError("the server is away")


def test_a_sentence_that_answers_in_other_words_brings_its_passage_forward() -> None:
    ground = "The ground is level. " * 12
    to_cancel = "To call off a reservation, write to the office two days before."
    passages = scored("Each booking gets a number.", ground + to_cancel)
    question = "How do I cancel my booking?"
    assert order(LexicalReranker()(question, passages, Notes())) == ["0", "1"]
    assert order(NearestReranker(EmbeddedEncoder())(question, passages, Notes())) == ["1", "0"]


def test_no_passage_is_lost_and_what_was_not_compared_stands_behind() -> None:
    passages = scored(*(f"Room {n} has a stove. {TREASURER if n == 3 else BOX}" for n in range(FIRST + 5)))
    notes = Notes()
    found = NearestReranker(EmbeddedEncoder())(MONEY, passages, notes)
    assert sorted(order(found)) == sorted(order(passages))
    scores = [passage["rerank_score"] or 0.0 for passage in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    compared = set(order(LexicalReranker()(MONEY, passages, Notes()))[:FIRST])
    assert set(order(found)[:FIRST]) == compared
    assert not notes.sentences


def test_a_model_that_fails_is_said_and_words_order() -> None:
    notes = Notes()
    passages = scored(TREASURER, BOX)
    assert NearestReranker(Failing())(MONEY, passages, notes) == LexicalReranker()(MONEY, passages, Notes())
    assert "the server is away" in " ".join(notes.sentences)
