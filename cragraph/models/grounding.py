"""The embedded grounding model: whether an English claim follows from texts, and which of its words do not.

A network reads claim and text together; its logits become probabilities by fitted numbers from the weights' card.
"""

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from cragraph.errors import WeightsError
from cragraph.language.languages import seems_english
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import stem
from cragraph.models.weights import CLS, DATA, SEP, Shipped, open_tokenizer, opened, side_by_side, weights, whole

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


# -- the features --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClaimWord:
    """A word of a claim, by its characters [start, end), and the probability that it is not supported."""

    start: int
    end: int
    unsupported: float


@dataclass(frozen=True)
class Grounding:
    """The reading of one claim: probabilities that sum to 1, and its words.

    `logit` is the network's logit for the claim, less a share of its logit against it.
    """

    supported: float
    unsupported: float
    contradicted: float
    words: tuple[ClaimWord, ...] = ()
    logit: float = -5.0


NO_WORDS = Grounding(0.0, 1.0, 0.0)  # the reading of a claim without words


@dataclass(frozen=True)
class Blend:
    """Joins the network's logit with the support by words and with objections of facts."""

    share: float  # weight of the network's logit
    cost: float  # cost of an objection
    bound: float  # distance of the support by words from 0 and 1: words do not see who did what
    against: float  # weight of the network's logit against the claim
    scale: float  # temperature of the sum

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> "Blend":
        """Read the blend that the card of the weights carries."""
        return cls(*(float(card[name]) for name in ("share", "cost", "bound", "against", "scale")))

    def logit(self, scores: Floats) -> float:
        """The network's logit for a claim, from its (3,) logits: the logit for it, less a share of the logit against
        it."""
        return support_logit(scores) - self.against * class_logit(scores, 2)

    def support(self, opinion: float, logit: float, objected: bool) -> float:
        """The support of a claim, 0..1, from the support by words, 0..1, and the network's logit.

        The judge's curve turns it into a probability (`verification.policies.curves`).
        """
        raw = blended(np.array([opinion], np.float32), np.array([logit], np.float32), self.share, self.bound)
        return float(1.0 / (1.0 + np.exp(-np.clip(self.scale * (raw[0] - self.cost * objected), -30.0, 30.0))))


def blended(opinions: Floats, logits: Floats, share: float, bound: float) -> Floats:
    """The logit of the support by words, clamped to `bound` from 0 and 1, plus `share` times the network's logit;
    (n,)."""
    clipped = np.clip(opinions, bound, 1 - bound)
    return np.asarray(np.log(clipped / (1 - clipped)) + share * logits, np.float32)


class GroundingModel(Shipped):
    """Judges claims against texts.

    The same claim and texts always give the same figures, bit for bit, whatever they are judged together with.
    """

    network = "reading"

    def __init__(self, *, threads: int | None = None, folder: Path = DATA) -> None:
        super().__init__(threads=threads, folder=folder)
        self._reading = Lock()

    @property
    def word_threshold(self) -> float:
        """The probability from which a word counts as unsupported."""
        return float(self._weights.card["thresholds"]["word"]["at"])

    @cached_property
    def _blend(self) -> Blend:
        return Blend.from_card(self._weights.card["blend"])

    @cached_property
    def _reader(self) -> PieceReader:
        with self._reading:
            return open_reader(self._folder)

    def reads(self, text: str) -> bool:
        """Whether a text is in a script that the model can read."""
        return readable(text)

    def judge(self, claims: Sequence[str], texts: Sequence[str]) -> list[Grounding]:
        """One grounding per claim, in order, each read with the text of the same place."""
        network, parts = Network(opened(self.network, self._folder)), read_claims(self._reader, claims)
        given = list(dict.fromkeys(texts))
        read = dict(zip(given, (pieces.ids for pieces in self._reader.read(given)), strict=True))
        held = [(part, read[texts[part.claim]]) for part in parts]
        held = [(part, text) for part, text in held if len(text)]
        logits = network.many([(part.pieces.ids, text) for part, text in held], self.threads)
        found: list[list[Grounding]] = [[] for _ in claims]
        for (part, text), (scores, words) in zip(held, logits, strict=True):
            found[part.claim].append(self._ground(part, text, scores, words))
        return [_join(of_claim) for of_claim in found]

    def blend(self, grounding: Grounding, opinion: float, objected: bool) -> Grounding:
        """The grounding joined with the support by words, 0..1, and with an objection of facts."""
        if grounding == NO_WORDS:
            return grounding
        supported = self._blend.support(opinion, grounding.logit, objected)
        rest = (1.0 - supported) / max(1.0 - grounding.supported, 1e-9)
        contradicted = min(grounding.contradicted * rest, 1.0 - supported)
        return replace(
            grounding, supported=supported, unsupported=1.0 - supported - contradicted, contradicted=contradicted
        )

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Grounding]:
        """One grounding per (claim, text) pair, in order; equal pairs are read once."""
        every = list(dict.fromkeys(pairs))
        found = self.judge([claim for claim, _ in every], [text for _, text in every])
        known = dict(zip(every, found, strict=True))
        return [known[pair] for pair in pairs]

    def _ground(self, part: ReadClaim, text: Ints, scores: Floats, words: Floats) -> Grounding:
        """The grounding of a part of a claim from the network's logits (3,) and its words' logits (pieces,)."""
        card, logit = self._weights.card, self._blend.logit(scores)
        lacking = missing(self._reader, part.pieces.ids, text)
        covered = 1.0 - float(lacking.sum()) / max(float(self._reader.idf[part.pieces.ids].sum()), 1e-6)
        supported = self._blend.support(covered, logit, objected=False)
        scale, bias = card["contradiction"]
        against = np.clip(scale * float(scores[2] - scores[1]) + bias, -30.0, 30.0)
        contradicted = (1.0 - supported) * float(1.0 / (1.0 + np.exp(-against)))
        scale, absent, bias = card["word"]
        probabilities = np.asarray(1.0 / (1.0 + np.exp(-(scale * words + absent * lacking + bias))), np.float32)
        rest = 1.0 - supported - contradicted
        return Grounding(supported, rest, contradicted, tuple(_words(part, probabilities)), logit)


