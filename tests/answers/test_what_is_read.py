"""What the reader reads: parts of passages, and question and answer as one claim at the likeliest places."""

from collections.abc import Sequence

import pytest

from cragraph.answers.candidates import candidates
from cragraph.answers.parts import MOST_WINDOWS, WINDOW
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


def test_what_supports_question_and_answer_is_higher_for_the_right_answer(ranker: AnswerRanker) -> None:
    ranking = ranker("Who built the crane?", as_passages([HARBOUR]))
    best, *others = ranking.scored
    assert "Holm" in best.answer
    assert best.answer in best.candidate.text
    assert all(best.features["told"] > other.features["told"] for other in others)


def test_rows_of_a_table_are_read_apart_from_sentences(ranker: AnswerRanker, reader: Recorder) -> None:
    table = "boat: Gull | length: 9 m\nboat: Tern | length: 12 m\n\nThe Tern was painted green in May."
    ranker("How long is the Tern?", as_passages([table]))
    assert any("boat: Tern" in text for _, text in reader.parts)
    assert not any("boat: Tern" in text and "painted" in text for _, text in reader.parts)


def test_a_sentence_longer_than_a_part_is_read_whole(ranker: AnswerRanker, reader: Recorder) -> None:
    long = "The ferry, " + "which carries cattle and carts to the far side, " * 9 + "was rebuilt in 1894."
    assert len(long) > WINDOW
    ranker("When was the ferry rebuilt?", as_passages([f"{long} Dogs are welcome."]))
    assert long in {text for _, text in reader.parts}


def test_rows_that_share_the_questions_words_do_not_crowd_out_a_better_passage(
    ranker: AnswerRanker, reader: Recorder
) -> None:
    rows = [f"duty: rota {n} | charge: none | clerk: free" for n in range(40)]
    ranker("Who is in charge of the duty rota?", as_passages(["The list is looked after by Lionel Fearn.", *rows]))
    assert len(reader.parts) == MOST_WINDOWS
    assert "Lionel Fearn" in reader.parts[0][1]


def test_of_a_long_passage_the_parts_with_the_questions_words_are_read(ranker: AnswerRanker, reader: Recorder) -> None:
    long = " ".join(f"On day {n} fish was sold on the quay before the boats went out again." for n in range(150))
    ranker("Who built the crane?", as_passages([f"{long} The crane was built by Holm and Sons.", "Gulls nest here."]))
    assert len(reader.parts) == MOST_WINDOWS
    assert any("Holm" in text for _, text in reader.parts)
    assert any("Gulls" in text for _, text in reader.parts)


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


def test_whoever_asks_about_certain_sentences_has_them_all_read(reader: Recorder) -> None:
    passages = as_passages([*LODGE, MONEY])
    AnswerRanker(reader, EmbeddedEncoder(threads=1), read=3)("Who?", passages, candidates(passages), whole=True)
    assert len(reader.parts) > len(LODGE)


def test_everything_is_read_where_nothing_can_be_compared(reader: Recorder) -> None:
    class Failing(EmbeddedEncoder):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise ConnectionError("the server is away")

    ranking = AnswerRanker(reader, Failing(threads=1), read=3)(
        "Who takes care of the money?", as_passages([*LODGE, MONEY])
    )
    assert len(reader.parts) > 3
    assert "the server is away" in ranking.degraded
