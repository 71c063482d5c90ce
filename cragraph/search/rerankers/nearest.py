"""The reranker by words and by the similarity between the question and the nearest stretch of a passage."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from cragraph.language.languages import seems_english
from cragraph.language.sentences import stretch_spans
from cragraph.protocols import Embeddings, Notes, reason_of
from cragraph.search.rerankers import ranked
from cragraph.search.rerankers.lexical import Match, ScoreWeights, by_words, matches, odds
from cragraph.types import Passage

FIRST: Final = 30  # passages compared, the best by words: all that a search returns

NEAR: Final = 4.2  # weight of the cosine of the nearest stretch
WEIGHTS: Final = ScoreWeights(-3.0, 0.7, Match(bm25=0.0, near=1.7, phrase=1.8, exact=0.85, heading=1.1))
"""The weights of the other terms, as `lexical.RETRIEVED`; fitted by `lab.benchmarks.nearest`."""


@dataclass(frozen=True)
class NearestReranker:
    """Scores the first passages by words and by the cosine between the question and their nearest stretch.

    The vector of a passage is its subject; the sentence that answers may be on another. Questions in other languages
    than English, and passages from a caller (which are all read anyway), keep the order of the lexical reranker.
    """

    embeddings: Embeddings
    first: int = FIRST
    name: str = "nearest"

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with their `rerank_score`, best first; passages that were not compared come last."""
        matched = matches(query, passages)
        words = by_words(passages, matched)
        first = [p for p in words if p["retrieval_score"] is not None][: self.first]
        if len(first) < 2 or not seems_english(query):
            return words
        try:
            nearest = self.nearest(query, first)
        except Exception as error:  # the embedding model may be the caller's own
            notes.degraded(f"The embedding model failed ({reason_of(error)}); passages were ordered by words alone.")
            return words
        match = {p["chunk_id"]: one for p, one in zip(passages, matched, strict=True)}
        scores = [
            odds(passage, match[passage["chunk_id"]], WEIGHTS, NEAR * cosine)
            for passage, cosine in zip(first, nearest, strict=True)
        ]
        compared = ranked(first, scores)
        known = {p["chunk_id"] for p in first}
        last = compared[-1]["rerank_score"] or 0.0
        rest = [p for p in words if p["chunk_id"] not in known]
        return [*compared, *ranked(rest, [min(last, p["rerank_score"] or 0.0) for p in rest])]

    def nearest(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """The cosine, -1..1, between the question and the nearest stretch of each passage."""
        spans = [stretch_spans(passage["text"]) or [(0, 0)] for passage in passages]
        texts = [[p["text"][slice(*span)] for span in own] for p, own in zip(passages, spans, strict=True)]
        vectors = np.asarray(self.embeddings.embed_documents([text for own in texts for text in own]), np.float32)
        asked = np.asarray(self.embeddings.embed_query(query), np.float32)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(asked)
        cosines = vectors @ asked / np.maximum(lengths, 1e-12)
        ends = np.cumsum([len(own) for own in texts])
        return [float(own.max()) for own in np.split(cosines, ends[:-1])]
