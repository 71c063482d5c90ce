"""Consistency: does the answer contradict itself, or what is known?"""

from collections.abc import Sequence
from itertools import combinations
from typing import Final, Protocol

from cragraph.protocols import Notes
from cragraph.verification.conflicts import contradict
from cragraph.verification.result import counted
from cragraph.verification.signals.material import Material, NotMeasured

MOST_CLAIMS: Final = 40
"""How many claims are compared pairwise; later ones are left out so that time does not grow without bound."""


class ConsistencyScorer(Protocol):
    """Scores 0..1 how far an answer contradicts neither itself nor the known facts; raises rather than guesses."""

    @property
    def name(self) -> str:
        """What notes call it."""
        ...

    def __call__(self, answer: str, known_facts: Sequence[str], notes: Notes) -> float:
        """The score."""
        ...


def internal_consistency(material: Material) -> float:
    """1 - the share of the claims that contradict another claim of the answer, 0..1 (consistency check).

    A contradiction is the same statement with another figure, another direction or a negation; it cannot see one
    that takes reasoning. The score of an injected scorer, where there is one, takes its place.
    """
    if material.consistency is not None:
        return material.consistency
    texts = [verdict["text"] for verdict in counted(material.verdicts)][:MOST_CLAIMS]
    involved = {
        index
        for one, other in combinations(range(len(texts)), 2)
        if contradict(texts[one], texts[other])
        for index in (one, other)
    }
    return 1.0 - len(involved) / len(texts) if texts else 1.0


def knowledge_consistency(material: Material) -> float:
    """1 - the share of the claims that known facts contradict, 0..1; 1.0 without known facts (consistency check)."""
    if material.knowledge is None:
        raise NotMeasured("no judge could compare the answer with the known facts")
    claims = counted(material.knowledge)
    if any(verdict["verdict"] == "unjudged" for verdict in claims):
        raise NotMeasured("no judge could compare every claim with the known facts")
    return 1.0 - sum(v["verdict"] == "contradicted" for v in claims) / len(claims) if claims else 1.0
