"""Any answer is scored by what the passages say to the question."""

import pytest

from cragraph.answers.answered import ReaderScorer, copies
from cragraph.answers.ranking import AnswerRanker
from cragraph.language.words import normalised
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.models.reader import Reader
from cragraph.passages import as_passages
from cragraph.protocols import Notes

PASSAGES = as_passages(
    [
        "The bakery on Mill Street opens at 6 in the morning. Fresh bread is baked twice a day by Anna Keller.",
        "The library is closed on Mondays. Its reading room has forty seats.",
    ]
)
QUESTION = "When does the bakery open?"
QUOTED = "The bakery on Mill Street opens at 6 in the morning. [1]"


@pytest.fixture(scope="module")
def scorer() -> ReaderScorer:
    return ReaderScorer(AnswerRanker(Reader(threads=1), EmbeddedEncoder(threads=1)))


def probability(scorer: ReaderScorer, question: str, answer: str) -> float:
    found = scorer(question, answer, PASSAGES, Notes()).probability
    assert found is not None
    return found


def test_a_quotation_points_at_the_words_that_answer(scorer: ReaderScorer) -> None:
    [span] = scorer(QUESTION, QUOTED, PASSAGES, Notes()).spans
    text = PASSAGES[span["passage"]]["text"]
    assert (span["passage"], text[span["start"] : span["end"]]) == (0, span["text"])
    assert "6" in span["text"]


SURGERY = as_passages(
    [
        "Pet plan: a dog costs 14.50 a month. The plan includes the yearly booster, flea and worm treatment, two nail "
        "clips by a nurse, and 10 per cent off food. Dental work is left out.",
        "The surgery is open from eight. Bring the vaccination card. Parking is behind the house..",
    ]
)


@pytest.mark.parametrize("answer", ["The surgery is open from eight.", "Parking is behind the house. [2]"])
def test_a_sentence_of_the_passages_that_nobody_would_choose_is_a_quotation_that_does_not_answer(
    scorer: ReaderScorer, answer: str
) -> None:
    found = scorer("What do I get for the monthly pet plan?", answer, SURGERY, Notes())
    assert found.quoted
    assert found.probability is not None
    assert found.probability < 0.3
    assert found.seen["found"] == scorer("What do I get for the monthly pet plan?", "x", SURGERY, Notes()).seen["found"]


def test_an_answer_that_says_more_than_the_passages_is_no_copy_of_them() -> None:
    own = "The surgery is open from eight."
    assert [c.text for c in copies(normalised(own), SURGERY)] == [own]
    assert copies(normalised(f"{own} Nobody minds dogs."), SURGERY) == []
    assert copies(normalised("It opens at eight."), SURGERY) == []
    assert copies("", SURGERY) == []
