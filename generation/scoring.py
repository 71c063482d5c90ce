"""How well a sentence answers a question: words covered, meaning, and the kind of answer offered."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cragraph.generation.candidates import Candidate
from cragraph.generation.questions import Kind, Question
from cragraph.protocols import Embeddings
from cragraph.text.lexicon import LEXICON, pattern
from cragraph.text.words import content_words

_WISHING: Final = pattern("wishing")
_OF_WISHES: Final = re.compile(
    r"\b(?:want|wish|like|love|hope|ask|request|prefer|need|wünsch|möcht|woll|bitte)\w*", re.I
)
_HOW_OLD: Final = re.compile(r"\bhow old\b|\bage\b|\bwie alt\b", re.I)
_AGED: Final = re.compile(r"((?:[A-ZÄÖÜ][\w’'-]+ ?)+)(?:, | ?\()(?:aged? |who is )?\d{1,3}\b(?! ?[:/.-]\d)")
"""Whom an age belongs to: "Ann Lee, aged 16", "Ann Lee (16)"."""
_CORPORATE: Final = r"(?:Inc|Corp\w*|Company|Companies|Co|Ltd|plc|PLC|LLC|AG|GmbH|Group|Limited)\b"
_RIVALS: Final = tuple(frozenset(content_words(line)) for line in LEXICON["rivals"].strip().splitlines())
"""Words of one kind, of which a thing is called by one: who asks for the summer course does not mean the spring one."""

IN_SUBJECT: Final = 0.9  # what a question word counts that stands where the sentence's opening pronoun points to
IN_CONTEXT: Final = 0.6  # what a question word counts that stands only in a heading or title


@dataclass(frozen=True)
class Features:
    """What is known of one candidate; all 0..1.

    `coverage` is the share of the question's words that it holds, rare words counting more; `similarity` the cosine
    to the question; `kind` whether it offers the kind of answer asked for (0.5 where any would do); `passage_score`
    how well its passage was ranked.
    """

    coverage: float
    similarity: float
    kind: float
    passage_score: float


def by_words(features: Features) -> float:
    """How well a candidate answers, 0..1."""
    f = features
    return 0.35 * f.coverage + 0.45 * f.similarity + 0.15 * f.kind + 0.05 * f.passage_score


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


def kind_of(question: Question, candidate: Candidate) -> float:
    """Whether the candidate offers the kind of answer asked for; 0.5 where the question leaves it open.

    A row of figures offers one as far as its label is what the question asks about: "Total sales" is a better row for
    "total sales in 2019" than "Total cost of sales and services".
    """
    if candidate.is_row:
        if question.kind in (Kind.PERSON, Kind.PLACE):
            # A broken row often keeps an office and loses who holds it: only a name of two words is one.
            cells = " ".join(re.findall(r"(?:[A-Z][\w.’'-]*\s+)+[A-Z][\w’'-]+", candidate.text))
            return (question.answered_in_kind(f"| {cells}") or 0.0) if cells else 0.0
        label = set(content_words(candidate.label))
        shared = len(label & set(content_words(question.text))) / len(label) if label else 0.0
        values = re.sub(r"\|[^|:]*:(?=\s)", "|", candidate.text)  # without the names of columns, such as 2022
        if question.kind in (Kind.MONEY, Kind.TIME) and not question.answered_in_kind(values):
            return 0.0
        return shared if question.wants_figures else shared / 2
    offered = question.answered_in_kind(candidate.text)
    return 0.5 if offered is None else offered


def mistaken(question: Question, candidate: Candidate) -> bool:
    """Whether a candidate speaks of somebody or something else than the question, or of what is only wished for.

    It holds the name that is asked about in longer ones only: "Acme Paints" and the "Acme Foundation" are not Acme; it
    tells the age of others; or it has another word of a kind of which the question names one: the spring course is not
    the summer course.
    """
    text = f"{candidate.opener} {candidate.text}"
    if _WISHING.search(candidate.text) and not _OF_WISHES.search(question.text):
        return True
    if question.kind is Kind.PERSON and any(_only_within(name, text) for name in question.names):
        return True
    if _HOW_OLD.search(question.text) and (aged := _AGED.findall(text)):
        asked = set(" ".join(question.names).split())
        if asked and asked.isdisjoint(word for name in aged for word in name.split()):
            return True
    if question.kind is Kind.YES_NO:
        return False
    asked, own = set(content_words(question.text)), set(content_words(f"{candidate.context} {text}"))
    return any(asked & kind and not asked & kind & own and own & kind - asked for kind in _RIVALS)


def _only_within(name: str, text: str) -> bool:
    whole = rf"(?<!\w){re.escape(name)}(?!\w)"
    alone = rf"{whole}(?!['’]?\w*\s+(?!{_CORPORATE})[A-Z][a-z]+)"
    return re.search(whole, text) is not None and re.search(alone, text) is None


def own_words(candidate: Candidate) -> tuple[str, ...]:
    """The candidate's words; a row owns those of the header that names its columns."""
    return content_words(f"{candidate.header} {candidate.text}")


def read_words(candidate: Candidate) -> dict[str, float]:
    """The words that the candidate is read with, and how much each counts."""
    counts = dict.fromkeys(content_words(candidate.context), IN_CONTEXT)
    counts.update(dict.fromkeys(content_words(candidate.subject), IN_SUBJECT))
    counts.update(dict.fromkeys(own_words(candidate), 1.0))
    return counts
