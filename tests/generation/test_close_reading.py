"""What is read closely: the surroundings of the likeliest places, each once."""

from collections.abc import Sequence

import pytest

from cragraph.generation.ranking import CLOSE, AnswerRanker
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader, ReadText
from cragraph.passages import as_passages

HARBOUR = (
    "The harbour was dug in 1871. Its wall was raised in 1894 after the flood. The keys are with Ada Cole. "
    + "Fish is sold on the quay every morning before the boats go out again. " * 12
    + "The crane was built by Holm and Sons. It lifts nine tonnes."
)


class Recorder(Reader):
    """Reads as the reader does, and remembers what it was given to read closely."""

    def __init__(self) -> None:
        super().__init__(threads=1)
        self.close: list[tuple[str, str]] = []

    def read(self, question: str, texts: Sequence[tuple[str, str]], *, closely: bool = False) -> list[ReadText]:
        if closely:
            self.close += texts
        return super().read(question, texts, closely=closely)


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


def test_both_networks_read_the_same_pair_and_neither_is_taken_for_the_other(reader: Recorder) -> None:
    pair = [("", "The crane was built by Holm and Sons.")]
    small, large = (reader.read("Who built the crane?", pair, closely=closely)[0] for closely in (False, True))
    assert small.answer != large.answer
    assert reader.read("Who built the crane?", pair)[0] is small
    assert reader.read("Who built the crane?", pair, closely=True)[0] is large
