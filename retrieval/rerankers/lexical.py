"""The lexical reranker: what full-text search cannot see in one passage at a time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from cragraph.protocols import Notes
from cragraph.retrieval.documents import contextual_text
from cragraph.retrieval.rerankers.scored import logistic, logit, ranked
from cragraph.retrieval.search.words import content_words, is_stopword, numbers, stems, stop_stems, words
from cragraph.types import Passage

K1, B = 1.2, 0.75
"""BM25's usual saturation and length normalisation."""


@dataclass(frozen=True)
class Match:
    """Bm25, `near` (question words standing together), `phrase` (in the question's order), `exact` (its numbers and
    names) and `heading`: each a share, 0..1."""

    bm25: float
    near: float
    phrase: float
    exact: float
    heading: float


def matches(query: str, passages: Sequence[Passage]) -> list[Match]:
    """How each passage matches; words are weighed by how few of these passages have them."""
    texts = [contextual_text(passage) for passage in passages]
    headings = [f"{p['metadata'].get('title') or ''} {p['metadata'].get('heading') or ''}" for p in passages]
    asked, *stemmed = stems()([" ".join(content_words(query)), *texts, *headings])
    bodies, above = stemmed[: len(texts)], stemmed[len(texts) :]
    wanted = list(dict.fromkeys(asked))
    weight = _idf(wanted, bodies)
    mean = sum(map(len, bodies)) / max(1, len(bodies)) or 1.0
    literals = _literals(query)
    return [
        Match(
            bm25=_bm25(places, weight, len(body) / mean),
            near=_near(places, weight),
            phrase=_phrase(asked, body),
            exact=_exact(literals, text),
            heading=_share([stem for stem in wanted if stem in top], weight),
        )
        for text, body, top in zip(texts, bodies, map(set, above), strict=True)
        for places in [_places(wanted, body)]
    ]


def _idf(wanted: Sequence[str], bodies: Sequence[Sequence[str]]) -> dict[str, float]:
    sets = [set(body) for body in bodies]
    holding = {stem: sum(stem in body for body in sets) for stem in wanted}
    return {stem: math.log1p((len(sets) - n + 0.5) / (n + 0.5)) for stem, n in holding.items()}


def _share(found: Sequence[str], weight: Mapping[str, float]) -> float:
    return sum(weight[stem] for stem in found) / (sum(weight.values()) or 1.0)


def _places(wanted: Sequence[str], body: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    looked_for = set(wanted)
    for position, stem in enumerate(body):
        if stem in looked_for:
            places.setdefault(stem, []).append(position)
    return places


def _bm25(places: Mapping[str, Sequence[int]], weight: Mapping[str, float], length: float) -> float:
    """BM25 as the share of the most that these words can give."""
    total = sum(
        weight[stem] * len(at) * (K1 + 1) / (len(at) + K1 * (1 - B + B * length)) for stem, at in places.items()
    )
    return total / ((K1 + 1) * (sum(weight.values()) or 1.0))


def _near(places: Mapping[str, Sequence[int]], weight: Mapping[str, float], window: int = 24) -> float:
    """The largest share of the question's words, by weight, within a stretch of so many words of the passage."""
    events = sorted((position, stem) for stem, at in places.items() for position in at)
    inside: dict[str, int] = {}
    best = first = 0.0
    start = 0
    total = sum(weight.values()) or 1.0
    for position, stem in events:
        inside[stem] = inside.get(stem, 0) + 1
        first += weight[stem] if inside[stem] == 1 else 0.0
        while position - events[start][0] >= window:
            gone = events[start][1]
            inside[gone] -= 1
            first -= weight[gone] if not inside[gone] else 0.0
            start += 1
        best = max(best, first)
    return best / total


def _phrase(asked: Sequence[str], body: Sequence[str]) -> float:
    """The share of neighbouring pairs of telling question words that are neighbours in the passage too.

    Stopwords between two words do not part them: ``revenue of Apple`` and ``revenue, Apple`` are the same pair.
    """
    pairs = set(pairwise(asked))
    if not pairs:
        return 0.0
    silent = stop_stems()
    return len(pairs & set(pairwise(stem for stem in body if stem not in silent))) / len(pairs)


def _literals(query: str) -> tuple[frozenset[str], frozenset[str]]:
    """The question's numbers, and its words with a capital or a digit that do not begin it."""
    names = {word.casefold() for word in words(query)[1:] if word[0].isupper() and not is_stopword(word)}
    return frozenset(numbers(query)), frozenset(names)


def _exact(literals: tuple[frozenset[str], frozenset[str]], text: str) -> float:
    figures, names = literals
    if not figures and not names:
        return 0.0
    held = {word.casefold() for word in words(text)} if names else set()
    found = len(figures & set(numbers(text))) + len(names & held)
    return found / (len(figures) + len(names))


@dataclass(frozen=True)
class MatchWeights:
    """What each kind of match adds to the log-odds that a passage is relevant; see docs/retrieval.md for the fit."""

    base: float
    prior: float = 0.0
    bm25: float = 0.0
    near: float = 0.0
    phrase: float = 0.0
    exact: float = 0.0
    heading: float = 0.0

    def __call__(self, match: Match, prior: float) -> float:
        """The log-odds, given those of retrieval."""
        return (
            self.base
            + self.prior * prior
            + self.bm25 * match.bm25
            + self.near * match.near
            + self.phrase * match.phrase
            + self.exact * match.exact
            + self.heading * match.heading
        )


RETRIEVED = MatchWeights(base=-1.0, prior=0.7, near=0.7, phrase=1.4, exact=0.7, heading=0.7)
"""For passages that retrieval scored: it has counted the words already, so that BM25 adds nothing."""

GIVEN = MatchWeights(base=-2.7, bm25=1.5, near=0.75, phrase=1.5, exact=0.75, heading=0.75)
"""For passages without a retrieval score, such as those that a caller hands in."""


@dataclass(frozen=True)
class LexicalReranker:
    """Scores passages by retrieval and by how the question's words stand in them.

    Beyond BM25: words that stand near each other or in the question's order, its numbers and names to the letter, and
    words in the headings above. `rerank_score` is on the same scale as a calibrated `retrieval_score`.
    """

    name: str = "lexical"
    retrieved: MatchWeights = field(default=RETRIEVED)
    given: MatchWeights = field(default=GIVEN)

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with their `rerank_score`, best first."""
        return ranked(passages, [self._score(p, m) for p, m in zip(passages, matches(query, passages), strict=True)])

    def _score(self, passage: Passage, match: Match) -> float:
        prior = passage["retrieval_score"]
        if prior is None:
            return logistic(self.given(match, 0.0))
        return logistic(self.retrieved(match, logit(prior)))
