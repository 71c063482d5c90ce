"""The lexical reranker: scores the positions of the question's words in a passage, which full-text search ignores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from cragraph.language.words import content_words, is_light, is_stopword, numbers, terms, words
from cragraph.passages import contextual_text
from cragraph.protocols import Notes
from cragraph.search.rerankers import logistic, logit, ranked
from cragraph.types import Passage

K1, B = 1.2, 0.75  # BM25's usual saturation and length normalisation
NEAR: Final = 24  # words of the stretch for `near`


class Match(NamedTuple):
    """The match of a passage with a question, each field a share 0..1.

    `near` counts question words that stand together, `phrase` those in the question's order, `exact` its numbers and
    names to the letter, `heading` its words in the headings above.
    """

    bm25: float
    near: float
    phrase: float
    exact: float
    heading: float


class ScoreWeights(NamedTuple):
    """Terms of a passage's log-odds: a base, the weight of retrieval's log-odds, and weights of the match."""

    base: float
    retrieval: float
    match: Match


RETRIEVED: Final = ScoreWeights(-1.0, 0.7, Match(bm25=0.0, near=0.7, phrase=1.4, exact=0.7, heading=0.7))
"""Weights for a passage with a retrieval score, which has counted the words already: BM25 adds nothing."""

GIVEN: Final = ScoreWeights(-2.7, 0.0, Match(bm25=1.5, near=0.75, phrase=1.5, exact=0.75, heading=0.75))
"""Weights for passages without a retrieval score, such as those from a caller."""


@dataclass(frozen=True)
class LexicalReranker:
    """Scores passages by their retrieval score and by the positions of the question's words, on one scale."""

    name: str = "lexical"

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with their `rerank_score`, best first."""
        return by_words(passages, matches(query, passages))


def by_words(passages: Sequence[Passage], matched: Sequence[Match]) -> list[Passage]:
    """Copies with their `rerank_score`, best first, by their match."""
    both = zip(passages, matched, strict=True)
    return ranked(passages, [odds(p, match, GIVEN if p["retrieval_score"] is None else RETRIEVED) for p, match in both])


def odds(passage: Passage, match: Match, weights: ScoreWeights, more: float = 0.0) -> float:
    """The score, 0..1, of a passage with this match; `more` is added to its log-odds."""
    retrieval = passage["retrieval_score"]
    known = 0.0 if retrieval is None else weights.retrieval * logit(retrieval)
    matched = sum(weight * value for weight, value in zip(weights.match, match, strict=True))
    return logistic(weights.base + known + matched + more)


def matches(query: str, passages: Sequence[Passage]) -> list[Match]:
    """The match of each passage; words that few of these passages have weigh more."""
    texts = [contextual_text(passage) for passage in passages]
    headings = [f"{p['metadata'].get('title') or ''} {p['metadata'].get('heading') or ''}" for p in passages]
    query_terms, bodies = content_words(query), [terms(text) for text in texts]
    sets = [set(body) for body in bodies]
    holding = {term: sum(term in body for body in sets) for term in query_terms}
    weight = {term: math.log1p((len(sets) - n + 0.5) / (n + 0.5)) for term, n in holding.items()}
    total = sum(weight.values()) or 1.0
    mean = sum(map(len, bodies)) / max(1, len(bodies)) or 1.0
    pairs = set(pairwise(query_terms))
    matched: list[Match] = []
    for text, body, heading in zip(texts, bodies, headings, strict=True):
        places: dict[str, list[int]] = {}
        for position, term in enumerate(body):
            if term in weight:
                places.setdefault(term, []).append(position)
        above = set(terms(heading))
        saturation = K1 * (1 - B + B * len(body) / mean)
        matched.append(
            Match(
                bm25=sum(weight[t] * len(at) / (len(at) + saturation) for t, at in places.items()) / total,
                near=_near(places, weight) / total,
                phrase=len(pairs & set(pairwise(t for t in body if not is_light(t)))) / max(1, len(pairs)),
                exact=_exact(query, text),
                heading=sum(value for term, value in weight.items() if term in above) / total,
            )
        )
    return matched


def _near(places: Mapping[str, Sequence[int]], weight: Mapping[str, float]) -> float:
    events = sorted((position, term) for term, at in places.items() for position in at)
    inside: dict[str, int] = {}
    best = inside_weight = 0.0
    start = 0
    for position, term in events:
        inside[term] = inside.get(term, 0) + 1
        inside_weight += weight[term] if inside[term] == 1 else 0.0
        while position - events[start][0] >= NEAR:
            gone = events[start][1]
            inside[gone] -= 1
            inside_weight -= weight[gone] if not inside[gone] else 0.0
            start += 1
        best = max(best, inside_weight)
    return best


def _exact(query: str, text: str) -> float:
    """The share of the question's numbers, and of its words with a capital that do not begin it, in the passage."""
    names = {word.casefold() for word in words(query)[1:] if word[0].isupper() and not is_stopword(word)}
    figures = set(numbers(query))
    if not figures and not names:
        return 0.0
    present = {word.casefold() for word in words(text)} if names else set()
    return (len(figures & set(numbers(text))) + len(names & present)) / (len(figures) + len(names))
