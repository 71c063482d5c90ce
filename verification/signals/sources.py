"""Signals of the sources: how well they match the question, and how many of them agree with the answer."""

from typing import Final

from cragraph.types import Passage
from cragraph.verification.result import is_counted
from cragraph.verification.signals.material import Material

UNSCORED: Final = 0.5
"""What a passage without a score counts for (reliability formula)."""


def retrieval_quality(material: Material) -> float:
    """Mean relevance of the passages, 0..1; 0.5 for a passage that nobody scored, 0.0 without passages.

    Reliability formula. It favours runs whose passages match the question, whatever the answer makes of them.
    """
    scores = [relevance_of(passage) for passage in material.passages]
    return sum(scores) / len(scores) if scores else 0.0


def relevance_of(passage: Passage) -> float:
    """The rerank score of a passage, else its retrieval score, else `relevance_score` in its metadata, else 0.5."""
    for score in (passage["rerank_score"], passage["retrieval_score"], passage["metadata"].get("relevance_score")):
        if isinstance(score, int | float) and not isinstance(score, bool) and score == score:
            return min(max(float(score), 0.0), 1.0)
    return UNSCORED


def source_agreement(material: Material) -> float:
    """Share of the passages that agree with the answer, 0..1; 0.0 without passages (reliability formula).

    A passage agrees when it is at least 0.5 similar to one of the answer's claims and is not the evidence against
    one. It favours answers that several sources share; one good source among five gives 0.2. Where sources have
    weights, each counts by its weight, so that drafts cannot outvote a report.
    """
    if not material.passages:
        return 0.0
    against = {
        verdict["evidence"]["passage"]
        for verdict in material.verdicts
        if verdict["verdict"] == "contradicted" and verdict["evidence"]
    }
    pairs = zip(material.closeness.by_passage, material.verdicts, strict=True)
    rows = [row for row, verdict in pairs if is_counted(verdict)]
    threshold = material.options.agreement_threshold
    weights = material.weights or [1.0] * len(material.passages)
    agreeing = sum(
        weight
        for position, weight in enumerate(weights)
        if position not in against and any(row[position] >= threshold for row in rows)
    )
    total = sum(weights)
    return agreeing / total if total else 0.0


def attribution_coverage(material: Material) -> float:
    """Share of the claims more than 0.7 similar to some passage, 0..1; 0.0 without claims (source attribution)."""
    best = [
        score for score, verdict in zip(material.closeness.best, material.verdicts, strict=True) if is_counted(verdict)
    ]
    if not best:
        return 0.0
    return sum(score > material.options.attribution_threshold for score in best) / len(best)
