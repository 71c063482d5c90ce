"""How the grounding model reads text: word pieces as arrays, with offsets, stems and idf weights."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Ints = NDArray[np.int32]
Floats = NDArray[np.float32]

_NOISE = re.compile(r"\[\d+(?:\s*,\s*\d+)*\]|https?://\S+|-[LR][RS]B-")
"""Citation markers, addresses and treebank brackets: they say nothing of the claim."""
_LONE = re.compile("[\ud800-\udfff]")
"""A lone surrogate cannot be UTF-8, which the tokenizer wants; such a character says nothing anyway."""
_END = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s)|\s*\n\s*|[;|](?=\s)")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|No|Inc|Ltd|Co|Corp|Fig|al|approx|e\.g|i\.e|U\.S|[ap]\.m))\.$"
)
_SUFFIX = re.compile(r"(?:ies|es|s|ed|ing|ly|'s)$")
MAX_SENTENCE = 400
"""Characters after which a sentence is cut: tables and transcripts have no full stops."""


@dataclass(frozen=True)
class Pieces:
    """Word pieces of one text: ids, and the characters [starts, ends) each came from; all of shape (n,)."""

    ids: Ints
    starts: Ints
    ends: Ints

    def __len__(self) -> int:
        return len(self.ids)


class Reader:
    """Turns text into pieces; knows which pieces are forms of the same word and how telling each is."""

    def __init__(self, tokenizer: "Tokenizer", idf: Floats | None = None) -> None:
        """`tokenizer` must neither pad nor truncate; `idf` is (vocabulary,), None counts every word the same."""
        self.tokenizer = tokenizer
        self.size = tokenizer.get_vocab_size()
        self.idf = np.ones(self.size, np.float32) if idf is None else idf

    def read(self, texts: Sequence[str]) -> list[Pieces]:
        """Read texts in one call of the tokenizer, without special tokens."""
        clean = [_LONE.sub("?", _NOISE.sub(_blank, text)) for text in texts]
        return [_pieces(e) for e in self.tokenizer.encode_batch(clean, add_special_tokens=False)]

    def token(self, word: str) -> int | None:
        """The id of a word that is a piece of its own."""
        index: int | None = self.tokenizer.token_to_id(word)
        return index

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


def stem(word: str) -> str:
    """A word without its English ending; crude on purpose, it only has to meet its other forms."""
    for _ in range(2):
        shorter = _SUFFIX.sub("", word)
        if len(shorter) < 3:
            return word
        word = shorter
    return word.removesuffix("e") if len(word) > 3 else word


def sentences(text: str) -> list[tuple[int, int]]:
    """Offsets of the sentences of a text, in order, none blank and none longer than `MAX_SENTENCE`.

    Not `cragraph.text.sentences`: the network was trained on digests of these cuts, which must not change under it.
    """
    found: list[tuple[int, int]] = []
    start = 0
    for match in _END.finditer(text):
        if match.group() == "." and _ABBREVIATION.search(text, max(start, match.end() - 12), match.end()):
            continue
        found.extend(_cut(text, start, match.end()))
        start = match.end()
    found.extend(_cut(text, start, len(text)))
    return found


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


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _pieces(encoding: "Encoding") -> Pieces:
    ids = np.array(encoding.ids, np.int32)
    offsets = np.array(encoding.offsets, np.int32).reshape(-1, 2)
    return Pieces(ids, offsets[:, 0], offsets[:, 1])
