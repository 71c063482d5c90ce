"""The embedding judge: closeness in meaning, held to the facts."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from langchain_core.embeddings import Embeddings

from cragraph.errors import ModelError
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.embedding import EmbeddingJudge


@dataclass
class CountingEmbeddings(Embeddings):
    """Vectors of letter counts; remembers each call."""

    calls: list[list[str]] = field(default_factory=list)
    make: Callable[[str], list[float]] = lambda text: [float(text.count(letter)) + 0.1 for letter in "aeiou"]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.calls.append(texts)
        return [self.make(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.make(text)


PASSAGES = as_passages(["Sales rose in spring. Costs fell. The sun is hot.", "Profits doubled in 2022."])
ANSWER = "Sales rose in spring. Profits doubled in 2022. Sales rose in spring."


@pytest.mark.parametrize(
    "make",
    [lambda text: [float("nan")], lambda text: [float("inf"), 1.0], lambda text: 1.0],
    ids=["nan", "inf", "flat"],
)
def test_useless_vectors_are_refused(make: Callable[[str], list[float]]) -> None:
    with pytest.raises(ModelError, match="one vector of finite numbers a text"):
        EmbeddingJudge(CountingEmbeddings(make=make))(split_claims(ANSWER), PASSAGES, Notes())
