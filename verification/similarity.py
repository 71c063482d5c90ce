"""How close the answer is to its question and its passages, embedded once for every signal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from cragraph.errors import ModelError
from cragraph.protocols import Notes
from cragraph.types import Passage
from cragraph.verification.keywords import overlap

Vectors = NDArray[np.float32]
Windows = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Closeness:
    """Similarities in 0..1: `rows[claim][passage]`, and question to answer."""

    rows: tuple[tuple[float, ...], ...] = ()
    question_to_answer: float = 0.0

    @property
    def best(self) -> list[float]:
        """Similarity of each claim to its closest passage; 0.0 without passages."""
        return [max(row, default=0.0) for row in self.rows]


def measure_closeness(
    embeddings: Embeddings | None,
    question: str,
    answer: str,
    claims: Sequence[str],
    passages: Sequence[Passage],
    notes: Notes,
    windows: Windows = lambda text: [text],
) -> Closeness:
    """Cosine similarities by the embedding model; by shared words, and said so in the notes, where it cannot run.

    A passage is as close as its closest window, so that a long passage is not judged by its average.
    """
    texts = [passage["text"] for passage in passages]
    if embeddings is None:
        notes.degraded("There is no embedding model; similarities were measured by shared words.")
        return by_words(question, answer, claims, texts)
    try:
        return by_vectors(embeddings, question, answer, claims, texts, windows)
    # Whatever an embedding model of the caller's own raises must not cost the answer its verification.
    except Exception as error:
        notes.degraded(
            f"The embedding model failed ({type(error).__name__}: {error}); similarities were measured by shared words."
        )
        return by_words(question, answer, claims, texts)


def by_words(question: str, answer: str, claims: Sequence[str], texts: Sequence[str]) -> Closeness:
    """Closeness as the share of a claim's content words in a passage, and of the question's in the answer."""
    rows = tuple(tuple(overlap(claim, text) for text in texts) for claim in claims)
    return Closeness(rows, overlap(question, answer))


def by_vectors(
    embeddings: Embeddings,
    question: str,
    answer: str,
    claims: Sequence[str],
    texts: Sequence[str],
    windows: Windows = lambda text: [text],
) -> Closeness:
    """Closeness as cosine similarity, negative ones as 0.0; everything is embedded in one call."""
    cut = [[window for window in windows(text) if window.strip()] for text in texts]
    flat = [window for group in cut for window in group]
    # The question and the answer are embedded as documents too: they are compared as two statements.
    pair = [question, answer] if question.strip() and answer.strip() else []
    vectors = unit(embeddings.embed_documents([*pair, *claims, *flat]), len(pair) + len(claims) + len(flat))
    said, kept = vectors[len(pair) : len(pair) + len(claims)], vectors[len(pair) + len(claims) :]
    scores = np.clip(said @ kept.T, 0.0, 1.0)
    rows = np.zeros((len(claims), len(texts)), dtype=np.float32)
    position = 0
    for column, group in enumerate(cut):
        if group and len(claims):
            rows[:, column] = scores[:, position : position + len(group)].max(axis=1)
        position += len(group)
    relevance = float(np.clip(vectors[0] @ vectors[1], 0.0, 1.0)) if pair else 0.0
    return Closeness(tuple(tuple(float(value) for value in row) for row in rows), relevance)


def unit(vectors: object, wanted: int) -> Vectors:
    """Vectors as rows of unit length; raises ModelError when they are not `wanted` rows of finite numbers."""
    if wanted == 0:
        return np.zeros((0, 1), dtype=np.float32)
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2 or len(rows) != wanted or not np.isfinite(rows).all():
        raise ModelError(
            f"the embedding model returned an array of shape {rows.shape} for {wanted} texts, or numbers that are not "
            "finite; wanted one vector of finite numbers a text: check the model."
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    result: Vectors = (rows / np.where(lengths == 0.0, 1.0, lengths)).astype(np.float32)
    return result
