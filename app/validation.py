"""The founding documents' own names and dicts, thin over the rest: validation, verification, the corrective loop."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import AliasChoices, Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

import cragraph
from cragraph.api import create_graph, verify, verify_and_correct
from cragraph.build import Parts
from cragraph.errors import InputError, ModelError, SettingsError
from cragraph.graph.context import Context
from cragraph.models.embeddings import as_embeddings
from cragraph.passages import as_passages
from cragraph.protocols import Judge, Notes
from cragraph.settings import Settings, load_settings
from cragraph.text.markers import without_markers
from cragraph.types import Passage
from cragraph.verification.claims import split_claims
from cragraph.verification.decision import Line, decide, reaches
from cragraph.verification.policies import POLICIES
from cragraph.verification.result import AGAINST, Verification, low_values
from cragraph.verification.signals import SIGNALS, Material, SignalOptions
from cragraph.verification.signals.closeness import measure_closeness
from cragraph.verification.signals.wording import UNCERTAINTY_PHRASES, uncertainty_indicators

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

MOST_SOURCES: Final = 3  # sources that a sentence is given at most


# -- answer validation without a chat model --------------------------------------------------------------------


class ValidationConfig(BaseSettings):
    """Thresholds 0..1 of answer validation: an argument wins over the environment and `.env`, they over the default.

    Variables: ENABLE_ANSWER_VALIDATION, CONFIDENCE_THRESHOLD, HALLUCINATION_THRESHOLD, RELEVANCE_THRESHOLD,
    FAITHFULNESS_THRESHOLD. `uncertainty_words` is a list of its own, to be extended. Raises SettingsError for a
    threshold that is not a number of 0..1.
    """

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", populate_by_name=True)

    enabled: bool = Field(True, validation_alias=AliasChoices("enabled", "ENABLE_ANSWER_VALIDATION"))
    confidence_threshold: float = Field(0.7, ge=0, le=1)
    hallucination_threshold: float = Field(0.5, ge=0, le=1)
    relevance_threshold: float = Field(0.6, ge=0, le=1)
    faithfulness_threshold: float = Field(0.7, ge=0, le=1)
    uncertainty_words: list[str] = Field(default_factory=lambda: list(UNCERTAINTY_PHRASES))

    @field_validator("*", mode="before")
    @classmethod
    def _blank_is_default(cls, value: Any, info: ValidationInfo) -> Any:
        blank = isinstance(value, str) and not value.strip()
        return cls.model_fields[info.field_name or ""].get_default(call_default_factory=True) if blank else value

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]
            name = "_".join(str(part) for part in first["loc"])
            raise SettingsError(
                f"{name} (or {name.upper()} in the environment) is {first['input']!r}; wanted "
                f"{'1 or 0' if 'nable' in name else 'a number of 0..1'}."
            ) from None


class AnswerValidator:
    """Validates answers by similarity and by a judge of contradictions; needs no chat model.

    `embed_model` is any LangChain embedding model, or one with LlamaIndex's or sentence-transformers' methods; without
    one the embedded encoder is used. Safe to call from several threads, as long as the embedding model is.
    """

    def __init__(self, embed_model: Any = None, config: ValidationConfig | None = None) -> None:
        self.config = config if config is not None else ValidationConfig()
        self._parts = _embedded()
        if embed_model is not None:
            self._parts = Parts(load_settings(model=None, judge_model=None), embeddings=as_embeddings(embed_model))

    def validate_answer(self, answer: str, query: str, chunks: Iterable[Any]) -> dict[str, Any]:
        """Every check in one call.

        Returns ``{"confidence_score", "confidence_details", "hallucinations", "hallucination_count", "citations",
        "warnings", "passed", "accepted", "decision"}``. An answer passes, which is to be accepted, when its confidence
        reaches the threshold and no claim is unsupported; `decision` is None where validation is disabled.
        """
        config = self.config
        measured = _Measured(self, answer, query, chunks) if config.enabled else _Measured(self, "", query, ())
        details = measured.confidence()
        unsupported = [{"claim": claim, "support_score": score} for claim, score, bad in measured.checked() if bad]
        reached = {"confidence": details["overall_score"]} | details
        names = ("confidence", "relevance", "faithfulness")
        warnings = low_values((name, reached[name], getattr(config, f"{name}_threshold")) for name in names)
        if unsupported:
            warnings.append(f"Found {len(unsupported)} unsupported claim(s)")
        if details["has_uncertainty"]:
            warnings.append(f"Answer is uncertain: {', '.join(details['uncertainty_indicators'])}")
        line = Line(
            config.confidence_threshold, "person" if "confidence_threshold" in config.model_fields_set else "default"
        )
        decision: Any = decide(
            details["overall_score"], line, "flag", sound=not unsupported, supported=not unsupported, judged=True
        )
        passed = decision.accepted
        if not config.enabled:
            # Nothing was measured, so nothing is claimed.
            warnings, passed, decision = ["Answer validation is disabled: nothing was checked"], True, None
        return {
            "confidence_score": details["overall_score"],
            "confidence_details": details,
            "hallucinations": unsupported,
            "hallucination_count": len(unsupported),
            "citations": measured.citations(),
            "warnings": warnings,
            "passed": passed,
            "accepted": decision and passed,
            "decision": decision and decision.to_dict(),
        }

    def score_confidence(self, answer: str, chunks: Iterable[Any], query: str) -> dict[str, Any]:
        """The confidence and what it is made of.

        ``{"overall_score", "relevance", "faithfulness", "completeness", "has_uncertainty", "uncertainty_indicators"}``,
        where the score is 0.35 relevance + 0.40 faithfulness + 0.25 completeness - 0.1 per phrase of uncertainty, of
        which three count.
        """
        return _Measured(self, answer, query, chunks).confidence()

    def detect_hallucinations(self, answer: str, chunks: Iterable[Any]) -> list[tuple[str, float, bool]]:
        """``(claim, support score, is it unsupported)`` for each claim of the answer, in order.

        Unsupported means similar to no chunk by `hallucination_threshold`, or refused by the embedding judge, which
        sees the wrong figure and the negation that similarity cannot see: then the lower of both scores counts.
        """
        return _Measured(self, answer, "", chunks).checked()

    def extract_citations(self, answer: str, chunks: Iterable[Any]) -> list[dict[str, Any]]:
        """For each sentence its sources: ``{"sentence", "sources": [{"chunk_id", "score", "text", "id"}]}``.

        `chunk_id` is the chunk's position from 0, `id` the id that it carries. Best first, at most three, each at
        least `hallucination_threshold` similar.
        """
        return _Measured(self, answer, "", chunks).citations()


class _Measured:
    """One answer, and how close it is to its question and its passages."""

    def __init__(self, validator: AnswerValidator, answer: str, query: str, chunks: Iterable[Any]) -> None:
        self.config, self.parts = validator.config, validator._parts
        self.answer, self.query, self.passages = answer, query, as_passages(chunks)
        self.claims = split_claims(answer)
        texts = [without_markers(claim["text"]) for claim in self.claims]
        self.close = measure_closeness(self.parts.cached_embeddings, query, answer, texts, self.passages, Notes())

    def confidence(self) -> dict[str, Any]:
        words = self.config.uncertainty_words
        options = SignalOptions(uncertainty_phrases=words)
        material = Material(self.answer, self.passages, (), self.close, question=self.query, options=options)
        signals = {name: SIGNALS[name](material) for name in ("faithfulness", "completeness", "uncertainty")}
        signals["relevance"] = self.close.question_to_answer
        indicators = uncertainty_indicators(self.answer, words)
        return {
            "overall_score": round(POLICIES["similarity"]((), signals), 6),
            **{name: round(signals[name], 6) for name in ("relevance", "faithfulness", "completeness")},
            "has_uncertainty": bool(indicators),
            "uncertainty_indicators": indicators,
        }

    def checked(self) -> list[tuple[str, float, bool]]:
        verdicts = self.parts.verifier.judged(self.claims, self.passages, Notes(), judge="embedding")
        checked = []
        for verdict, similarity in zip(verdicts, self.close.best, strict=True):
            against = verdict["verdict"] in AGAINST
            score = round(min(similarity, verdict["support"]) if against else similarity, 6)
            unsupported = against or not reaches(similarity, self.config.hallucination_threshold)
            checked.append((verdict["text"], score, unsupported and verdict["type"] != "opinion"))
        return checked

    def citations(self) -> list[dict[str, Any]]:
        cited = []
        for claim, row in zip(self.claims, self.close.by_passage, strict=True):
            ranked = sorted(enumerate(row), key=lambda item: -item[1])[:MOST_SOURCES]
            sources = [
                {"chunk_id": n, "score": round(score, 6), "text": passage["text"], "id": passage["chunk_id"]}
                for n, score in ranked
                for passage in [self.passages[n]]
                if reaches(score, self.config.hallucination_threshold)
            ]
            cited.append({"sentence": claim["text"], "sources": sources})
        return cited


def validate_answer(
    answer: str, query: str, chunks: Iterable[Any], *, embed_model: Any = None, config: ValidationConfig | None = None
) -> dict[str, Any]:
    """Every check of `AnswerValidator` in one call, by default with the embedded encoder."""
    return AnswerValidator(embed_model, config).validate_answer(answer, query, chunks)


@lru_cache(maxsize=1)
def _embedded() -> Parts:
    """Parts without a chat model, whatever the environment says, with the embedded encoder."""
    return Parts(load_settings(model=None, judge_model=None))


# -- is it supported at all? -----------------------------------------------------------------------------------


def verify_supported(
    question: str, context: Any, answer: str, *, chat_model: "BaseChatModel | None" = None, judge: Judge | None = None
) -> dict[str, Any]:
    """Whether the context supports all of the answer: ``{"supported": bool, "reason": str}``.

    `context` is a text or a list of chunks. By default the embedded judge decides; `judge` is any callable of the
    judge protocol, for which the embedded one stands in when it fails; `chat_model` any LangChain chat model. A reply
    that cannot be read, and a claim that nobody could judge, never mean supported.
    """
    if not isinstance(answer, str):
        raise InputError(f"The answer came as a {type(answer).__name__}; wanted text: pass a string.")
    passages = _texts(context)
    if not split_claims(answer):
        return {"supported": False, "reason": "The answer makes no claim that could be checked."}
    if chat_model is not None and judge is None:
        parts = Parts(load_settings(), chat_model=chat_model)
        try:
            scores = cragraph.verification.chat.LLMScores(parts.chat, parts.prompts)
            return dict(scores.supported(question, answer, passages, Notes()))
        except ModelError as error:
            return {"supported": False, "reason": f"The verifier gave no verdict: {error}"}
    verifier = _embedded().verifier if judge is None else Parts(load_settings(), judge=judge).verifier
    verification = verifier(question, answer, passages, Notes(), judge="custom" if judge is not None else "auto")
    if not verification.counted:
        return {"supported": False, "reason": "The answer holds nothing but opinions."}
    for verdict in verification.counted:
        if verdict["verdict"] != "supported":
            why = f": {verdict['reasoning']}" if verdict["reasoning"] else ""
            reason = f"“{without_markers(verdict['text'])}” is {verdict['verdict'].replace('_', ' ')}{why}"
            return {"supported": False, "reason": reason}
    return {"supported": True, "reason": f"The context supports all {len(verification.counted)} claim(s)."}


# -- verification and correction of a response -----------------------------------------------------------------


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
    """The verification of a response; `confidence` by the formula of `calculate_confidence`."""

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
    return VerificationResult.of(verify(response, _texts(context), query, settings=_settings(user_model)))


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
        query, original_response, _texts(context), settings=settings, store=store, max_crag_attempts=max_attempts
    )
    later = [Verification.from_dict(record, record["claims"]) for record in done.history[1:] if record]
    history = [verification, *map(VerificationResult.of, later)]
    return CRAGResult(done.final_response, done.confidence, done.attempts, history, done.additional_context_used)


async def chat_with_verification(
    prompt: str,
    workspace: str,
    model: str | None = None,
    enable_verification: bool = True,
    enable_crag: bool = True,
    confidence_threshold: float = 0.7,
) -> dict[str, Any]:
    """Answer a prompt from a workspace, verified and corrected: ``{"content", "model", "workspace", "verification"}``.

    `workspace` is the folder of a store, else the name of a collection in the store of the settings; `model` a chat
    model such as ``ollama:llama3.2``, or none for the embedded parts. Without verification that field is left out.
    """
    place = {"store": workspace} if Path(workspace).is_dir() else {"collection": workspace}
    threshold = {"confidence_threshold": confidence_threshold, "policy": "claims", "on_low_confidence": "flag"}
    options: Any = threshold | {"verify": enable_verification, "max_crag_attempts": 2 if enable_crag else 0}
    graph = create_graph(load_settings(model=model, **place)).compile()
    response = await graph.ainvoke({"question": prompt}, context=Context(**options))
    reply = {"content": response["answer"], "model": model or "embedded", "workspace": workspace}
    return reply | ({"verification": response["verification"]} if response["verification"] else {})


def _settings(model: str | None, **more: Any) -> Settings:
    return load_settings(policy="claims", **({} if model is None else {"model": model}), **more)


def _texts(context: str | Iterable[Any]) -> list[Passage]:
    return as_passages([context] if isinstance(context, str) else context)
