"""The simplest judges there are, to be measured beside ours: what a judge has to beat to be worth its time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from langchain_core.embeddings import Embeddings

from cragraph.protocols import Judge, Notes
from cragraph.types import Claim, Label, Passage, Verdict
from cragraph.verification.claims import without_markers
from cragraph.verification.judges.verdicts import verdict_of
from cragraph.verification.windows import space

THRESHOLD = 0.5
WINDOWS = 3


@dataclass(frozen=True)
class CoverageJudge:
    """Support is the weighted share of the claim's words that stand in any passage."""

    name: str = "coverage"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict a claim, in order."""
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
        """One verdict a claim, in order."""
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
