"""How well a sentence answers a question as far as words and the meaning of the whole tell."""

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

IN_SUBJECT: Final = 0.9  # what a question word counts that stands where the sentence's opening pronoun points to
IN_CONTEXT: Final = 0.6  # what a question word counts that stands only in a heading or title


@dataclass(frozen=True)
class Features:
    """What is known of one candidate; all 0..1.

    `coverage` is the share of the question's words that it holds, rare words counting more; `similarity` the cosine
    to the question; `passage_score` how well its passage was ranked.
    """

    coverage: float
    similarity: float
    passage_score: float


def by_words(features: Features) -> float:
    """How well a candidate answers, 0..1."""
    f = features
    return 0.41 * f.coverage + 0.53 * f.similarity + 0.06 * f.passage_score


def rarity(texts: Iterable[Sequence[str]]) -> Mapping[str, float]:
    """Inverse document frequency of every word over some texts; unknown words are looked up as the rarest."""
    counted = [set(words) for words in texts]
    seen = Counter(word for words in counted for word in words)
    known = {word: log(1 + len(counted) / count) for word, count in seen.items()}
    return defaultdict(lambda: log(1 + len(counted) / 0.5), known)


def coverage(weights: Mapping[str, float], counts: Mapping[str, float]) -> float:
    """Share of the question's words that are there, by weight; `counts` says how much each word counts (0..1)."""
    total = sum(weights.values())
    return sum(weight * counts.get(word, 0.0) for word, weight in weights.items()) / total if total else 0.0


def similarities(embeddings: Embeddings, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Cosine of the question and each text, in 0..1 (unrelated and opposite are both 0); one batch."""
    vectors = np.array(embeddings.embed_documents([question, *texts]), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    cosines: NDArray[np.float32] = np.clip(vectors[1:] @ vectors[0], 0, 1)
    return cosines


def own_words(candidate: Candidate) -> tuple[str, ...]:
    """The candidate's words; a row owns those of the header that names its columns."""
    return content_words(f"{candidate.header} {candidate.text}")


def read_words(candidate: Candidate) -> dict[str, float]:
    """The words that the candidate is read with, and how much each counts."""
    counts = dict.fromkeys(content_words(candidate.context), IN_CONTEXT)
    counts.update(dict.fromkeys(content_words(candidate.subject), IN_SUBJECT))
    counts.update(dict.fromkeys(own_words(candidate), 1.0))
    return counts
