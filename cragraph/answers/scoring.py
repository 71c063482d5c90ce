"""Scores of a sentence for a question by words and by similarity of meaning."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cragraph.answers.candidates import Candidate
from cragraph.language.words import content_words
from cragraph.protocols import Embeddings

IN_SUBJECT: Final = 0.9  # weight of a question word that stands in the sentence to which the opening pronoun points
IN_CONTEXT: Final = 0.6  # weight of a question word that stands only in a heading or title


@dataclass(frozen=True)
class Features:
    """The word features of one candidate, each 0..1.

    `coverage` is the share of the question's words that it holds, rare words counting more; `similarity` the cosine to
    the question; `passage_score` the rank of its passage.
    """

    coverage: float
    similarity: float
    passage_score: float


def by_words(features: Features) -> float:
    """The score of a candidate, 0..1."""
    f = features
    return 0.41 * f.coverage + 0.53 * f.similarity + 0.06 * f.passage_score


def rarity(texts: Iterable[Sequence[str]]) -> Mapping[str, float]:
    """Inverse document frequency of every word over some texts; unknown words count as the rarest."""
    counted = [set(words) for words in texts]
    seen = Counter(word for words in counted for word in words)
    known = {word: log(1 + len(counted) / count) for word, count in seen.items()}
    return defaultdict(lambda: log(1 + len(counted) / 0.5), known)


def coverage(weights: Mapping[str, float], counts: Mapping[str, float]) -> float:
    """Weighted share of the question's words that are present; `counts` has the weight of each present word (0..1)."""
    total = sum(weights.values())
    return sum(weight * counts.get(word, 0.0) for word, weight in weights.items()) / total if total else 0.0


def similarities(embeddings: Embeddings, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Cosine of the question and each text, in 0..1 (unrelated and opposite are both 0); one batch."""
    vectors = np.array(embeddings.embed_documents([question, *texts]), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosines: NDArray[np.float32] = np.clip(vectors[1:] @ vectors[0], 0, 1)
    return cosines


def own_words(candidate: Candidate) -> tuple[str, ...]:
    """The candidate's words; a row has the words of its table header too."""
    return content_words(f"{candidate.header} {candidate.text}")


def read_words(candidate: Candidate) -> dict[str, float]:
    """The words of the candidate and its context, each with its weight."""
    counts = dict.fromkeys(content_words(candidate.context), IN_CONTEXT)
    counts.update(dict.fromkeys(content_words(candidate.subject), IN_SUBJECT))
    counts.update(dict.fromkeys(own_words(candidate), 1.0))
    return counts
