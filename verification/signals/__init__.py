"""Signals: each one number in 0..1 measured on an answer, a pure function in one table."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from cragraph.verification.result import counted, mean_support
from cragraph.verification.signals.alignment import AlignmentScorer, alignment, keyword_overlap
from cragraph.verification.signals.citations import citation_coverage
from cragraph.verification.signals.completeness import completeness, unaddressed_parts
from cragraph.verification.signals.consistency import ConsistencyScorer, internal_consistency, knowledge_consistency
from cragraph.verification.signals.facts import fact_score, judge_failed, key_claims
from cragraph.verification.signals.faithfulness import faithfulness
from cragraph.verification.signals.material import Material, NotMeasured, SignalOptions
from cragraph.verification.signals.relevance import relevance
from cragraph.verification.signals.sources import attribution_coverage, retrieval_quality, source_agreement
from cragraph.verification.signals.uncertainty import uncertainty, uncertainty_indicators

__all__ = [
    "BY_SIMILARITY",
    "ISSUES",
    "SIGNALS",
    "AlignmentScorer",
    "ConsistencyScorer",
    "Material",
    "NotMeasured",
    "SignalOptions",
    "issues_of",
    "judge_failed",
    "key_claims",
    "keyword_overlap",
    "unaddressed_parts",
    "uncertainty_indicators",
]


def hallucination(material: Material) -> float:
    """1 - mean support of the claims, 0..1, 0.0 without claims (hallucination detection formula).

    It favours answers whose claims are each well supported; one invention among many claims barely shows.
    """
    claims = counted(material.verdicts)
    return 1.0 - mean_support(claims) if claims else 0.0


SIGNALS: Final[Mapping[str, Callable[[Material], float]]] = MappingProxyType(
    {
        "relevance": relevance,
        "faithfulness": faithfulness,
        "completeness": completeness,
        "uncertainty": uncertainty,
        "alignment": alignment,
        "citation_coverage": citation_coverage,
        "fact_score": fact_score,
        "hallucination": hallucination,
        "attribution_coverage": attribution_coverage,
        "retrieval_quality": retrieval_quality,
        "source_agreement": source_agreement,
        "internal_consistency": internal_consistency,
        "knowledge_consistency": knowledge_consistency,
    }
)
"""Every signal by its name. High is good but for `uncertainty` and `hallucination`."""

BY_SIMILARITY: Final = frozenset({"relevance", "faithfulness", "attribution_coverage", "source_agreement"})
"""Signals that need texts embedded."""

ISSUES: Final[Mapping[str, tuple[float, str]]] = MappingProxyType(
    {
        "alignment": (0.5, "Answer may not be well-supported by retrieved sources"),
        "citation_coverage": (0.5, "Many sources are not cited in the answer"),
        "fact_score": (0.7, "Some claims in the answer could not be verified"),
    }
)
"""Below which value a signal is an issue, and how it is worded (weighted verification formula)."""


def issues_of(signals: Mapping[str, float]) -> list[str]:
    """The issues of the signals that were measured, in the table's order."""
    return [text for name, (bound, text) in ISSUES.items() if name in signals and signals[name] < bound]
