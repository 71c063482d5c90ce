from dataclasses import replace

import pytest

from cragraph.generation.candidates import candidates
from cragraph.generation.questions import read_question
from cragraph.generation.scoring import Features, by_words, coverage, mistaken
from cragraph.passages import as_passages

GOOD = Features(coverage=0.8, similarity=0.7, kind=1.0, passage_score=0.5)


@pytest.mark.parametrize("feature", ["coverage", "similarity", "kind", "passage_score"])
def test_every_feature_counts(feature: str) -> None:
    assert by_words(replace(GOOD, **{feature: 0.0})) < by_words(GOOD)


def test_a_perfect_sentence_scores_one() -> None:
    assert by_words(Features(1.0, 1.0, 1.0, 1.0)) == pytest.approx(1.0)


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
