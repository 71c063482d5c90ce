"""What a verification returns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from cragraph.types import Label, Level, Verdict
from cragraph.verification.claims import Uncovered

CREDIT: Final[dict[Label, float]] = {
    "supported": 1.0,
    "partially_supported": 0.5,
    "unsupported": 0.0,
    "contradicted": 0.0,
    "unjudged": 0.0,
}
"""How much of a supported claim each label is worth; partly supported is half."""

AGAINST: Final[frozenset[Label]] = frozenset({"unsupported", "contradicted"})
"""Labels that speak against the answer; a contradicted claim is an unsupported one."""

IN_FAVOUR: Final[frozenset[Label]] = frozenset({"supported", "partially_supported"})


def is_counted(verdict: Verdict) -> bool:
    """Whether a claim can speak for or against its answer: an opinion or a question cannot."""
    return verdict["type"] != "opinion" and not verdict["text"].rstrip(" \t\n\"'”’»)]*_").endswith(("?", "？"))


def counted(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts on claims that count; in an answer of opinions alone, those that the passages support.

    "The view is beautiful", quoted from a document, is an answer: with nothing else to go by it speaks for itself.
    """
    every = list(verdicts)
    return [v for v in every if is_counted(v)] or [v for v in every if v["verdict"] == "supported"]


def mean_support(verdicts: Sequence[Verdict]) -> float:
    """Mean support of the verdicts, 0..1; an unjudged claim has none, and neither has an empty list."""
    if not verdicts:
        return 0.0
    return sum(0.0 if v["verdict"] == "unjudged" else v["support"] for v in verdicts) / len(verdicts)


LEVELS: tuple[tuple[float, Level], ...] = ((0.9, "high"), (0.7, "medium"), (0.5, "low"))
"""Lower bounds of the levels, highest first; what is below the last one is very low."""


def level_of(confidence: float) -> Level:
    """The level of a confidence in 0..1: at least 0.9 high, 0.7 medium, 0.5 low, else very low.

    Rounding to nine digits first keeps a sum such as 0.3 + 0.6 at the bound that it stands for.
    """
    for bound, level in LEVELS:
        if round(confidence, 9) >= bound:
            return level
    return "very low"


GROUNDED_BELOW: Final = 0.3
"""An answer is grounded when its hallucination score lies below this (reliability policy's document)."""


