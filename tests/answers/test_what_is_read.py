"""What the reader reads: parts of passages, and question and answer as one claim at the likeliest places."""

from collections.abc import Sequence

import pytest

from cragraph.answers.parts import MOST_WINDOWS
from cragraph.answers.ranking import JUDGED, AnswerRanker
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Key, Reader, ReadText
from cragraph.passages import as_passages

HARBOUR = (
    "The harbour was dug in 1871. Its wall was raised in 1894 after the flood. The keys are with Ada Cole. "
    + "Fish is sold on the quay every morning before the boats go out again. " * 12
    + "The crane was built by Holm and Sons. It lifts nine tonnes."
)


class Recorder(Reader):
    """Reads as the reader does, and remembers what it was given: parts of passages, then claims at the best places."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.parts: list[tuple[str, str]] = []
        self.claims: list[Key] = []

    def read(self, question: str, texts: Sequence[tuple[str, str]]) -> list[ReadText]:
        self.parts += texts
        return super().read(question, texts)

    def supports(self, claims: Sequence[Key]) -> list[float]:
        self.claims += claims
        return super().supports(claims)


@pytest.fixture
def reader() -> Recorder:
    return Recorder()


@pytest.fixture
def ranker(reader: Recorder) -> AnswerRanker:
    return AnswerRanker(reader, EmbeddedEncoder(threads=1))


def test_question_and_answer_are_judged_together_where_the_answer_stands(
    ranker: AnswerRanker, reader: Recorder
) -> None:
    question = "When was the harbour wall raised?"
    best = ranker(question, as_passages([HARBOUR])).scored[0]
    assert best.candidate.text == "Its wall was raised in 1894 after the flood."
    assert [text for said, _, text in reader.claims if said == f"{question} {best.answer}."] == [
        text for _, text in reader.parts if "raised in 1894" in text
    ]
    assert len(reader.claims) == JUDGED
    assert not any("crane" in text for said, _, text in reader.claims if "1894" in said)


def test_rows_that_share_the_questions_words_do_not_crowd_out_a_better_passage(
    ranker: AnswerRanker, reader: Recorder
) -> None:
    rows = [f"duty: rota {n} | charge: none | clerk: free" for n in range(40)]
    ranker("Who is in charge of the duty rota?", as_passages(["The list is looked after by Lionel Fearn.", *rows]))
    assert len(reader.parts) == MOST_WINDOWS
    assert "Lionel Fearn" in reader.parts[0][1]


LODGE = [
    f"Room {n} is painted {colour}. " + "Nothing else is to be said of it, as nobody lives there. " * 5
    for n, colour in enumerate(("red", "blue", "green", "white", "black", "grey", "pink", "brown"))
]
MONEY = "Ann Poole is the treasurer of the lodge and pays its bills. " + "The garden is open from nine to five. " * 9


def test_where_less_is_to_be_read_it_is_what_is_nearest_in_meaning_and_words(reader: Recorder) -> None:
    question = "Who takes care of the money?"
    passages = as_passages([*LODGE, MONEY])
    AnswerRanker(reader, EmbeddedEncoder(threads=1))(question, passages)
    every, reader.parts = len(reader.parts), []
    AnswerRanker(reader, EmbeddedEncoder(threads=1), read=3)(question, passages)
    assert len(reader.parts) == 3 < every
    assert any("treasurer" in text for _, text in reader.parts)
    reader.parts = []
    AnswerRanker(reader, EmbeddedEncoder(threads=1), read=3)("What colour is room 6?", passages)
    assert any("pink" in text for _, text in reader.parts)


def test_everything_is_read_where_nothing_can_be_compared(reader: Recorder) -> None:
    class Failing(EmbeddedEncoder):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise ConnectionError("the server is away")

    ranking = AnswerRanker(reader, Failing(threads=1), read=3)(
        "Who takes care of the money?", as_passages([*LODGE, MONEY])
    )
    assert len(reader.parts) > 3
    assert "the server is away" in ranking.degraded
