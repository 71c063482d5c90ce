"""Similarity of the answer to its question and its passages; texts are embedded once for all signals."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np

from cragraph.language.markers import without_markers
from cragraph.language.words import overlap
from cragraph.models.cache import embedded
from cragraph.protocols import Embeddings, Notes, stand_in
from cragraph.types import Passage
from cragraph.verification.reading import Space, Window, space
from cragraph.verification.result import bare

BY_SIMILARITY: Final = frozenset({"relevance", "faithfulness", "attribution_coverage", "source_agreement"})

Rows = tuple[tuple[float, ...], ...]

LIKELIEST: Final = 3
"""Windows that a claim is compared with: as many as the embedding judge takes, so that they are embedded once."""

NEAR: Final = 0.25
"""Least coverage of another window that a copied claim is compared with: of 165 windows below 0.3 none was more than
0.7 similar, of 104 others 84."""


@dataclass(frozen=True)
class Closeness:
    """Similarities in 0..1.

    `rows[claim][passage]` is the similarity of the claim to its likeliest windows in the passage, 0.0 if none of them
    is there; `whole[claim][passage]` is the similarity to the whole passage, empty if it was not wanted.
    """

    rows: Rows = ()
    question_to_answer: float = 0.0
    whole: Rows = ()

    @property
    def best(self) -> list[float]:
        """Similarity of each claim to its closest window; 0.0 without passages."""
        return [max(row, default=0.0) for row in self.rows]

    @property
    def by_passage(self) -> Rows:
        """Similarity of each claim to each passage: the higher of window and whole passage."""
        if not self.whole:
            return self.rows
        return tuple(tuple(map(max, near, far)) for near, far in zip(self.rows, self.whole, strict=True))


def measure_closeness(
    embeddings: Embeddings | None,
    question: str,
    answer: str,
    claims: Sequence[str],
    passages: Sequence[Passage],
    notes: Notes,
    wanted: Collection[str] = BY_SIMILARITY,
) -> Closeness:
    """The similarities for the wanted signals, by the embedding model, else by shared words with a note."""
    if BY_SIMILARITY.isdisjoint(wanted):
        return Closeness()
    question, whole = question if "relevance" in wanted else "", "source_agreement" in wanted
    bare = [without_markers(claim) for claim in claims]
    instead, closeness = "similarities were measured by shared words", None
    if embeddings is None:
        notes.degraded(f"There is no embedding model; {instead}.")
    else:
        call = partial(by_vectors, embeddings, question, answer, bare, passages, whole=whole)
        closeness = stand_in("The embedding model", call, instead, notes)
    return closeness or by_words(question, answer, bare, [passage["text"] for passage in passages])


def by_words(question: str, answer: str, claims: Sequence[str], texts: Sequence[str]) -> Closeness:
    """Closeness as the share of a claim's content words in a passage, and of the question's in the answer."""
    rows = tuple(tuple(overlap(claim, text) for text in texts) for claim in claims)
    return Closeness(rows, overlap(question, answer), rows)


def by_vectors(
    embeddings: Embeddings,
    question: str,
    answer: str,
    claims: Sequence[str],
    passages: Sequence[Passage],
    *,
    whole: bool = True,
) -> Closeness:
    """Closeness as cosine similarity, negative ones as 0.0; everything is embedded in one call."""
    # The question and the answer are embedded as documents too: they are compared as two statements.
    pair = [question, answer] if question.strip() and answer.strip() else []
    windows = space(claims, passages)
    texts = [passage["text"] for passage in passages] if whole and claims else []
    chosen = [_telling(windows, column, claim, whole=whole) for column, claim in enumerate(claims)]
    pairs = [(claim, window.text) for claim, own in zip(claims, chosen, strict=True) for window in own]
    near = [text for one, other in pairs if bare(one) != bare(other) for text in (one, other)]
    vectors = embedded(embeddings, [*pair, *near, *(claims if texts else ()), *texts])

    def cosine(one: str, other: str) -> float:
        if bare(one) == bare(other):
            return 1.0
        with np.errstate(invalid="ignore"):  # BLAS may raise the flag for lanes that it does not use
            return min(max(float(vectors[one] @ vectors[other]), 0.0), 1.0)

    rows = [[0.0] * len(passages) for _ in claims]
    for claim, own, places in zip(claims, chosen, rows, strict=True):
        for window in own:
            places[window.passage] = max(places[window.passage], cosine(claim, window.text))
    return Closeness(
        tuple(map(tuple, rows)),
        cosine(question, answer) if pair else 0.0,
        tuple(tuple(cosine(claim, text) for text in texts) for claim in claims) if texts else (),
    )


def coherence(embeddings: Embeddings, sentences: Sequence[str]) -> float:
    """Mean similarity of each sentence to the one before it, 0..1; 1.0 for fewer than two sentences."""
    texts = [sentence for sentence in sentences if sentence.strip()]
    if len(texts) < 2:
        return 1.0
    vectors = embedded(embeddings, texts)
    near = [min(max(float(vectors[one] @ vectors[other]), 0.0), 1.0) for one, other in pairwise(texts)]
    return sum(near) / len(near)


def _telling(measured: Space, column: int, claim: str, *, whole: bool) -> list[Window]:
    """The likeliest windows of a claim; for a copied claim, its source and the windows that share enough words."""
    likeliest = measured.best(column, LIKELIEST)
    copied = any(bare(measured.windows[place].text) == bare(claim) for place in likeliest)
    if copied and not whole:
        likeliest = [place for place in likeliest if measured.likely[place, column] >= NEAR]
    return [measured.windows[place] for place in likeliest]
