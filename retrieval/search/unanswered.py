"""Which parts of a question an answer leaves open."""

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from cragraph.retrieval.search.decompose import decompose
from cragraph.retrieval.search.words import is_stopword, stem_set, stems, words
from cragraph.types import IDK

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

SIMILAR: Final = 0.25
"""Cosine of a part and an answer's sentence from which the sentence is about the part."""

TERSE: Final = 6
"""An answer of fewer words, such as "308 points", repeats nothing of the question; it is taken as an answer."""

_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_MARK: Final = re.compile(r"(?<![.?!]\s)(?<!^)\b[A-Z][\w-]*|\b\w*\d[\w-]*")
_MARKERS: Final = re.compile(r"\[\d+\]")


def unanswered_parts(question: str, answer: str, embeddings: "Embeddings") -> list[str]:
    """The parts of a question that no sentence of the answer is about, in order; all of it where there is no answer.

    The parts are those of `decompose`, else the question. A part of several is addressed by an answer that has the
    words which set it apart from the other parts, or else by a sentence as near to it as `SIMILAR`; where names or
    figures set it apart, one of them has to be said. A single question is addressed by any answer that is terse, shares
    half of its words, or is that near.
    """
    text = _MARKERS.sub("", answer).strip()
    parts = decompose(question) or [question]
    if not text or text == IDK or not question.strip():
        return [part for part in parts if part.strip()]
    sentences = [s for s in _SENTENCES.split(text) if words(s)]
    if not sentences or (len(parts) == 1 and len(words(text)) < TERSE):
        return []
    said = frozenset(stems()([text])[0])
    asked = [stem_set(part) for part in parts]
    common = frozenset.intersection(*asked) if len(parts) > 1 else frozenset()
    marks = _marks(question)
    silent = {i for i, part in enumerate(asked) if len(parts) > 1 and not _named(marks, part - common, said)}
    doubtful = [i for i, own in enumerate(asked) if i in silent or not _said(own - common or own, said)]
    if not doubtful:
        return []
    vectors = np.asarray(embeddings.embed_documents([*(parts[i] for i in doubtful), *sentences]), dtype=np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    nearest = (vectors[: len(doubtful)] @ vectors[len(doubtful) :].T).max(axis=1)
    return [parts[i] for i, near in zip(doubtful, nearest, strict=True) if near < SIMILAR or i in silent]


def _named(marks: frozenset[str], own: frozenset[str], said: frozenset[str]) -> bool:
    """Whether one of the names and figures that set a part apart is said, where it has any."""
    apart = own & marks
    return not apart or bool(apart & said)


def _marks(question: str) -> frozenset[str]:
    """The stems of a question's names and figures: its words with a digit, and with a capital that begins nothing."""
    found = [match.group() for match in _MARK.finditer(question) if not is_stopword(match.group())]
    return stem_set(" ".join(found)) if found else frozenset()


def _said(own: frozenset[str], said: frozenset[str]) -> bool:
    """Whether half of some words are said."""
    return bool(own) and len(own & said) / len(own) >= 0.5