@dataclass(frozen=True)
class Verification:
    """The judged claims of one answer, what was measured on it, and the confidence that a policy makes of both.

    `confidence` is 0..1. `signals` holds what was measured, by name; what could not be measured is absent and named
    in `degraded`. `judge` names the judges whose verdicts stand, ``"none"`` when no judge could run. `ms` is wall
    time. `threshold` is the confidence from which an answer is good enough.
    """

    confidence: float
    claims: tuple[Verdict, ...] = ()
    signals: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    issues: tuple[str, ...] = ()
    judge: str = "none"
    policy: str = "claims"
    policy_scores: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    degraded: tuple[str, ...] = ()
    uncovered: tuple[Uncovered, ...] = ()
    threshold: float = 0.7
    ms: float = 0.0
    failed: bool = field(default=False, kw_only=True)
    """Whether verification failed altogether, so that nothing was judged."""

    @property
    def level(self) -> Level:
        """The confidence in words."""
        return level_of(self.confidence)

    @property
    def counted(self) -> list[Verdict]:
        """The verdicts that speak for or against the answer: opinions and questions do not."""
        return counted(self.claims)

    @property
    def claims_checked(self) -> int:
        """How many claims count and were judged."""
        return sum(v["verdict"] != "unjudged" for v in self.counted)

    @property
    def claims_supported(self) -> int:
        """How many of them are supported."""
        return sum(v["verdict"] == "supported" for v in self.counted)

    @property
    def hallucination_score(self) -> float:
        """1 - mean support of the claims that count; 0.0 where there is none."""
        claims = self.counted
        return round(1.0 - mean_support(claims), 9) if claims else 0.0

    @property
    def is_grounded(self) -> bool:
        """Whether the hallucination score is below 0.3, every claim was judged and none is contradicted.

        An answer without a claim is not grounded: there was nothing to ground.
        """
        labels = {v["verdict"] for v in self.counted}
        if not labels or self.failed or labels & {"unjudged", "contradicted"}:
            return False
        return self.hallucination_score < GROUNDED_BELOW

    @property
    def attribution_coverage(self) -> float | None:
        """Share of the claims that resemble a passage closely; None when it was not measured."""
        return self.signals.get("attribution_coverage")

    @property
    def unsupported_claims(self) -> list[Verdict]:
        """The verdicts that speak against the answer."""
        return [v for v in self.counted if v["verdict"] in AGAINST]

    @property
    def unverified_claims(self) -> list[str]:
        """Texts of the claims that are not (or not wholly) supported."""
        return [v["text"] for v in self.counted if v["verdict"] != "supported"]

    @property
    def verified_sources(self) -> list[str]:
        """Ids of the chunks that hold the evidence of supported claims, in order of first use."""
        found = (v["evidence"]["chunk_id"] for v in self.counted if v["verdict"] == "supported" and v["evidence"])
        return list(dict.fromkeys(found))

    @property
    def suggested_corrections(self) -> list[str]:
        """What the failed claims should say, where the judge knows."""
        return [v["correction"] for v in self.claims if v.get("correction")]

    @property
    def warnings(self) -> list[str]:
        """Why the answer did not pass, one plain sentence each; empty when it passed."""
        found = []
        if self.confidence < self.threshold:
            found.append(f"Low confidence: {self.confidence:.2f} (threshold {self.threshold:.2f})")
        if unsupported := len(self.unsupported_claims):
            found.append(f"Found {unsupported} unsupported claim(s)")
        if unjudged := sum(v["verdict"] == "unjudged" for v in self.counted):
            found.append(f"{unjudged} claim(s) could not be judged")
        if not self.counted:
            found.append("No claim to check was found in the answer")
        return found

    @property
    def passed(self) -> bool:
        """Whether there is nothing to warn of."""
        return not self.warnings

    def summary(self) -> dict[str, Any]:
        """The response's `verification` block, without a claim in it.

        The fields of the weighted verification formula are in it where its signals were measured.
        """
        block: dict[str, Any] = {
            "confidence": self.confidence,
            "is_grounded": self.is_grounded,
            "claims_checked": self.claims_checked,
            "claims_supported": self.claims_supported,
        }
        if "weighted" in self.policy_scores:
            block |= {
                "overall_score": self.policy_scores["weighted"],
                "answer_source_alignment": self.signals["alignment"],
                "citation_coverage": self.signals["citation_coverage"],
                "fact_verification_score": self.signals["fact_score"],
                "issues": list(self.issues),
                "verified_sources": self.verified_sources,
                "unverified_claims": self.unverified_claims,
            }
        return block

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON: a row of `verify --jsonl` without its id."""
        return self.summary() | {
            "confidence": self.confidence,
            "level": self.level,
            "is_grounded": self.is_grounded,
            "hallucination_score": self.hallucination_score,
            "attribution_coverage": self.attribution_coverage,
            "claims": [claim_row(v) for v in self.claims],
            "signals": dict(self.signals),
            "issues": list(self.issues),
            "verified_sources": self.verified_sources,
            "unverified_claims": self.unverified_claims,
            "suggested_corrections": self.suggested_corrections,
            "judge": self.judge,
            "policy": self.policy,
            "policy_scores": dict(self.policy_scores),
            "degraded": list(self.degraded),
            "uncovered": [dict(part) for part in self.uncovered],
            "warnings": self.warnings,
            "passed": self.passed,
            "ms": round(self.ms, 1),
        }


def claim_row(verdict: Verdict) -> dict[str, Any]:
    """A verdict as plain JSON; what the judge did not say is left out, but `evidence` is null."""
    evidence = verdict["evidence"]
    row: dict[str, Any] = {
        "text": verdict["text"],
        "start": verdict["start"],
        "end": verdict["end"],
        "type": verdict["type"],
        "verdict": verdict["verdict"],
        "support": verdict["support"],
        "contradiction": verdict["contradiction"],
        "judge": verdict["judge"],
        "evidence": evidence and {key: evidence[key] for key in ("quote", "passage", "start", "end")},
    }
    if verdict["reasoning"]:
        row["reasoning"] = verdict["reasoning"]
    if "source_weight" in verdict:
        row["source_weight"] = verdict["source_weight"]
    if verdict.get("correction"):
        row["correction"] = verdict["correction"]
    if verdict.get("unsupported_spans"):
        row["unsupported_spans"] = [list(span) for span in verdict["unsupported_spans"]]
    return row
