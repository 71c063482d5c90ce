"""The sentences of long passages that cover a claim: what the network is trained on in their place."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cragraph.models.grounding import Ints, PieceReader, Pieces, sentences

BUDGET = 128  # word pieces in a digest


@dataclass(frozen=True)
class Corpus:
    """Pieces of all sentences of the passages: `bounds[s]:bounds[s + 1]` are those of sentence s.

    `spans[s]` is (passage, start, end) in characters.
    """

    ids: Ints
    stems: Ints
    bounds: Ints
    spans: Sequence[tuple[int, int, int]]

    def pieces_of(self, chosen: Sequence[int]) -> Ints:
        """Ids of the chosen sentences' pieces, in the order of the sentences."""
        parts = [self.ids[self.bounds[s] : self.bounds[s + 1]] for s in sorted(chosen)]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)


def read_corpus(reader: PieceReader, passages: Sequence[str]) -> Corpus:
    """Split passages into sentences and read them."""
    spans: list[tuple[int, int, int]] = []
    ids: list[Ints] = []
    sizes: list[int] = []
    for number, (text, pieces) in enumerate(zip(passages, reader.read(passages), strict=True)):
        cuts = sentences(text)
        edges = np.searchsorted(pieces.starts, [start for start, _ in cuts]) if cuts else np.zeros(0, np.int64)
        ids.append(pieces.ids)
        sizes.extend(np.diff(np.append(edges, len(pieces))).tolist())
        spans.extend((number, start, end) for start, end in cuts)
    flat = np.concatenate(ids) if ids else np.zeros(0, np.int32)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return Corpus(flat, reader.stems[flat], bounds, spans)


def overlap(reader: PieceReader, claim: Pieces, corpus: Corpus) -> NDArray[np.float32]:
    """(sentences, distinct claim words): the word's idf where the sentence holds it, else 0."""
    words = np.unique(reader.stems[claim.ids[reader.wordlike[claim.ids]]])
    table = np.zeros((len(corpus.spans), len(words)), np.float32)
    if not words.size or not corpus.stems.size:
        return table
    place = np.searchsorted(words, corpus.stems).clip(max=len(words) - 1)
    hit = words[place] == corpus.stems
    sentence = np.repeat(np.arange(len(corpus.spans)), np.diff(corpus.bounds))
    table[sentence[hit], place[hit]] = reader.idf[words][place[hit]]
    return table


def digest(table: NDArray[np.float32], corpus: Corpus, budget: int = BUDGET) -> list[int]:
    """Choose sentences, the best first, until `budget` pieces are used, which only the first may exceed.

    First come those with words of the claim not covered yet, then those with the same words again (another value of
    the same thing shows a contradiction), then neighbours.
    """
    sizes = np.diff(corpus.bounds)
    if sizes.sum() <= budget:
        return list(np.argsort(-table.sum(1), kind="stable"))
    weight = table.max(0, initial=0.0)
    total = table.sum(1)
    scale = float(total.max(initial=0.0)) or 1.0
    missing = weight.copy()
    free = np.ones(len(sizes), np.bool_)
    near = np.zeros(len(sizes), np.float32)
    passage = np.array([span[0] for span in corpus.spans])
    chosen: list[int] = []
    used = 0
    while free.any():
        gain = np.minimum(table, missing).sum(1) + 0.5 * total + 0.1 * scale * near
        gain = np.where(free, gain, -1.0)
        best = int(np.argmax(gain))
        free[best] = False
        if used + sizes[best] > budget and chosen:
            free &= sizes <= budget - used
            continue
        chosen.append(best)
        used += int(sizes[best])
        missing = np.where(table[best] > 0, 0.0, missing)
        for side in (best - 1, best + 1):
            if 0 <= side < len(sizes) and passage[side] == passage[best]:
                near[side] = 1.0
    return chosen
