"""What a network learns to read in place of long passages."""

import pytest

from cragraph.models.grounding_features import PieceReader, open_reader
from cragraph.models.weights import DATA
from lab.training.judge.digest import digest, overlap, read_corpus

PASSAGES = ["The mill burned down in 1901. Its owner was Ada Cole.", "Bread is sold at noon. The river rose in May."]


@pytest.fixture(scope="module")
def reader() -> PieceReader:
    return open_reader(DATA)


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
