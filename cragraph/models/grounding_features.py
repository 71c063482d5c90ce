"""Inputs of the grounding model: word pieces, and the parts of a claim that is too long for one call."""

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
from cragraph.language.languages import seems_english
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import stem
from cragraph.models.weights import open_tokenizer, weights, whole

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_CLAIM = 96  # word pieces of a claim in one call of the network; longer claims are judged in parts
Ints = NDArray[np.int32]
Floats = NDArray[np.float32]

_NOISE = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|https?://\S+|-[LR][RS]B-")
"""Citation markers, addresses and treebank brackets: no content of a claim."""
MAX_SENTENCE = 400  # characters of a sentence at most, as tables and transcripts have no full stops


@dataclass(frozen=True)
class Pieces:
    """Word pieces of one text: ids, and the characters [starts, ends) each came from; all of shape (n,)."""

    ids: Ints
    starts: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.ids)


class PieceReader:
    """Turns text into pieces, with the forms of each word and the idf of each piece."""

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
        """For each piece id the id of the shortest piece with the same stem, so that *founded* matches *founding*."""
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
    """The reader for the weights in a folder. Raises WeightsError if tokenizer and table do not fit."""
    tokenizer, idf = open_tokenizer(folder), unpack_idf(str(weights("reading", folder).card["idf"]))
    if len(idf) != tokenizer.get_vocab_size():
        raise WeightsError(
            f"the reading card weighs {len(idf)} word pieces, the tokenizer has {tokenizer.get_vocab_size()}; they "
            "come from different versions: reinstall cragraph (pip install --force-reinstall cragraph)."
        )
    return PieceReader(tokenizer, idf)


_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")
READABLE = 0.7  # the least share of Latin letters in a text that the model can read


@dataclass(frozen=True)
class ReadClaim:
    """One part of one claim; `offset` is the start of the part in the claim's text."""

    claim: int
    offset: int
    pieces: Pieces


def readable(text: str) -> bool:
    """Whether at least `READABLE` of a text's letters are Latin, and it seems English; a text without letters is."""
    letters = _LETTER.findall(text)
    return not letters or (len(_LATIN.findall(text)) >= READABLE * len(letters) and seems_english(text))


def read_claims(reader: PieceReader, claims: Sequence[str]) -> list[ReadClaim]:
    """Read claims: several readings for a long claim, none for a claim without a readable word."""
    if not claims:
        return []
    return [
        ReadClaim(number, offset, own)
        for number, (text, pieces) in enumerate(zip(claims, reader.read(claims), strict=True))
        for offset, own in _parts(text, pieces)
        if reader.wordlike[own.ids].any()
    ]


def missing(reader: PieceReader, claim: Ints, text: Ints) -> Floats:
    """(pieces,): a piece's idf if the text lacks every form of its word, else 0; punctuation is never missing."""
    found = np.isin(reader.stems[claim], reader.stems[text]) | ~reader.wordlike[claim]
    return np.where(found, 0.0, reader.idf[claim]).astype(np.float32)


def _parts(text: str, pieces: Pieces) -> Iterator[tuple[int, Pieces]]:
    """Cut a text that is too long for one call at sentence ends, and inside a sentence only if needed."""
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
