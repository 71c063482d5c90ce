"""Fake parts that keep their contracts and remember their calls, for tests of programs that use cragraph."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from langchain_core.embeddings import Embeddings

from cragraph.language.sentences import sentence_spans
from cragraph.passages import as_passages
from cragraph.protocols import Brief, Notes
from cragraph.types import Claim, ClaimType, Evidence, Label, Passage, Verdict
from cragraph.verification.judges.verdicts import best_sentence, verdict_of
from cragraph.verification.reading import evidence_at
from cragraph.verification.result import CREDIT


class HashEmbeddings(Embeddings):
    """Bags of words hashed to `dimension` numbers of unit length; texts that share words are near each other.

    `asked` remembers every text that was embedded, in order. A text without words gets the first axis.
    """

    def __init__(self, dimension: int = 64, name: str = "hash") -> None:
        self.dimension = dimension
        self.name = f"{name}-{dimension}"
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector per text."""
        self.asked.extend(texts)
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        self.asked.append(text)
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimension
        for word in re.findall(r"\w+", text.lower()):
            digest = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "big")
            vector[digest % self.dimension] += 1.0 if digest >> 63 else -1.0
        length = math.sqrt(sum(number * number for number in vector))
        if not length:
            return [1.0] + [0.0] * (self.dimension - 1)
        return [number / length for number in vector]


@dataclass
class FakeGenerator:
    """Writes the given answers in turn, repeating the last one; an exception among them is raised."""

    answers: Sequence[str | Exception]
    name: str = "fake"
    history: list[Brief] = field(default_factory=list)

    def __call__(self, brief: Brief, notes: Notes) -> str:
        """The next answer."""
        answer = self.answers[min(len(self.history), len(self.answers) - 1)]
        self.history.append(brief)
        if isinstance(answer, Exception):
            raise answer
        return answer


@dataclass
class FakeJudge:
    """Gives a claim the support that the table has for a part of its text, else 0."""

    support: Mapping[str, float]
    name: str = "fake"
    asked: list[str] = field(default_factory=list)

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim; the evidence of a supported claim is the sentence of the passages nearest to it."""
        self.asked += [claim["text"] for claim in claims]
        return [self._verdict(claim, passages) for claim in claims]

    def _verdict(self, claim: Claim, passages: Sequence[Passage]) -> Verdict:
        support = next((s for text, s in self.support.items() if text in claim["text"]), 0.0)
        evidence = best_sentence(claim["text"], passages, share=0.0) if support >= 0.5 else None
        label: Label = "supported" if support >= 0.7 else "partially_supported" if support >= 0.5 else "unsupported"
        return verdict_of(claim, label, support, 0.0, evidence, "as the table says", self.name)


@dataclass
class FakeRetriever:
    """Finds, for each query, the passages that the table lists under a word of the query."""

    table: Mapping[str, Sequence[Any]]
    name: str = "fake"
    history: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(
        self, queries: Sequence[str], k: int, notes: Notes, *, where: Mapping[str, Any] | None = None
    ) -> list[Passage]:
        """Passages in the order of the table, at most `k`."""
        self.history.append(tuple(queries))
        listed = [p for word, passages in self.table.items() if any(word in q for q in queries) for p in passages]
        return as_passages(listed)[:k]


@dataclass
class FakeReranker:
    """Keeps the order and gives falling scores."""

    name: str = "fake"
    history: list[str] = field(default_factory=list)

    def __call__(self, query: str, passages: Sequence[Passage], notes: Notes) -> list[Passage]:
        """Copies with a `rerank_score`."""
        self.history.append(query)
        return [Passage(**(p | {"rerank_score": 1.0 / (n + 1)})) for n, p in enumerate(passages)]


@dataclass
class FakeQueryWriter:
    """Asks for each failed claim by its text."""

    name: str = "fake"
    history: list[tuple[str, ...]] = field(default_factory=list)

    def __call__(
        self,
        question: str,
        failed: Sequence[Verdict],
        unanswered: Sequence[str],
        notes: Notes,
        passages: Sequence[Passage] = (),
    ) -> list[str]:
        """One query per failed claim and per unanswered part."""
        queries = [verdict["text"] for verdict in failed] + list(unanswered)
        self.history.append(tuple(queries))
        return queries


def verdict(
    label: Label = "supported",
    text: str = "A claim.",
    *,
    start: int = 0,
    support: float | None = None,
    evidence: Evidence | None = None,
    type: ClaimType = "factual",
    judge: str = "fake",
    reasoning: str = "",
) -> Verdict:
    """One verdict; its support follows from the label unless it is given."""
    claim = Claim(text=text, start=start, end=start + len(text), type=type)
    against = 1.0 if label == "contradicted" else 0.0
    return verdict_of(claim, label, CREDIT[label] if support is None else support, against, evidence, reasoning, judge)


def quoted(passages: Sequence[Passage], position: int, quote: str | None = None) -> Evidence:
    """Evidence from a passage: the quote, or all of its text."""
    text = passages[position]["text"]
    start = text.index(quote or text)
    return evidence_at(position, start, start + len(quote or text), passages)


def judged(
    answer: str, labels: Sequence[Label], passages: Sequence[Passage] = (), evidence: Sequence[int | None] = ()
) -> list[Verdict]:
    """A verdict for each sentence of an answer: its label, and the position of the passage that is its evidence."""
    spans = sentence_spans(answer)
    places = [*evidence, *[None] * (len(spans) - len(evidence))]
    return [
        verdict(label, answer[start:end], start=start, evidence=None if place is None else quoted(passages, place))
        for (start, end), label, place in zip(spans, labels, places, strict=True)
    ]
