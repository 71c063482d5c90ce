"""The embedded grounding model: does this text follow from these passages, and which of its words do not?

English only: it reads other text in Latin script badly and anything else not at all (`reads` tells).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import cpu_count
from pathlib import Path
from threading import Lock

import numpy as np

from cragraph.models.grounding_features import learned_features
from cragraph.models.grounding_head import Blend, Head
from cragraph.models.grounding_network import load_network
from cragraph.models.grounding_reading import Reading, read_claims, readable
from cragraph.models.grounding_text import Floats, Reader
from cragraph.models.grounding_weights import open_reader
from cragraph.models.weights import DATA, Weights, weights

MAX_THREADS = 4
"""The default stops here, as the encoder's does."""


@dataclass(frozen=True)
class Word:
    """A word of a claim, by its characters [start, end), and the probability that it is not supported."""

    start: int
    end: int
    unsupported: float


@dataclass(frozen=True)
class Grounding:
    """What the model says of one claim: probabilities that sum to 1, its words, and the sentence closest to it.

    `quote` is (passage, start, end), None where the passages hold no text; `logit` is the network's own support.
    """

    supported: float
    unsupported: float
    contradicted: float
    words: tuple[Word, ...] = ()
    quote: tuple[int, int, int] | None = None
    logit: float = -5.0


UNREAD = Grounding(0.0, 1.0, 0.0)
"""What a claim without a word gets: there is nothing that passages could support."""


class GroundingModel:
    """Judges claims against passages; loads on first use, safe to share between threads.

    `threads` is how many claims are judged at once (default: the machine's cores, at most 4). The same claim and
    passages always give the same figures, bit for bit, whatever they are judged together with.
    """

    def __init__(self, *, threads: int | None = None, folder: Path = DATA) -> None:
        if threads is not None and threads < 1:
            raise ValueError(f"threads is {threads}; wanted 1 or more, or None for one a core.")
        self.threads = threads or min(cpu_count() or 1, MAX_THREADS)
        self._folder = folder
        self._reading = Lock()

    @property
    def name(self) -> str:
        """Names the weights: figures of models with different names must not be compared."""
        return f"{self._weights.name}@{self._weights.version}"

    @property
    def threshold(self) -> float:
        """The `supported` from which a claim counts as supported; its precision and recall are in the card."""
        return float(self._weights.card["thresholds"]["alone"]["at"])

    @property
    def blended_threshold(self) -> float:
        """The same for the support that `blend` gives."""
        return float(self._weights.card["thresholds"]["supported"]["at"])

    @property
    def word_threshold(self) -> float:
        """The probability from which a word counts as unsupported."""
        return float(self._weights.card["thresholds"]["word"]["at"])

    @property
    def _weights(self) -> Weights:
        return weights("grounding", self._folder)

    @cached_property
    def _head(self) -> Head:
        return Head.from_card(self._weights.card["head"])

    @cached_property
    def _blend(self) -> Blend:
        return Blend.from_card(self._weights.card["blend"])

    @cached_property
    def _reader(self) -> Reader:
        with self._reading:
            return open_reader(self._weights, self._folder)

    def reads(self, text: str) -> bool:
        """Whether a text is in a script that the model can read."""
        return readable(text)

    def judge(self, claims: Sequence[str], passages: Sequence[str]) -> list[Grounding]:
        """One grounding a claim, in order, each against all the passages together."""
        head, network = self._head, load_network(self._weights)
        readings = read_claims(self._reader, claims, passages)
        logits = network.many([(r.pieces.ids, r.passage) for r in readings], self.threads)
        parts: list[list[Grounding]] = [[] for _ in claims]
        for reading, (scores, words) in zip(readings, logits, strict=True):
            parts[reading.claim].append(_ground(head, reading, scores, words))
        return [_join(found) for found in parts]

    def blend(self, found: Grounding, opinion: float, objected: bool) -> Grounding:
        """The grounding with the support by words, 0..1, and whether facts object to the claim taken into account."""
        if found is UNREAD:
            return found
        supported = self._blend.support(opinion, found.logit, objected)
        rest = (1.0 - supported) / max(1.0 - found.supported, 1e-9)
        contradicted = min(found.contradicted * rest, 1.0 - supported)
        return replace(
            found, supported=supported, unsupported=1.0 - supported - contradicted, contradicted=contradicted
        )

    def score(self, pairs: Sequence[tuple[str, str]]) -> list[Grounding]:
        """One grounding a (claim, passage) pair, in order; pairs of the same passage are read together."""
        found: dict[tuple[str, str], Grounding] = {}
        for passage in dict.fromkeys(passage for _, passage in pairs):
            claims = list(dict.fromkeys(claim for claim, other in pairs if other == passage))
            found.update(zip(((claim, passage) for claim in claims), self.judge(claims, [passage]), strict=True))
        return [found[pair] for pair in pairs]

    def __repr__(self) -> str:
        return f"GroundingModel(threads={self.threads})"


def _ground(head: Head, reading: Reading, scores: Floats, words: Floats) -> Grounding:
    features = np.concatenate([learned_features(scores, words, reading.weight), reading.cheap])
    supported = head.support(features)
    contradicted = (1.0 - supported) * head.contradicted(scores)
    return Grounding(
        supported,
        1.0 - supported - contradicted,
        contradicted,
        tuple(_words(reading, head.words(words, reading.missing))),
        reading.quote,
        float(features[0]),
    )


def _words(reading: Reading, chances: Floats) -> Iterator[Word]:
    """Join pieces that touch into words; a word is as doubtful as its most doubtful piece."""
    starts, ends = reading.pieces.starts, reading.pieces.ends
    firsts = np.flatnonzero(np.append(True, starts[1:] > ends[:-1]))
    worst = np.maximum.reduceat(chances, firsts)
    lasts = np.append(firsts[1:], len(starts)) - 1
    for first, last, chance in zip(firsts, lasts, worst, strict=True):
        yield Word(reading.offset + int(starts[first]), reading.offset + int(ends[last]), float(chance))


def _join(parts: Sequence[Grounding]) -> Grounding:
    """A claim in several parts holds as far as its weakest part; its words are those of all parts."""
    if not parts:
        return UNREAD
    weakest = min(parts, key=lambda part: part.supported)
    words = tuple(word for part in parts for word in part.words)
    return Grounding(weakest.supported, weakest.unsupported, weakest.contradicted, words, weakest.quote, weakest.logit)