def support_logit(scores: Floats) -> float:
    """The logit of "supported", from the network's (3,) logits of supported, unsupported and contradicted."""
    return class_logit(scores, 0)


def class_logit(scores: Floats, place: int) -> float:
    """The logit of the probability of one of the network's three classes."""
    raised = np.exp(scores - scores.max())
    probability = min(max(float(raised[place] / raised.sum()), 1e-5), 1 - 1e-5)
    return float(np.float32(np.log(probability / (1 - probability))))


def _words(reading: ReadClaim, probabilities: Floats) -> Iterator[ClaimWord]:
    """Join touching pieces into words; a word has the highest probability of its pieces."""
    starts, ends = reading.pieces.starts, reading.pieces.ends
    firsts = np.flatnonzero(np.append(True, starts[1:] > ends[:-1]))
    worst = np.maximum.reduceat(probabilities, firsts)
    lasts = np.append(firsts[1:], len(starts)) - 1
    for first, last, probability in zip(firsts, lasts, worst, strict=True):
        yield ClaimWord(reading.offset + int(starts[first]), reading.offset + int(ends[last]), float(probability))


def _join(parts: Sequence[Grounding]) -> Grounding:
    """The grounding of a claim in several parts: that of its weakest part, with the words of all parts."""
    if not parts:
        return NO_WORDS
    weakest = min(parts, key=lambda part: part.supported)
    words = tuple(word for part in parts for word in part.words)
    return Grounding(weakest.supported, weakest.unsupported, weakest.contradicted, words, weakest.logit)


MAX_PIECES: Final = 256


@dataclass(frozen=True)
class Network:
    """A loaded session; may be called from many threads at once."""

    session: Any

    def __call__(self, claim: Ints, passage: Ints) -> tuple[Floats, Floats]:
        """Logits of one pair: (3,) for supported, unsupported, contradicted; (pieces of the claim,) for its words."""
        own = claim[:MAX_CLAIM]
        other = passage[: MAX_PIECES - len(own) - 3]
        ids = np.concatenate([[CLS], own, [SEP], other, [SEP]]).astype(np.int64)
        types = np.zeros_like(ids)
        types[len(own) + 2 :] = 1
        scores, words = self.session.run(["claim", "word"], {"input_ids": ids[None], "types": types[None]})
        return scores[0], words[0, 1 : len(own) + 1]

    def many(self, pairs: Sequence[tuple[Ints, Ints]], threads: int) -> list[tuple[Floats, Floats]]:
        """The logits of many pairs, in order; `threads` calls run side by side."""
        return side_by_side(lambda pair: self(*pair), pairs, threads, lambda pair: len(pair[0]) + len(pair[1]))
