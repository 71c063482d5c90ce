"""The lexical reranker: what full-text search cannot see in one passage at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from cragraph.protocols import Notes
from cragraph.retrieval.rerankers.matching import Match, matches
from cragraph.retrieval.rerankers.scored import logistic, logit, ranked
from cragraph.types import Passage


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
