"""The yardsticks: plain BM25 and the plain encoder for retrieval, word coverage and similarity for judges."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cragraph.protocols import Embeddings, Judge, Notes
from cragraph.text.markers import without_markers
from cragraph.types import Claim, Label, Passage, Verdict
from cragraph.verification.judges.verdicts import verdict_of
from cragraph.verification.windows import space

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1, B = 1.2, 0.75
_WORD = re.compile(r"\w+")


class PlainBM25:
    """BM25 as textbooks have it: lower-cased words, neither stemming nor stopwords, idf ln(1 + (N-n+0.5)/(n+0.5))."""

    def __init__(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        self._ids = list(ids)
        counts = [Counter(_WORD.findall(text.lower())) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], dtype=np.float64)
        norm = K1 * (1 - B + B * lengths / max(1.0, lengths.mean()))
        postings: dict[str, list[tuple[int, int]]] = {}
        for row, count in enumerate(counts):
            for word, times in count.items():
                postings.setdefault(word, []).append((row, times))
        self._weights: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        for word, found in postings.items():
            at = np.array([row for row, _ in found], dtype=np.int64)
            often = np.array([times for _, times in found], dtype=np.float64)
            idf = math.log1p((len(counts) - len(at) + 0.5) / (len(at) + 0.5))
            self._weights[word] = (at, idf * often * (K1 + 1) / (often + norm[at]))

    def __call__(self, query: str, k: int) -> list[str]:
        """The ids of the best `k` that share a word with the query."""
        scores = np.zeros(len(self._ids))
        for word in _WORD.findall(query.lower()):
            if word in self._weights:
                rows, weights = self._weights[word]
                scores[rows] += weights
        order = np.argsort(-scores, kind="stable")[:k]
        return [self._ids[row] for row in order if scores[row] > 0.0]


class PlainEncoder:
    """Exact nearest neighbours by the cosine of an embedding model's vectors."""

    def __init__(self, ids: Sequence[str], texts: Sequence[str], embeddings: "Embeddings") -> None:
        self._ids, self._embeddings = list(ids), embeddings
        self._vectors = _unit(embeddings.embed_documents(list(texts)))

    def __call__(self, query: str, k: int) -> list[str]:
        """The ids of the nearest `k`."""
        similarity = self._vectors @ _unit([self._embeddings.embed_query(query)])[0]
        return [self._ids[row] for row in np.argsort(-similarity, kind="stable")[:k]]


def _unit(vectors: Sequence[Sequence[float]]) -> "NDArray[np.float32]":
    matrix = np.asarray(vectors, dtype=np.float32)
    unit: NDArray[np.float32] = matrix / np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    return unit


THRESHOLD = 0.5
WINDOWS = 3


@dataclass(frozen=True)
class CoverageJudge:
    """Support is the weighted share of the claim's words that occur in any passage."""

    name: str = "coverage"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        whole = space([without_markers(claim["text"]) for claim in claims], passages).whole
        return [_verdict(claim, float(share), self.name) for claim, share in zip(claims, whole, strict=True)]


@dataclass(frozen=True)
class SimilarityJudge:
    """Support is the cosine of the claim to the closest of the three windows that share most of its words."""

    embeddings: Embeddings
    name: str = "similarity"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        texts = [without_markers(claim["text"]) for claim in claims]
        found = space(texts, passages)
        windows = [[found.windows[i].text for i in found.best(column, WINDOWS)] for column in range(len(texts))]
        wanted = list(dict.fromkeys([*texts, *(text for own in windows for text in own)]))
        vectors = np.asarray(self.embeddings.embed_documents(wanted), np.float32)
        unit = dict(zip(wanted, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), strict=True))
        return [
            _verdict(claim, max((float(unit[text] @ unit[window]) for window in own), default=0.0), self.name)
            for claim, text, own in zip(claims, texts, windows, strict=True)
        ]


def simple_judges(embeddings: Embeddings | None) -> Mapping[str, Judge]:
    """These judges by name; the similarity one where there are embeddings."""
    found: dict[str, Judge] = {"coverage": CoverageJudge()}
    return found | ({"similarity": SimilarityJudge(embeddings)} if embeddings is not None else {})


def _verdict(claim: Claim, support: float, judge: str) -> Verdict:
    support = min(1.0, max(0.0, support))
    label: Label = "supported" if support >= THRESHOLD else "unsupported"
    return verdict_of(claim, label, support, 0.0, None, f"{support:.0%} by {judge}.", judge)
