"""How the grounding model reads: word pieces, and the sentences of the passages that cover a claim."""

import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cragraph.errors import WeightsError
from cragraph.models.weights import open_tokenizer, weights, whole
from cragraph.text.languages import seems_english
from cragraph.text.sentences import sentence_spans
from cragraph.text.words import stem

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_CLAIM = 96  # word pieces of a claim in one call of the network; longer claims are judged in parts
Ints = NDArray[np.int32]
Floats = NDArray[np.float32]

_NOISE = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|https?://\S+|-[LR][RS]B-")
"""Citation markers, addresses and treebank brackets: they say nothing of the claim."""
MAX_SENTENCE = 400  # characters after which a sentence is cut: tables and transcripts have no full stops


@dataclass(frozen=True)
class Pieces:
    """Word pieces of one text: ids, and the characters [starts, ends) each came from; all of shape (n,)."""

    ids: Ints
    starts: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.ids)


class PieceReader:
    """Turns text into pieces; knows which pieces are forms of the same word and how telling each is."""

    def __init__(self, tokenizer: "Tokenizer", idf: Floats | None = None) -> None:
        """`tokenizer` must neither pad nor truncate; `idf` is (vocabulary,), None counts every word the same."""
        self.tokenizer = tokenizer
        self.size = tokenizer.get_vocab_size()
        self.idf = np.ones(self.size, np.float32) if idf is None else idf

    def read(self, texts: Sequence[str]) -> list[Pieces]:
        """Read texts in one call of the tokenizer, without special tokens."""
        clean = [whole(_NOISE.sub(lambda noise: " " * len(noise[0]), text)) for text in texts]
        encodings = self.tokenizer.encode_batch(clean, add_special_tokens=False)
        offsets = [np.array(encoding.offsets, np.int32).reshape(-1, 2) for encoding in encodings]
        return [Pieces(np.array(e.ids, np.int32), o[:, 0], o[:, 1]) for e, o in zip(encodings, offsets, strict=True)]

    @cached_property
    def stems(self) -> Ints:
        """For each piece id the id of the shortest piece with the same stem, so that *founded* meets *founding*."""
        table = np.arange(self.size, dtype=np.int32)
        first: dict[str, int] = {}
        for piece, index in sorted(self.tokenizer.get_vocab().items(), key=lambda item: (len(item[0]), item[1])):
            if piece.isalpha() and len(piece) > 3:
                table[index] = first.setdefault(stem(piece), index)
        return table

    @cached_property
    def wordlike(self) -> NDArray[np.bool_]:
        """Which pieces hold a letter or digit, rather than punctuation."""
        table = np.zeros(self.size, np.bool_)
        for piece, index in self.tokenizer.get_vocab().items():
            table[index] = any(c.isalnum() for c in piece) and not piece.startswith("[")
        return table


def sentences(text: str) -> list[tuple[int, int]]:
    """Offsets of the sentences of a text, in order, none blank and none longer than `MAX_SENTENCE`."""
    return [part for start, end in sentence_spans(text) for part in _cut(text, start, end)]


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] = []
    while end - start > MAX_SENTENCE:
        space = text.rfind(" ", start + 1, start + MAX_SENTENCE)
        middle = space if space > start else start + MAX_SENTENCE
        parts.append((start, middle))
        start = middle
    parts.append((start, end))
    trimmed = ((a + len(text[a:b]) - len(text[a:b].lstrip()), a + len(text[a:b].rstrip())) for a, b in parts)
    return [(a, b) for a, b in trimmed if a < b]


STEP = 1 / 16  # one idf step: the table ships as one byte per word piece


def unpack_idf(packed: str) -> Floats:
    """The idf table of the card, to within half a step."""
    return np.frombuffer(b64decode(packed), np.uint8).astype(np.float32) * np.float32(STEP)


@cache
def open_reader(folder: Path) -> PieceReader:
    """The reader of the weights in a folder; raises WeightsError where tokenizer and table do not fit."""
    tokenizer, idf = open_tokenizer(folder), unpack_idf(str(weights("grounding", folder).card["idf"]))
    if len(idf) != tokenizer.get_vocab_size():
        raise WeightsError(
            f"the grounding card weighs {len(idf)} word pieces, the tokenizer has {tokenizer.get_vocab_size()}; they "
            "come from different versions: reinstall cragraph (pip install --force-reinstall cragraph)."
        )
    return PieceReader(tokenizer, idf)


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


_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
READABLE = 0.7  # the least share of Latin letters in a text that the model can read


@dataclass(frozen=True)
class ReadClaim:
    """One part of one claim, ready for the network.

    `offset` is where the part starts in the claim's text; `missing` is (pieces,): a piece's idf where the passages do
    not hold it, else 0; `quote` is the (passage, start, end) of the sentence closest to the claim.
    """

    claim: int
    offset: int
    pieces: Pieces
    passage: Ints
    missing: Floats
    weight: Floats
    quote: tuple[int, int, int] | None


def readable(text: str) -> bool:
    """Whether at least `READABLE` of a text's letters are Latin, and it seems English; a text without letters is."""
    letters = _LETTER.findall(text)
    return not letters or (len(_LATIN.findall(text)) >= READABLE * len(letters) and seems_english(text))


def read_claims(
    reader: PieceReader, claims: Sequence[str], passages: Sequence[str], budget: int = BUDGET
) -> list[ReadClaim]:
    """Read claims against passages; a long one gives several readings, one without a readable word none."""
    if not claims:
        return []
    corpus = read_corpus(reader, passages)
    return [
        _read(reader, number, offset, own, corpus, budget)
        for number, (text, pieces) in enumerate(zip(claims, reader.read(claims), strict=True))
        for offset, own in _parts(text, pieces)
        if reader.wordlike[own.ids].any()
    ]


def _read(reader: PieceReader, number: int, offset: int, pieces: Pieces, corpus: Corpus, budget: int) -> ReadClaim:
    chosen = digest(overlap(reader, pieces, corpus), corpus, budget)
    weight = reader.idf[pieces.ids]
    # A word is held in any of its forms; punctuation always is.
    supported = np.isin(reader.stems[pieces.ids], corpus.stems) | ~reader.wordlike[pieces.ids]
    return ReadClaim(
        number,
        offset,
        pieces,
        corpus.pieces_of(chosen),
        np.where(supported, 0.0, weight).astype(np.float32),
        weight,
        corpus.spans[chosen[0]] if chosen else None,
    )


def _parts(text: str, pieces: Pieces) -> Iterator[tuple[int, Pieces]]:
    """Cut what the network cannot read in one go at sentence ends, and inside a sentence only where it must."""
    if not len(pieces):
        return
    if len(pieces) <= MAX_CLAIM:
        yield 0, pieces
        return
    ends = np.searchsorted(pieces.starts, [end for _, end in sentences(text)])
    first = 0
    while first < len(pieces):
        within = ends[(ends > first) & (ends <= first + MAX_CLAIM)]
        last = int(within.max()) if within.size else min(first + MAX_CLAIM, len(pieces))
        start = int(pieces.starts[first])
        own = Pieces(pieces.ids[first:last], pieces.starts[first:last] - start, pieces.ends[first:last] - start)
        yield start, own
        first = last
