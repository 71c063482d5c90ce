from dataclasses import replace

import pytest

from cragraph.answers.scoring import Features, by_words, coverage

GOOD = Features(coverage=0.8, similarity=0.7, passage_score=0.5)


@pytest.mark.parametrize("feature", ["coverage", "similarity", "passage_score"])
def test_every_feature_counts(feature: str) -> None:
    assert by_words(replace(GOOD, **{feature: 0.0})) < by_words(GOOD)


def test_a_perfect_sentence_scores_one() -> None:
    assert by_words(Features(1.0, 1.0, 1.0)) == pytest.approx(1.0)


def test_coverage_is_the_weighted_share_of_words_found() -> None:
    assert coverage({"zinc": 3.0, "plant": 1.0}, {"zinc": 1.0}) == 0.75
    assert coverage({"zinc": 3.0, "plant": 1.0}, {"zinc": 0.5, "plant": 1.0}) == 0.625
    assert coverage({}, {"zinc": 1.0}) == 0.0
