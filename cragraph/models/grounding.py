"""The embedded grounding model: whether an English claim follows from texts, and which of its words do not.

A network reads claim and text together; its logits become probabilities by fitted numbers from the weights' card.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from cragraph.models.grounding_features import (
    MAX_CLAIM,
    Floats,
    Ints,
    PieceReader,
    ReadClaim,
    missing,
    open_reader,
    read_claims,
    readable,
)
from cragraph.models.weights import CLS, DATA, SEP, Shipped, opened, side_by_side


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
        return support_logit(scores) - self.against * chance_logit(scores, 2)

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
        chances = np.asarray(1.0 / (1.0 + np.exp(-(scale * words + absent * lacking + bias))), np.float32)
        rest = 1.0 - supported - contradicted
        return Grounding(supported, rest, contradicted, tuple(_words(part, chances)), logit)


def support_logit(scores: Floats) -> float:
    """The logit of support, from the network's (3,) logits of supported, unsupported and contradicted."""
    return chance_logit(scores, 0)


def chance_logit(scores: Floats, place: int) -> float:
    """The logit of the probability of one of the network's three classes."""
    raised = np.exp(scores - scores.max())
    chance = min(max(float(raised[place] / raised.sum()), 1e-5), 1 - 1e-5)
    return float(np.float32(np.log(chance / (1 - chance))))


def _words(reading: ReadClaim, chances: Floats) -> Iterator[ClaimWord]:
    """Join touching pieces into words; a word has the highest probability of its pieces."""
    starts, ends = reading.pieces.starts, reading.pieces.ends
    firsts = np.flatnonzero(np.append(True, starts[1:] > ends[:-1]))
    worst = np.maximum.reduceat(chances, firsts)
    lasts = np.append(firsts[1:], len(starts)) - 1
    for first, last, chance in zip(firsts, lasts, worst, strict=True):
        yield ClaimWord(reading.offset + int(starts[first]), reading.offset + int(ends[last]), float(chance))


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
