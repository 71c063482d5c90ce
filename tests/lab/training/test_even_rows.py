"""Rows are chosen so that shared words alone do not tell what follows, or answers, from what does not."""

import numpy as np
import pytest

from cragraph.models.grounding_features import PieceReader, open_reader
from cragraph.models.weights import DATA
from lab.training.judge.metrics import auroc
from lab.training.reading.prepare import chosen, covered, evenly


@pytest.fixture(scope="module")
def read() -> PieceReader:
    return open_reader(DATA)


def table(read: PieceReader, pairs: list[tuple[str, str]]) -> dict[str, np.ndarray]:
    """Arrays of some pairs, the tag of each piece of the first text its number."""
    texts = [tuple(part.ids for part in read.read(pair)) for pair in pairs]
    return {
        "ids": np.concatenate([ids for pair in texts for ids in pair]).astype(np.uint16),
        "sizes": np.array([[len(ids) for ids in pair] for pair in texts], np.int32),
        "tags": np.concatenate([np.arange(len(first)) for first, _ in texts]),
        "labels": np.arange(len(pairs)),
    }


def test_what_is_covered_is_the_share_of_words_in_any_form(read: PieceReader) -> None:
    pairs = [
        ("The mill burned.", "The mill burns down."),
        ("The mill burned.", "Bread is sold."),
        ("The mill burned.", "The mill stands."),
    ]
    whole, none, some = covered(table(read, pairs), read)
    assert whole == pytest.approx(1.0)
    assert none < 0.1 < some < 0.9


def test_rows_are_left_out_until_the_share_of_words_gives_nothing_away() -> None:
    rng = np.random.default_rng(0)
    shares = rng.random(4000)
    yes = rng.random(4000) < shares
    kept = evenly(shares, yes, rng)
    assert auroc(shares, yes) > 0.75
    assert abs(auroc(shares[kept], yes[kept]) - 0.5) < 0.03
    assert yes[kept].mean() == 0.5
    assert (np.diff(kept) > 0).all()
    assert len(kept) > 1500


def test_rows_that_are_kept_are_kept_whole(read: PieceReader) -> None:
    pairs = [("One mill.", "Two mills burned."), ("A river rose in May.", "It rose."), ("Bread.", "Salt and bread.")]
    every = table(read, pairs)
    some = chosen(every, np.array([0, 2]), 0)
    again = table(read, [pairs[0], pairs[2]])
    assert some["labels"].tolist() == [0, 2]
    for name in ("ids", "sizes", "tags"):
        assert some[name].tolist() == again[name].tolist()
