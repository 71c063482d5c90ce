from dataclasses import replace

import pytest

from cragraph.generation.candidates import candidates
from cragraph.generation.questions import read_question
from cragraph.generation.scoring import Features, by_words, coverage, mistaken, novelty, question_weights, rarity
from cragraph.passages import as_passages
from cragraph.text.words import content_words

GOOD = Features(coverage=0.8, similarity=0.7, kind=1.0, novelty=1.0, passage_score=0.5)


@pytest.mark.parametrize(
    ("sentence", "share"),
    [
        ("The bridge was opened.", 0.0),
        ("The bridge opened in May.", 0.75),
        ("The mayor opened it in May.", 1.0),
    ],
)
def test_only_what_the_question_does_not_say_is_news(sentence: str, share: float) -> None:
    assert novelty(content_words("When was the bridge opened?"), content_words(sentence)) == share


@pytest.mark.parametrize("feature", ["coverage", "similarity", "kind", "novelty", "passage_score"])
def test_every_feature_counts(feature: str) -> None:
    assert by_words(replace(GOOD, **{feature: 0.0})) < by_words(GOOD)


def test_a_perfect_sentence_scores_one_and_a_mere_restatement_half() -> None:
    perfect = Features(1.0, 1.0, 1.0, 1.0, 1.0)
    assert by_words(perfect) == pytest.approx(1.0)
    assert by_words(replace(perfect, novelty=0.0)) == pytest.approx(0.5)


def test_rare_words_of_the_question_count_more_and_the_noun_asked_for_less() -> None:
    rare = rarity([["plant", "open"], ["plant", "zinc"], ["plant"]])
    weights = question_weights(read_question("Which plant smelts zinc?"), rare)
    assert weights["zinc"] > weights["plant"]
    assert weights["smelt"] > weights["zinc"]
    assert weights["plant"] == pytest.approx(rare["plant"] / 2)


def test_coverage_is_the_weighted_share_of_words_found() -> None:
    assert coverage({"zinc": 3.0, "plant": 1.0}, {"zinc": 1.0}) == 0.75
    assert coverage({"zinc": 3.0, "plant": 1.0}, {"zinc": 0.5, "plant": 1.0}) == 0.625
    assert coverage({}, {"zinc": 1.0}) == 0.0


@pytest.mark.parametrize(
    ("question", "text", "somebody_else"),
    [
        ("How old is Dario Benn?", "On board: Dario Benn (helm), Tamsin Rook, aged 16 (crew)", True),
        ("How old is Tamsin Rook?", "On board: Dario Benn (helm), Tamsin Rook, aged 16 (crew)", False),
        ("How old is Tamsin?", "Tamsin Rook (16) and Joe Bell (19) came by train.", False),
        ("How old is the church?", "The church of Saint Ann, 300 years old, stands on a hill.", False),
    ],
)
def test_the_age_of_somebody_else_is_no_answer(question: str, text: str, somebody_else: bool) -> None:
    [candidate] = candidates(as_passages([text]))
    assert mistaken(read_question(question), candidate) is somebody_else
