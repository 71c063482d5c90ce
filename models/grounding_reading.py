"""What the grounding model makes of a claim before the network runs: its parts, their digests, the cheap features."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cragraph.models.grounding_digest import BUDGET, digest, overlap, read_corpus
from cragraph.models.grounding_features import Grams, cheap_features, held_words, read_grams
from cragraph.models.grounding_network import MAX_CLAIM
from cragraph.models.grounding_text import Floats, Ints, Pieces, Reader, sentences
from cragraph.text.languages import seems_english

_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
READABLE = 0.7
"""The least share of Latin letters in a text that the model can read."""


@dataclass(frozen=True)
class Reading:
    """One part of one claim, ready for the network.

    `offset` is where the part starts in the claim's text; `missing` is (pieces,): a piece's idf where the passages do
    not hold it, else 0; `quote` is the (passage, start, end) of the sentence closest to the claim.
    """

    claim: int
    offset: int
    pieces: Pieces
    passage: Ints
    cheap: Floats
    missing: Floats
    weight: Floats
    quote: tuple[int, int, int] | None


def readable(text: str) -> bool:
    """Whether at least `READABLE` of a text's letters are Latin, and it seems English; a text without letters is."""
    letters = _LETTER.findall(text)
    return not letters or (len(_LATIN.findall(text)) >= READABLE * len(letters) and seems_english(text))


def read_claims(reader: Reader, claims: Sequence[str], passages: Sequence[str], budget: int = BUDGET) -> list[Reading]:
    """Read the claims of one answer against its passages; long claims give several readings, blank ones none."""
    if not claims:
        return []
    corpus = read_corpus(reader, passages)
    grams = read_grams(reader, corpus, passages)
    found: list[Reading] = []
    for number, (text, pieces) in enumerate(zip(claims, reader.read(claims), strict=True)):
        for offset, part, own in _parts(text, pieces):
            found.append(_read(reader, number, offset, part, own, grams, budget))
    return found


def _read(reader: Reader, number: int, offset: int, text: str, pieces: Pieces, grams: Grams, budget: int) -> Reading:
    table = overlap(reader, pieces, grams.corpus)
    chosen = digest(table, grams.corpus, budget)
    weight = reader.idf[pieces.ids]
    return Reading(
        number,
        offset,
        pieces,
        grams.corpus.pieces_of(chosen),
        cheap_features(reader, text, pieces, grams, table, chosen),
        np.where(held_words(reader, pieces, grams), 0.0, weight).astype(np.float32),
        weight,
        grams.corpus.spans[chosen[0]] if chosen else None,
    )


def _parts(text: str, pieces: Pieces) -> Iterator[tuple[int, str, Pieces]]:
    """Cut what the network cannot read in one go at sentence ends, and inside a sentence only where it must."""
    if not len(pieces):
        return
    if len(pieces) <= MAX_CLAIM:
        yield 0, text, pieces
        return
    ends = np.searchsorted(pieces.starts, [end for _, end in sentences(text)])
    first = 0
    while first < len(pieces):
        within = ends[(ends > first) & (ends <= first + MAX_CLAIM)]
        last = int(within.max()) if within.size else min(first + MAX_CLAIM, len(pieces))
        start, end = int(pieces.starts[first]), int(pieces.ends[last - 1])
        own = Pieces(pieces.ids[first:last], pieces.starts[first:last] - start, pieces.ends[first:last] - start)
        yield start, text[start:end], own
        first = last
