"""Parts that keep their contracts and remember what they were asked; for tests of graphs that use cragraph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cragraph.passages import as_passages
from cragraph.protocols import Brief, Notes
from cragraph.types import Claim, Evidence, Label, Passage, Verdict
from cragraph.verification.judges.verdicts import verdict_of


@dataclass
class FakeGenerator:
    """Writes the given answers in turn, the last one for ever; an exception among them is raised."""

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
        """One verdict per claim, with the start of the first passage as evidence of what is supported."""
        self.asked += [claim["text"] for claim in claims]
        return [self._verdict(claim, passages) for claim in claims]

    def _verdict(self, claim: Claim, passages: Sequence[Passage]) -> Verdict:
        support = next((s for text, s in self.support.items() if text in claim["text"]), 0.0)
        evidence = None
        if support >= 0.5 and passages:
            quote = passages[0]["text"][:40]
            evidence = Evidence(quote=quote, passage=0, chunk_id=passages[0]["chunk_id"], start=0, end=len(quote))
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
        found = [p for word, passages in self.table.items() if any(word in q for q in queries) for p in passages]
        return as_passages(found)[:k]


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
        """One query a failed claim and one an unanswered part."""
        queries = [verdict["text"] for verdict in failed] + list(unanswered)
        self.history.append(tuple(queries))
        return queries
