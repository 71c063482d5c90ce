"""What is read closely: the surroundings of the likeliest places, each once."""

from collections.abc import Sequence

import pytest

from cragraph.generation.ranking import CLOSE, MOST_WINDOWS, AnswerRanker
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader, ReadText
from cragraph.passages import as_passages

HARBOUR = (
    "The harbour was dug in 1871. Its wall was raised in 1894 after the flood. The keys are with Ada Cole. "
    + "Fish is sold on the quay every morning before the boats go out again. " * 12
    + "The crane was built by Holm and Sons. It lifts nine tonnes."
)


class Recorder(Reader):
    """Reads as the reader does, and remembers what it was given: first the passages, then what is read closely."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.first: list[tuple[str, str]] = []
        self.close: list[tuple[str, str]] = []

    def read(self, question: str, texts: Sequence[tuple[str, str]]) -> list[ReadText]:
        kept = self.close if self.first else self.first
        kept += texts
        return super().read(question, texts)


@pytest.fixture
def reader() -> Recorder:
    return Recorder()


@pytest.fixture
def ranker(reader: Recorder) -> AnswerRanker:
    return AnswerRanker(reader, EmbeddedEncoder(threads=1))


def test_candidates_that_stand_together_are_read_once_and_not_with_what_stands_far(
    ranker: AnswerRanker, reader: Recorder
) -> None:
    ranking = ranker("When was the harbour wall raised?", as_passages([HARBOUR]))
    assert ranking.scored[0].candidate.text == "Its wall was raised in 1894 after the flood."
    around = [text for _, text in reader.close if "raised in 1894" in text]
    assert len(around) == 1
    assert around[0].startswith("The harbour was dug in 1871.")
    assert "crane" not in around[0]
    assert all(len(text) <= CLOSE for _, text in reader.close)
    assert len(reader.close) == len(set(reader.close))


def test_what_was_read_closely_is_in_the_features_and_finds_the_words_that_answer(ranker: AnswerRanker) -> None:
    best = ranker("Who built the crane?", as_passages([HARBOUR])).scored[0]
    assert {"close answer", "close span", "close evidence"} <= set(best.features)
    assert "Holm" in best.answer
    assert best.answer in best.candidate.text


def test_rows_of_a_table_are_read_apart_from_sentences(ranker: AnswerRanker, reader: Recorder) -> None:
    table = "| Boat | Length |\n| --- | --- |\n| Gull | 9 m |\n| Tern | 12 m |\n\nThe Tern was painted green in May."
    ranker("How long is the Tern?", as_passages([table]))
    assert reader.close
    assert not any("| Tern" in text and "painted" in text for _, text in reader.close)


def test_a_sentence_longer_than_what_is_read_closely_is_read_whole(ranker: AnswerRanker, reader: Recorder) -> None:
    long = "The ferry, " + "which carries cattle and carts to the far side, " * 9 + "was rebuilt in 1894."
    ranker("When was the ferry rebuilt?", as_passages([f"{long} Dogs are welcome."]))
    assert long in {text for _, text in reader.close}


def test_rows_that_share_the_questions_words_do_not_crowd_out_a_better_passage(
    ranker: AnswerRanker, reader: Recorder
) -> None:
    rows = [f"duty: rota {n} | charge: none | clerk: free" for n in range(40)]
    ranker("Who is in charge of the duty rota?", as_passages(["The list is looked after by Lionel Fearn.", *rows]))
    assert len(reader.first) == MOST_WINDOWS
    assert "Lionel Fearn" in reader.first[0][1]


def test_of_a_long_passage_the_parts_with_the_questions_words_are_read(ranker: AnswerRanker, reader: Recorder) -> None:
    long = " ".join(f"On day {n} fish was sold on the quay before the boats went out again." for n in range(150))
    ranker("Who built the crane?", as_passages([f"{long} The crane was built by Holm and Sons.", "Gulls nest here."]))
    assert len(reader.first) == MOST_WINDOWS
    assert any("Holm" in text for _, text in reader.first)
    assert any("Gulls" in text for _, text in reader.first)
