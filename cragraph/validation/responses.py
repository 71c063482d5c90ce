"""Verification and correction of a response: the claims with their status, the corrective loop, a chat with both."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, NotRequired

from typing_extensions import TypedDict

from cragraph.api import create_graph, verify, verify_and_correct
from cragraph.graph.context import options_of
from cragraph.settings import Settings, load_settings
from cragraph.validation.answerability import as_context
from cragraph.verification.result import Verification


class ClaimStatus(Enum):
    """What became of a claim; a contradicted claim, and one that nobody could judge, is unsupported."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    PARTIALLY_SUPPORTED = "partially_supported"


@dataclass
class VerifiedClaim:
    """A claim with its status, the quote that decides on it, and why."""

    claim: str
    status: ClaimStatus
    evidence: str | None
    reasoning: str


@dataclass
class VerificationResult:
    """The verification of a response.

    `confidence` is that of `calculate_confidence` for its claims, less what contradictions of the response with itself,
    weaker sources and words that no claim covers cost it. `suggested_corrections` are what a chat model writes, else
    the quotes that contradict the failed claims.
    """

    confidence: float
    is_grounded: bool
    claims: list[VerifiedClaim] = field(default_factory=list)
    suggested_corrections: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, verification: Verification) -> "VerificationResult":
        """The verification in the founding document's fields."""
        claims = []
        for v in verification.counted:
            status = ClaimStatus("unsupported" if v["verdict"] in ("contradicted", "unjudged") else v["verdict"])
            quote = v["evidence"]["quote"] if v["evidence"] else None
            claims.append(VerifiedClaim(v["text"], status, quote, v["reasoning"]))
        return cls(verification.confidence, verification.is_grounded, claims, verification.suggested_corrections)


@dataclass
class CRAGResult:
    """What became of a response that was corrected; `attempts` counts the corrections."""

    final_response: str
    confidence: float
    attempts: int
    verification_history: list[VerificationResult]
    additional_context_used: bool


def verify_response(
    query: str, response: str, context: str | Iterable[Any], user_model: str | None = None
) -> VerificationResult:
    """Verify that a response is grounded in the retrieved context; `user_model` is a model such as ``ollama:llama3.2``.

    `context` is a text or a list of chunks.
    """
    return VerificationResult.of(verify(response, as_context(context), query, settings=_settings(user_model)))


def corrective_rag_loop(
    query: str,
    original_response: str,
    verification: VerificationResult,
    context: str | Iterable[Any],
    user_model: str | None = None,
    max_attempts: int = 2,
    *,
    store: Any = None,
) -> CRAGResult:
    """Correct a poorly grounded response: re-query, retrieve, rewrite, verify again, at most `max_attempts` times.

    Further context is searched in `store` where one is given. A response that is grounded comes back as it is.
    """
    if verification.is_grounded:
        return CRAGResult(original_response, verification.confidence, 0, [verification], False)
    settings = _settings(user_model) if store is not None else _settings(user_model, store=None)
    done = verify_and_correct(
        query, original_response, as_context(context), settings=settings, store=store, max_crag_attempts=max_attempts
    )
    later = [Verification.from_dict(record, record["claims"]) for record in done.history[1:] if record]
    history = [verification, *map(VerificationResult.of, later)]
    return CRAGResult(done.final_response, done.confidence, done.attempts, history, done.additional_context_used)


class ChatResponse(TypedDict):
    """A reply and its `verification`: confidence, is_grounded, claims_checked, claims_supported, crag_attempts."""

    content: str
    model: str
    workspace: str
    verification: NotRequired[dict[str, Any]]


async def chat_with_verification(
    prompt: str,
    workspace: str,
    model: str | None = None,
    enable_verification: bool = True,
    enable_crag: bool = True,
    confidence_threshold: float = 0.7,
) -> ChatResponse:
    """Answer a prompt from a workspace, verified and corrected.

    `workspace` is the folder of a store, else the name of a collection in the store of the settings; `model` a chat
    model such as ``ollama:llama3.2``, or none for the embedded parts. Without verification that field is left out.
    """
    place: dict[str, Any] = {"store": workspace} if Path(workspace).is_dir() else {"collection": (workspace,)}
    threshold = {"confidence_threshold": confidence_threshold, "policy": "claims", "on_low_confidence": "flag"}
    options = threshold | {"verify": enable_verification, "max_crag_attempts": 2 if enable_crag else 0}
    graph = create_graph(load_settings(model=model, **place)).compile()
    response = await graph.ainvoke({"question": prompt}, context=options_of(options))
    reply = ChatResponse(content=response["answer"], model=model or "embedded", workspace=workspace)
    if response["verification"]:
        reply["verification"] = response["verification"]
    return reply


def _settings(model: str | None, **more: Any) -> Settings:
    return load_settings(policy="claims", **({} if model is None else {"model": model}), **more)
