import numpy as np
import pytest

from cragraph.models.grounding import Blend, blended
from cragraph.models.grounding_features import (
    MAX_SENTENCE,
    PieceReader,
    digest,
    open_reader,
    overlap,
    read_corpus,
    sentences,
)
from cragraph.models.weights import DATA, weights

PASSAGES = ["The mill burned down in 1901. Its owner was Ada Cole.", "Bread is sold at noon. The river rose in May."]


@pytest.fixture(scope="module")
def reader() -> PieceReader:
    return open_reader(DATA)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Who met J. Smith. They left.", ["Dr. Who met J. Smith.", "They left."]),
        ("Title\n\nBody text", ["Title", "Body text"]),
        ("It rose 3.5 percent.", ["It rose 3.5 percent."]),
        ("  \n ", []),
    ],
)
def test_sentences_are_cut_at_their_ends_with_exact_offsets(text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in sentences(text)] == expected


def test_a_text_without_ends_is_cut_at_spaces() -> None:
    text = "word " * 300
    cuts = sentences(text)
    assert all(b - a <= MAX_SENTENCE for a, b in cuts)
    assert "".join(text[a:b] for a, b in cuts).replace(" ", "") == "word" * 300


def test_a_digest_takes_the_sentences_that_together_cover_the_claim_first(reader: PieceReader) -> None:
    corpus = read_corpus(reader, PASSAGES)
    [claim] = reader.read(["The mill of Ada Cole burned down and the river rose."])
    chosen = digest(overlap(reader, claim, corpus), corpus, budget=24)
    held = {PASSAGES[p][a:b] for p, a, b in (corpus.spans[i] for i in chosen)}
    assert held == {"The mill burned down in 1901.", "Its owner was Ada Cole.", "The river rose in May."}


def test_a_digest_stays_within_its_budget_and_takes_everything_that_fits(reader: PieceReader) -> None:
    corpus = read_corpus(reader, PASSAGES)
    [claim] = reader.read(["The river rose."])
    table = overlap(reader, claim, corpus)
    assert sorted(digest(table, corpus, budget=1000)) == [0, 1, 2, 3]
    assert len(corpus.pieces_of(digest(table, corpus, budget=12))) <= 12


def test_the_blend_rises_with_both_opinions_falls_with_an_objection_and_stays_a_probability() -> None:
    blend = Blend.from_card(weights("grounding").card["blend"])
    low, middle, high = (blend.support(*pair, objected=False) for pair in ((0.2, -2.0), (0.6, -2.0), (0.6, 2.0)))
    assert 0 <= low < middle < high <= 1
    assert blend.support(0.6, 2.0, objected=True) < high
    assert np.isfinite(blended(np.array([0.0, 1.0]), np.array([0.0, 0.0]), 0.4, 0.001)).all()
