"""Finalize: the best attempt, the low-confidence policy, verified citations, the response."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from cragraph.graph.context import Context
from cragraph.graph.routing import best, relevance, wanted_chunks
from cragraph.graph.state import State
from cragraph.protocols import Notes
from cragraph.types import IDK, Attempt, Verdict
from cragraph.verification.citations import cite
from cragraph.verification.policies import calculate_confidence
from cragraph.verification.prune import prune
from cragraph.verification.result import claim_row, level_of
from cragraph.verification.sources import reliance

INTERNAL = frozenset({"context", "verdicts", "verification"})
"""What an attempt keeps in the state; the response shows the verification where claims are asked for."""

WEIGHTED = (
    "overall_score", "answer_source_alignment", "citation_coverage", "fact_verification_score", "issues",
    "verified_sources", "unverified_claims",
)  # fmt: skip
"""What the weighted policy adds to the response's verification."""

SHOWN = (
    "signals", "hallucination_score", "attribution_coverage", "uncovered", "suggested_corrections", "warnings",
    "passed", "judge", "policy",
)  # fmt: skip
"""What `show_claims` adds beside the claims."""


LOGGED = ("question", "degraded", "models", "llm_calls", "rerank_gain")
"""What the metrics log gets beside the response."""


@dataclass(frozen=True)
class Finalize:
    """Write the response; `unanswered` finds the parts of a question that an answer leaves out; `log` gets it too."""

    unanswered: Callable[[str, str], list[str]] | None = None
    log: Callable[[dict[str, Any]], None] | None = None

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the response's fields."""
        response = respond(state, context)
        if self.unanswered and context.verify and not response["abstained"]:
            response["issues"] += gaps(state.asked or state.question, response["answer"], self.unanswered)
        if response["verification"] is not None:
            response["verification"]["crag_attempts"] = len(state.attempts) - 1
        response["attempts"] = [shown(attempt, context) for attempt in state.attempts]
        response["timings_ms"] = state.timings_ms | {"total": round((time.time() - state.started) * 1000, 3)}
        if self.log is not None:
            facts = {
                name: getattr(state, name) for name in ("question", "degraded", "models", "llm_calls", "rerank_gain")
            }
            self.log(response | facts)
        return response


def respond(state: State, context: Context) -> dict[str, Any]:
    """The response to the best attempt under the low-confidence policy."""
    if not state.attempts:
        return abstention(too_little(state, context))
    attempt = best(state.attempts)
    halted = [state.halted] if state.halted else []
    if attempt["answer"] == IDK:
        return abstention(*halted, "The passages that were found do not answer the question.")
    issues = halted + list(attempt.get("verification", {}).get("issues", []))
    confidence = attempt["confidence"]
    if confidence is None or confidence >= context.confidence_threshold:
        return answered(attempt, context, issues)
    low = f"Confidence {confidence:.2f} is below the threshold of {context.confidence_threshold:.2f}."
    if context.on_low_confidence == "flag" or unjudged(attempt):
        return answered(attempt, context, [low, *issues])
    if context.on_low_confidence == "prune":
        return pruned(attempt, context, [low, *issues])
    return abstention(low, *issues, attempt=attempt, context=context)


def gaps(question: str, answer: str, unanswered: Callable[[str, str], list[str]]) -> list[str]:
    """What the answer seems to leave out: support says that it is true, not that it is an answer."""
    parts = unanswered(question, answer) if question else []
    if parts == [question]:
        return ["The answer may not address the question."]
    return [f"This part of the question may be unanswered: “{part}”" for part in parts]


def answered(attempt: Attempt, context: Context, issues: list[str]) -> dict[str, Any]:
    """The attempt's answer with its citations."""
    verdicts = verdicts_of(attempt)
    answer, citations = cite(attempt["answer"], verdicts, attempt.get("context", []))
    confidence = attempt["confidence"]
    return {
        "answer": answer,
        "abstained": False,
        "confidence": confidence,
        "confidence_level": None if confidence is None else level_of(confidence),
        "is_grounded": attempt["is_grounded"],
        "citations": citations,
        "verification": block(attempt, context),
        "issues": issues,
    }


def pruned(attempt: Attempt, context: Context, issues: list[str]) -> dict[str, Any]:
    """Only the supported sentences, judged as what is left; an abstention where nothing is."""
    text, kept = prune(attempt["answer"], verdicts_of(attempt))
    if not text:
        return abstention(*issues, "No sentence of the answer is supported.", attempt=attempt, context=context)
    removed = len(verdicts_of(attempt)) - len(kept)
    left = Attempt(
        **attempt
        | {
            "answer": text,
            "confidence": calculate_confidence(kept) * reliance(kept),
            "is_grounded": True,
            "claims_checked": len(kept),
            "claims_supported": len(kept),
            "verdicts": kept,
        }
    )
    return answered(left, context, [f"{removed} unsupported claims were removed from the answer.", *issues])


def abstention(*issues: str, attempt: Attempt | None = None, context: Context | None = None) -> dict[str, Any]:
    """`IDK`, and why; `attempt` is the answer that was withheld."""
    confidence = (attempt["confidence"] if attempt else None) or 0.0
    return {
        "answer": IDK,
        "abstained": True,
        "confidence": confidence,
        "confidence_level": level_of(confidence),
        "is_grounded": False,
        "citations": [],
        "verification": block(attempt, context) if attempt and context else None,
        "issues": list(issues),
    }


def block(attempt: Attempt, context: Context) -> dict[str, Any] | None:
    """The response's `verification`; claims and signals only where they were asked for."""
    inner = attempt.get("verification")
    if inner is None or (not attempt["claims_checked"] and unjudged(attempt)):
        return None
    summary: dict[str, Any] = {
        "confidence": attempt["confidence"],
        "is_grounded": attempt["is_grounded"],
        "claims_checked": attempt["claims_checked"],
        "claims_supported": attempt["claims_supported"],
    }
    if context.policy == "weighted":
        summary |= {name: inner[name] for name in WEIGHTED if name in inner}
    if context.policy_scores:
        summary["policy_scores"] = inner["policy_scores"]
    if context.show_claims:
        summary |= {name: inner[name] for name in SHOWN if name in inner}
        summary["claims"] = [claim_row(v) | {"evidence": v["evidence"]} for v in verdicts_of(attempt)]
    return summary


def shown(attempt: Attempt, context: Context) -> Attempt:
    """An attempt as the response shows it."""
    hidden = INTERNAL - {"verification"} if context.show_claims else INTERNAL
    return cast(Attempt, {name: value for name, value in attempt.items() if name not in hidden})


def verdicts_of(attempt: Attempt) -> list[Verdict]:
    """The attempt's verdicts; none where verification was off."""
    return attempt.get("verdicts", [])


def unjudged(attempt: Attempt) -> bool:
    """Whether no claim of the attempt could be judged: then its confidence says nothing against the answer."""
    verdicts = verdicts_of(attempt)
    return bool(verdicts) and all(v["verdict"] == "unjudged" for v in verdicts)


def too_little(state: State, context: Context) -> str:
    """Why the evidence gate closed, and what would open it."""
    relevant = sum(relevance(passage) >= context.relevance_floor for passage in state.held)
    wanted = wanted_chunks(state, context)
    if not state.held:
        return "No passage was found: ingest documents about this, or ask in other words."
    return (
        f"Only {relevant} relevant passage{'s were' if relevant != 1 else ' was'} found and {wanted} are wanted: "
        f"ingest more about this, or set min_chunks to {max(relevant, 1)}."
    )
