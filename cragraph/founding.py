"""The founding documents' names and dictionaries, as a thin layer over the package.

Two documents have a `VerificationResult`: here it is that of `verify_response`; that of `AnswerVerifier` is
`QualityResult`. An `llm_config` is None (no model), ``"ollama:<model>"``, a mapping of settings, or a LangChain chat
model. Sources and chunks are strings, LangChain documents, or objects with text and metadata.
"""

import logging
import re
from asyncio import gather, to_thread
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from enum import Enum
from functools import lru_cache, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NotRequired, Unpack

from pydantic import AliasChoices, BaseModel, Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from typing_extensions import TypedDict

from cragraph.api import create_graph, verify, verify_and_correct
from cragraph.build import Parts
from cragraph.errors import CragError, InputError, SettingsError
from cragraph.graph.context import PRESETS, Context, options_of
from cragraph.language.markers import code_spans, without_markers
from cragraph.language.quotes import placed
from cragraph.language.sentences import sentence_spans
from cragraph.log import ANSWER_CHARACTERS, append_line
from cragraph.models.embeddings import as_embeddings
from cragraph.passages import as_passages
from cragraph.protocols import CallerParts, Judge, Notes
from cragraph.search.rerankers import LexicalReranker
from cragraph.settings import load_settings
from cragraph.types import IDK, ClaimType, Mode, Passage, RunChecked, Verdict
from cragraph.types import Claim as OwnClaim
from cragraph.verification.citations import insertion_point, place_in_store, spliced
from cragraph.verification.claims import split_claims
from cragraph.verification.decision import Threshold, decide, reaches
from cragraph.verification.policies import POLICIES, calculate_confidence, checked_weights
from cragraph.verification.result import AGAINST, HALLUCINATED, counted, low_values
from cragraph.verification.signals import (
    SIGNALS,
    UNCERTAINTY_PHRASES,
    Material,
    SignalOptions,
    grammar,
    uncertainty_indicators,
)
from cragraph.verification.sources import Closeness, coherence, measure_closeness
from cragraph.verification.verifier import NOWHERE

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = [
    "IDK_SENTINEL", "INFERENCE_CONFIGS", "AnswerValidator", "AnswerVerifier", "CRAGResult", "ChatResponse", "Claim",
    "ClaimExtractor", "ClaimStatus", "ClaimVerification", "ConfidenceScorer", "ConsistencyChecker",
    "HallucinationDetector", "ModelConfig", "NLIVerifier", "QualityResult", "RerankDoc", "SourceAttributor",
    "ValidationConfig", "VerificationResult", "VerifiedClaim", "as_embeddings", "calculate_confidence",
    "chat_with_verification", "corrective_rag_loop", "get_best_answer", "log_validation_metrics",
    "rag_query_with_retry", "rerank", "validate_answer", "verify_and_correct", "verify_response", "verify_supported",
]  # fmt: skip

logger = logging.getLogger(__name__)

ModelConfig = Any


@lru_cache(maxsize=1)
def embedded_parts() -> Parts:
    """Parts without a chat model, whatever the environment says, with the embedded encoder."""
    return Parts(load_settings(model=None, judge_model=None))


def _parts(config: ModelConfig) -> Parts:
    if config is None:
        return embedded_parts()
    if isinstance(config, str):
        return Parts(load_settings(model=_model(config)))
    if isinstance(config, Mapping):
        return Parts(load_settings(**{"model": None, "judge_model": None} | dict(config)))
    return Parts(load_settings(), chat_model=config)


def _model(name: str) -> str:
    """A chat model's name; one without a provider (``llama3.2``, ``llama3.2:1b``) is a model of Ollama."""
    return name if re.match(r"[a-z_]+:", name) else f"ollama:{name}"


def _as_context(context: str | Iterable[Any]) -> list[Passage]:
    """A text, or chunks, as passages."""
    return as_passages([context] if isinstance(context, str) else context)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


# -- seed 004: answer validation without a chat model -------------------------------------------------------------

MOST_SOURCES: Final = 3  # sources that a sentence is given at most
KEPT, MORE, MOST_KEPT = 5, 3, 50  # passages that a first query reads, that a further one reads more, and the most


class ValidationConfig(BaseSettings):
    """Thresholds 0..1 of answer validation: an argument wins over the environment and `.env`, they over the default.

    Variables: ENABLE_ANSWER_VALIDATION, CONFIDENCE_THRESHOLD, HALLUCINATION_THRESHOLD, RELEVANCE_THRESHOLD,
    FAITHFULNESS_THRESHOLD. Raises SettingsError for a threshold that is not a number of 0..1.
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
            wanted = "1 or 0" if "nable" in name else "a number of 0..1"
            raise SettingsError(
                f"{name} (or {name.upper()} in the environment) is {first['input']!r}; wanted {wanted}."
            ) from None


class AnswerValidator:
    """Validates answers by similarity and by a judge of contradictions.

    `embed_model` is any LangChain embedding model, or one with LlamaIndex's or sentence-transformers' methods; without
    one the embedded encoder is used. Safe to call from several threads, if the embedding model is.
    """

    def __init__(self, embed_model: Any = None, config: ValidationConfig | None = None) -> None:
        self.config, self._parts = config or ValidationConfig(), embedded_parts()
        if embed_model is not None:
            self._parts = Parts(load_settings(model=None, judge_model=None), embeddings=as_embeddings(embed_model))

    def validate_answer(self, answer: str, query: str, chunks: Iterable[Any]) -> dict[str, Any]:
        """Every check in one call.

        Returns ``{"confidence_score", "confidence_details", "hallucinations", "hallucination_count", "citations",
        "warnings", "passed", "accepted", "decision"}``. An answer passes if its confidence reaches the threshold and no
        claim is unsupported; `decision` is None where validation is disabled.
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
        chosen = "confidence_threshold" in config.model_fields_set
        sound, line = not unsupported, Threshold(config.confidence_threshold, "person" if chosen else "default")
        decision: Any = decide(details["overall_score"], line, "flag", sound=sound, supported=sound, judged=True)
        passed = decision.accepted
        if not config.enabled:  # nothing was measured, so nothing is claimed
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
            "decision": decision and asdict(decision),
        }

    def score_confidence(self, answer: str, chunks: Iterable[Any], query: str) -> dict[str, Any]:
        """``{"overall_score", "relevance", "faithfulness", "completeness", "has_uncertainty",
        "uncertainty_indicators"}``.

        The score is 0.35 relevance + 0.40 faithfulness + 0.25 completeness - 0.1 per phrase of uncertainty, of which
        three count.
        """
        return _Measured(self, answer, query, chunks).confidence()

    def detect_hallucinations(self, answer: str, chunks: Iterable[Any]) -> list[tuple[str, float, bool]]:
        """``(claim, support score, is it unsupported)`` for each claim of the answer, in order.

        Unsupported means similar to no chunk by `hallucination_threshold`, or refused by the embedding judge, which
        sees the wrong figure and the negation that similarity cannot see: then the lower of both scores counts.
        """
        return _Measured(self, answer, "", chunks).checked()

    def score_quality(self, answer: str) -> dict[str, float]:
        """How an answer is written, 0..1 each: ``{"grammar", "coherence"}``.

        Grammar is the share of well-formed sentences: they begin and end like one, have a verb, repeat no word and
        close what they open. Coherence is the mean similarity of each sentence to the one before it, 1.0 for one alone.
        """
        texts = [without_markers(answer[slice(*span)]) for span in sentence_spans(answer)]
        alike = coherence(self._parts.cached_embeddings, texts)
        return {"grammar": round(grammar(texts), 6), "coherence": round(alike, 6)}

    def extract_citations(self, answer: str, chunks: Iterable[Any]) -> list[dict[str, Any]]:
        """For each sentence its sources: ``{"sentence", "sources": [{"chunk_id", "score", "text", "id"}]}``.

        `chunk_id` is the chunk's position from 0, `id` its own id. Best first, at most three, each at least
        `hallucination_threshold` similar.
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
            sources = [
                {"chunk_id": n, "score": round(score, 6), "text": self.passages[n]["text"]}
                | {"id": self.passages[n]["chunk_id"]}
                for n, score in sorted(enumerate(row), key=lambda item: -item[1])[:MOST_SOURCES]
                if reaches(score, self.config.hallucination_threshold)
            ]
            cited.append({"sentence": claim["text"], "sources": sources})
        return cited


def validate_answer(
    answer: str, query: str, chunks: Iterable[Any], *, embed_model: Any = None, config: ValidationConfig | None = None
) -> dict[str, Any]:
    """Every check of `AnswerValidator` in one call, by default with the embedded encoder."""
    return AnswerValidator(embed_model, config).validate_answer(answer, query, chunks)


class EngineResponse:
    """The response to a question: its text as ``str(response)``, its passages in `source_nodes`, all in `record`."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.record, self.source_nodes = state, state["held"]

    def __str__(self) -> str:
        return str(self.record["answer"])


class GraphEngine:
    """Asks the graph of the settings; each further query of the same question reads `MORE` passages more."""

    def __init__(self) -> None:
        self._graph, self._times = create_graph(load_settings()).compile(), Counter[str]()

    def query(self, question: str) -> EngineResponse:
        """The response to a question."""
        kept = min(KEPT + MORE * self._times[question], MOST_KEPT)
        self._times[question] += 1
        context = Context(top_k=kept, on_low_confidence="flag", max_crag_attempts=0)
        *_, state = self._graph.stream({"question": question}, context=context, stream_mode="values")
        return EngineResponse(state)


def rag_query_with_retry(
    query: str, max_retries: int = 2, *, query_engine: Any = None, validator: AnswerValidator | None = None
) -> tuple[Any, dict[str, Any]]:
    """Ask until an answer passes validation, at most `max_retries` times: the last response and its validation.

    `query_engine` is anything with ``query(question)`` whose response has `source_nodes` and a text, such as a
    LlamaIndex engine; by default the graph of the settings. Raises InputError for fewer than one try.
    """
    engine, validator = query_engine or GraphEngine(), validator or AnswerValidator()
    for number in range(1, _at_least_one("max_retries", max_retries) + 1):
        response = engine.query(query)
        validation = validator.validate_answer(str(response), query, response.source_nodes)
        if validation["passed"]:
            break
        if number < max_retries:
            logger.warning("attempt %d failed validation, retrying", number)
    return response, validation


def get_best_answer(
    query: str, num_candidates: int = 3, *, query_engine: Any = None, validator: AnswerValidator | None = None
) -> dict[str, Any]:
    """Ask several times and return the answer of the highest confidence: ``{"answer", "confidence", "validation"}``.

    See `rag_query_with_retry` for the engine. Raises InputError for fewer than one candidate.
    """
    engine, validator = query_engine or GraphEngine(), validator or AnswerValidator()
    candidates = []
    for _ in range(_at_least_one("num_candidates", num_candidates)):
        response = engine.query(query)
        checked = validator.validate_answer(str(response), query, response.source_nodes)
        candidates.append({"answer": str(response), "confidence": checked["confidence_score"], "validation": checked})
    return max(candidates, key=lambda candidate: candidate["confidence"])


def log_validation_metrics(
    query: str, answer: str, validation: Mapping[str, Any], output_file: str | Path = "validation_metrics.jsonl"
) -> None:
    """Append a line to a file: `timestamp`, `query`, the first 100 characters of `answer`, and what was validated."""
    entry = {"timestamp": datetime.now(UTC).isoformat(), "query": query, "answer": answer[:ANSWER_CHARACTERS]}
    entry |= {"confidence": validation["confidence_score"]}
    append_line(output_file, entry | {n: validation[n] for n in ("hallucination_count", "passed", "warnings")})


def _at_least_one(name: str, count: int) -> int:
    if count < 1:
        raise InputError(f"{name} came as {count}; wanted 1 or more.")
    return count


# -- seed 002: reranking, inference modes, answerability ----------------------------------------------------------

IDK_SENTINEL: Final = IDK  # what stands in the place of an answer that is not supported


class InferenceConfig(dict[str, Any]):
    """What an inference mode sets, by key and as attributes: `min_chunks`, `verify_answer`, `second_pass_k`."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(f"An inference mode sets {', '.join(self)}; there is no {name!r}.")


INFERENCE_CONFIGS: Final[Mapping[Mode, InferenceConfig]] = {
    mode: InferenceConfig({("verify_answer" if name == "verify" else name): value for name, value in preset.items()})
    for mode, preset in PRESETS.items()
}
"""What each inference mode sets. A run takes it as `mode`, or under its other name `inference_mode`."""


class RerankDoc(TypedDict):
    """A chunk with its relevance 0..1; its metadata holds `chunk_id`, `doc_id`, `start_index` and the like."""

    text: str
    metadata: dict[str, Any]
    score: float


async def rerank(
    question: str, docs: Iterable[Any], top_k: int = 3, *, chat_model: "BaseChatModel | None" = None
) -> list[RerankDoc]:
    """The `top_k` chunks that are most relevant to the question, best first, with their metadata.

    A chat model, `chat_model` or that of the settings, scores each chunk from 0 to 1, in parallel and at temperature 0;
    without one the reranker of the settings does. If the model scores none, the lexical reranker takes its place; what
    failed is logged. Raises InputError for a `top_k` below 1.
    """
    if top_k < 1:
        raise InputError(f"rerank got top_k={top_k}; wanted 1 or more: the number of chunks to return.")
    parts, passages, notes = Parts(load_settings(), chat_model=chat_model), as_passages(docs), Notes()
    by_model = None if parts.chat is None else parts.reranker_named("llm")
    ranked = await to_thread(by_model or parts.reranker, question, passages, notes)
    if by_model and all(passage["rerank_score"] is None for passage in ranked):
        ranked = await to_thread(LexicalReranker(), question, passages, notes)
    for sentence in notes.sentences:
        logger.warning("reranking: %s", sentence)
    return [
        RerankDoc(text=p["text"], metadata=p["metadata"] | place_in_store(p), score=p["rerank_score"] or 0.0)
        for p in ranked[:top_k]
    ]


def verify_supported(
    question: str, context: Any, answer: str, *, chat_model: "BaseChatModel | None" = None, judge: Judge | None = None
) -> dict[str, Any]:
    """Whether the context, a text or a list of chunks, supports all of the answer: ``{"supported", "reason"}``.

    By default the embedded judge decides; `judge` is any callable of the judge protocol; `chat_model` any LangChain
    chat model, which judges beside the embedded judge and is believed on its quotes. A reply that cannot be read, and a
    claim that nobody could judge, never mean supported.
    """
    if not isinstance(answer, str):
        raise InputError(f"The answer came as a {type(answer).__name__}; wanted text: pass a string.")
    passages = _as_context(context)
    if not split_claims(answer):
        return {"supported": False, "reason": "The answer makes no claim that could be checked."}
    own = chat_model is not None or judge is not None
    parts = Parts(load_settings(), chat_model=chat_model, judge=judge) if own else embedded_parts()
    name = "custom" if judge is not None else "llm" if chat_model is not None else "auto"
    checked = parts.verifier(question, answer, passages, Notes(), judge=name)
    if not checked.counted:
        return {"supported": False, "reason": "The answer holds nothing but opinions."}
    if name == "llm" and "judged" not in (checked.read or {}):
        return {"supported": False, "reason": f"The verifier gave no verdict: {' '.join(checked.degraded)}"}
    for verdict in checked.counted:
        if verdict["verdict"] != "supported":
            why = f": {verdict['reasoning']}" if verdict["reasoning"] else ""
            reason = f"“{without_markers(verdict['text'])}” is {verdict['verdict'].replace('_', ' ')}{why}"
            return {"supported": False, "reason": reason}
    for issue in checked.issues:
        if issue.startswith(NOWHERE):
            return {"supported": False, "reason": issue}
    return {"supported": True, "reason": f"The context supports all {len(checked.counted)} claim(s)."}


# -- seed 001: verification and quality control by its parts ------------------------------------------------------

UNSCORED: Final = 0.5  # relevance of a source that nobody scored


class Claim(BaseModel):
    """A claim: ``text[start_idx:end_idx]`` of the text that it was found in; factual, opinion or conditional."""

    text: str
    start_idx: int
    end_idx: int
    claim_type: ClaimType

    @classmethod
    def of(cls, claim: OwnClaim | Verdict) -> "Claim":
        """The claim of a verdict."""
        return cls(text=claim["text"], start_idx=claim["start"], end_idx=claim["end"], claim_type=claim["type"])


class ClaimVerification(BaseModel):
    """The result for a claim; `supporting_sources` are ids of sources."""

    claim: Claim
    is_supported: bool
    support_score: float
    supporting_sources: list[str]
    explanation: str | None = None


class QualityResult(BaseModel):
    """The verification of an answer; `hallucination_score` is 0.0 if all of it is grounded, 1.0 if nothing is.

    The document calls it `VerificationResult`.
    """

    is_grounded: bool = False
    hallucination_score: float = 1.0
    confidence: float = 0.0
    claim_verifications: list[ClaimVerification] = []
    unsupported_claims: list[Claim] = []
    attribution_coverage: float = 0.0
    internal_consistency: float = 0.0
    verification_time_ms: int = 0


class ClaimExtractor:
    """Finds the claims of a text, by a chat model if there is one, else, or when it fails, by sentences."""

    def __init__(self, llm_config: ModelConfig = None) -> None:
        self._parts = _parts(llm_config)

    async def extract_claims(self, text: str) -> list[Claim]:
        """The claims in the order of the text."""
        if self._parts.judging_chat is not None:
            try:
                found = await to_thread(self._parts.claims_by_model(), text, Notes())
                return list(map(Claim.of, found))
            except CragError as error:
                logger.warning("claims were found by sentences: %s", error)
        return list(map(Claim.of, split_claims(text)))


class NLIVerifier:
    """Entailment of a claim by each source, by the embedded network, or an ONNX classifier in a folder of yours."""

    def __init__(self, model: str | Path | None = None) -> None:
        parts, judge = (embedded_parts(), "encoder") if model is None else (_parts({"nli_model": model}), "nli")
        self._judge = parts.judges[judge]

    async def verify(self, claim: str, sources: Iterable[Any]) -> list[float]:
        """How far each source entails the claim, 0..1, in the order of the sources."""
        whole = [OwnClaim(text=claim, start=0, end=len(claim), type="factual")]
        judged = [await to_thread(self._judge, whole, [passage], Notes()) for passage in as_passages(sources)]
        return [verdict["support"] for [verdict] in judged]


class HallucinationDetector:
    """Checks each claim of an answer against the sources: by an NLI verifier, else by the judge of the settings.

    A claim is supported above `threshold`, 0..1, and, if the judge decides, unless facts speak against it. Raises
    SettingsError for another threshold.
    """

    def __init__(
        self, llm_config: ModelConfig = None, nli_verifier: NLIVerifier | None = None, threshold: float = 0.5
    ) -> None:
        if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise SettingsError(f"HallucinationDetector got threshold={threshold!r}; wanted a number of 0..1.")
        self.claim_extractor, self.nli_verifier, self.threshold = ClaimExtractor(llm_config), nli_verifier, threshold
        self._verifier = self.claim_extractor._parts.verifier

    async def detect(self, answer: str, sources: Iterable[Any]) -> tuple[float, list[ClaimVerification]]:
        """1 - the mean support of the claims other than opinions (0.0 without any), and the result for each claim."""
        claims, passages = await self.claim_extractor.extract_claims(answer), as_passages(sources)
        if self.nli_verifier is not None:
            rows = await gather(*(self.nli_verifier.verify(claim.text, passages) for claim in claims))
            checked = [self._by_nli(claim, row, passages) for claim, row in zip(claims, rows, strict=True)]
        else:
            own = [OwnClaim(text=c.text, start=c.start_idx, end=c.end_idx, type=c.claim_type) for c in claims]
            judge = partial(self._verifier.judged, own, passages, Notes(), judge="auto")
            checked = [self._by_verdict(verdict, passages) for verdict in await to_thread(judge)]
        counted = [one.support_score for one in checked if one.claim.claim_type != "opinion"]
        return round(1 - _mean(counted), 9) if counted else 0.0, checked

    def _by_nli(self, claim: Claim, scores: Sequence[float], passages: Sequence[Passage]) -> ClaimVerification:
        best = max(scores, default=0.0)
        sources = [_id(p) for p, score in zip(passages, scores, strict=True) if score > self.threshold]
        return ClaimVerification(
            claim=claim, is_supported=best > self.threshold, support_score=best, supporting_sources=sources
        )

    def _by_verdict(self, verdict: Verdict, passages: Sequence[Passage]) -> ClaimVerification:
        supported = verdict["verdict"] == "supported" and verdict["support"] > self.threshold
        evidence = verdict["evidence"] if supported else None
        return ClaimVerification(
            claim=Claim.of(verdict),
            is_supported=supported,
            support_score=verdict["support"],
            supporting_sources=[_id(passages[evidence["passage"]])] if evidence else [],
            explanation=verdict["reasoning"] or None,
        )


class SourceAttributor:
    """Maps claims to their sources: those that the embedded judge finds to support all of a claim.

    Also those that support part of a claim and are more than `similarity_threshold`, 0..1, similar to it.
    """

    def __init__(self, similarity_threshold: float = 0.7) -> None:
        self.threshold = similarity_threshold

    async def attribute(self, claims: Sequence[Claim], sources: Iterable[Any]) -> dict[str, list[str]]:
        """For the text of each claim the ids of its sources: `_id` of their metadata, else the chunk's."""
        passages, texts = as_passages(sources), [claim.text for claim in claims]
        close = await to_thread(_closeness, texts, passages)
        own = [OwnClaim(text=c.text, start=c.start_idx, end=c.end_idx, type=c.claim_type) for c in claims]
        judge = partial(embedded_parts().verifier.judged, own, notes=Notes(), judge="encoder")
        by_source = [await to_thread(judge, passages=[passage]) for passage in passages]
        found: dict[str, list[str]] = {text: [] for text in texts}
        for text, row, verdicts in zip(texts, close.by_passage, zip(*by_source, strict=True), strict=False):
            for passage, score, verdict in zip(passages, row, verdicts, strict=True):
                partly = verdict["verdict"] in ("partially_supported", "unjudged") and score > self.threshold
                if verdict["verdict"] == "supported" or partly:
                    found[text].append(_id(passage))
        return found

    def generate_citations(self, answer: str, attributions: Mapping[str, Sequence[str]]) -> str:
        """The answer with ``[1]``, ``[2]`` behind each claim that has sources, numbered by first appearance."""
        found = ((placed(text, answer), ids) for text, ids in attributions.items() if ids)
        spans = sorted((span, ids) for span, ids in found if span is not None)
        numbers = {source: n for n, source in enumerate(dict.fromkeys(s for _, ids in spans for s in ids), start=1)}
        code, edits = code_spans(answer), []
        for (start, end), ids in spans:
            sentence = next((s for s in sentence_spans(answer) if s[0] <= start < s[1]), (start, end))
            if (place := insertion_point(answer, end, *sentence, code)) is not None:
                edits.append((place, place, "".join(f"[{numbers[source]}]" for source in ids)))
        return spliced(answer, edits)


class ConfidenceScorer:
    """The reliability of an answer; `weights`, which sum to 1, replace some of the defaults, .3, .25, .25 and .2."""

    def __init__(self, weights: Mapping[str, float] | None = None) -> None:
        self.weights = dict(checked_weights(POLICIES["reliability"], weights))

    async def score(
        self,
        query: str,
        answer: str,
        sources: Iterable[Any],
        retrieval_scores: Sequence[float],
        hallucination_score: float,
        consistency_score: float,
    ) -> float:
        """0..1: mean retrieval score, share of sources that agree, 1 - hallucination score, consistency; weighed."""
        signals = {
            "retrieval_quality": _mean(retrieval_scores),
            "source_agreement": await to_thread(_agreement, answer, as_passages(sources)),
            "hallucination": hallucination_score,
            "internal_consistency": consistency_score,
            "knowledge_consistency": 1.0,
        }
        return POLICIES["reliability"]((), signals, self.weights)


class ConsistencyChecker:
    """Whether an answer contradicts itself or known facts; a chat model rates it if there is one."""

    def __init__(self, llm_config: ModelConfig = None) -> None:
        self._verifier = _parts(llm_config).verifier

    async def check_internal_consistency(self, answer: str) -> float:
        """0 (contradictory) to 1 (consistent)."""
        return await self._measured(answer, "internal_consistency", ())

    async def check_knowledge_consistency(self, answer: str, knowledge_base: Sequence[str] | None = None) -> float:
        """0 (contradicts the known facts) to 1; 1.0 without any."""
        return await self._measured(answer, "knowledge_consistency", knowledge_base) if knowledge_base else 1.0

    async def _measured(self, answer: str, signal: str, facts: Sequence[str]) -> float:
        call = partial(self._verifier, "", answer, [], Notes(), judge="auto", policy="reliability", known_facts=facts)
        return float((await to_thread(call)).signals.get(signal, 1.0))


class AnswerVerifier:
    """All checks in one call.

    `config` may hold `llm_config`, `nli_verifier`, `threshold`, `similarity_threshold` and `weights`, each as the part
    of that name takes it. Raises SettingsError for another key.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        given = dict(config or {})
        model = given.pop("llm_config", None)
        detect = {name: given.pop(name) for name in ("nli_verifier", "threshold") if name in given}
        attribute = {name: given.pop(name) for name in ("similarity_threshold",) if name in given}
        self.hallucination_detector = HallucinationDetector(model, **detect)
        self.source_attributor = SourceAttributor(**attribute)
        self.confidence_scorer = ConfidenceScorer(given.pop("weights", None))
        self.consistency_checker = ConsistencyChecker(model)
        if given:
            raise SettingsError(
                f"AnswerVerifier got {', '.join(sorted(given))}; it takes llm_config, nli_verifier, threshold, "
                "similarity_threshold and weights."
            )

    async def verify(self, query: str, answer: str, sources: Iterable[Any]) -> QualityResult:
        """Verify an answer; when a part fails altogether, the failure is logged and nothing counts as grounded.

        Grounded is an answer with a claim whose hallucination score is below 0.3.
        """
        begun = perf_counter()
        try:
            result = await self._verified(query, answer, as_passages(sources))
        except Exception:  # the answer must come back whatever happens to its verification
            logger.exception("verification failed; the answer is returned unverified")
            result = QualityResult()
        result.verification_time_ms = int((perf_counter() - begun) * 1000)
        return result

    async def _verified(self, query: str, answer: str, passages: Sequence[Passage]) -> QualityResult:
        (hallucination, checked), consistency = await gather(
            self.hallucination_detector.detect(answer, passages),
            self.consistency_checker.check_internal_consistency(answer),
        )
        scores = [p["metadata"].get("relevance_score", UNSCORED) for p in passages]
        attributions, confidence = await gather(
            self.source_attributor.attribute([one.claim for one in checked], passages),
            self.confidence_scorer.score(query, answer, passages, scores, hallucination, consistency),
        )
        return QualityResult(
            is_grounded=any(c.claim.claim_type != "opinion" for c in checked) and hallucination < HALLUCINATED,
            hallucination_score=hallucination,
            confidence=confidence,
            claim_verifications=checked,
            unsupported_claims=[c.claim for c in checked if not c.is_supported and c.claim.claim_type != "opinion"],
            attribution_coverage=_mean([bool(sources) for sources in attributions.values()]),
            internal_consistency=consistency,
        )


def _id(passage: Passage) -> str:
    return str(passage["metadata"].get("_id", passage["chunk_id"]))


def _closeness(claims: Sequence[str], passages: Sequence[Passage]) -> Closeness:
    return measure_closeness(embedded_parts().cached_embeddings, "", "", claims, passages, Notes())


def _agreement(answer: str, passages: Sequence[Passage]) -> float:
    claims = split_claims(answer)
    verdicts = embedded_parts().verifier.judged(claims, passages, Notes(), judge="encoder")
    close = _closeness([claim["text"] for claim in claims], passages)
    return SIGNALS["source_agreement"](Material(answer, passages, verdicts, close))


# -- seed 003: verification and correction of a response ----------------------------------------------------------


class ClaimStatus(Enum):
    """The status of a claim; a contradicted claim, and one that nobody could judge, is unsupported."""

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
    def of(cls, record: Mapping[str, Any]) -> "VerificationResult":
        """A verification, as plain data, in the founding document's fields."""
        claims = []
        for v in counted(record["claims"]):
            status = ClaimStatus("unsupported" if v["verdict"] in ("contradicted", "unjudged") else v["verdict"])
            claims.append(VerifiedClaim(v["text"], status, v["evidence"] and v["evidence"]["quote"], v["reasoning"]))
        return cls(record["confidence"], record["is_grounded"], claims, record["suggested_corrections"])


@dataclass
class CRAGResult:
    """The result of correcting a response; `attempts` counts the corrections."""

    final_response: str
    confidence: float
    attempts: int
    verification_history: list[VerificationResult]
    additional_context_used: bool


def verify_response(
    query: str, response: str, context: str | Iterable[Any], user_model: str | None = None
) -> VerificationResult:
    """Verify that a response is grounded in the context, a text or a list of chunks.

    `user_model` is a model such as ``ollama:llama3.2``.
    """
    settings = load_settings(policy="claims", **({"model": _model(user_model)} if user_model is not None else {}))
    return VerificationResult.of(verify(response, _as_context(context), query, settings=settings).to_dict())


def corrective_rag_loop(
    query: str,
    original_response: str,
    verification: VerificationResult,
    context: str | Iterable[Any],
    user_model: str | None = None,
    max_attempts: int = 2,
    **own: Unpack[CallerParts],
) -> CRAGResult:
    """Correct a poorly grounded response: re-query, retrieve, rewrite, verify again, at most `max_attempts` times.

    Further context is searched by a `retriever` or in a `store` that is given, else in the store that the environment
    or `cragraph.yaml` names. A grounded response comes back as it is.
    """
    if verification.is_grounded:
        return CRAGResult(original_response, verification.confidence, 0, [verification], False)
    chosen: dict[str, Any] = {"model": _model(user_model)} if user_model is not None else {}
    settings = load_settings(policy="claims", **chosen)
    if not {"store", "retriever"} & own.keys() and "store" not in settings.model_fields_set:
        settings = settings.model_copy(update={"store": None})
    done = verify_and_correct(
        query, original_response, _as_context(context), settings=settings, max_crag_attempts=max_attempts, **own
    )
    history = [verification, *map(VerificationResult.of, filter(None, done.history[1:]))]
    return CRAGResult(done.final_response, done.confidence, done.attempts, history, done.additional_context_used)


class ChatResponse(TypedDict):
    """A reply and its `verification`: confidence, is_grounded, claims_checked, claims_supported, crag_attempts."""

    content: str
    model: str
    workspace: str
    verification: NotRequired[RunChecked]


async def chat_with_verification(
    prompt: str,
    workspace: str,
    model: str | None = None,
    enable_verification: bool = True,
    enable_crag: bool = True,
    confidence_threshold: float = 0.7,
    **own: Unpack[CallerParts],
) -> ChatResponse:
    """Answer a prompt from a workspace, verified and corrected.

    `workspace` is the folder of a store, else the name of a collection in the store that is given or set; `model` a
    chat model such as ``ollama:llama3.2``, or none for the embedded parts. Without verification that field is left out.
    """
    place: dict[str, Any] = {"store": workspace} if Path(workspace).is_dir() else {"collection": (workspace,)}
    if "retriever" in own:  # it has no collections
        place = {}
    threshold = {"confidence_threshold": confidence_threshold, "policy": "claims", "on_low_confidence": "flag"}
    options = threshold | {"verify": enable_verification, "max_crag_attempts": 2 if enable_crag else 0}
    graph = create_graph(load_settings(model=model and _model(model), **place), **own).compile()
    response = await graph.ainvoke({"question": prompt}, context=options_of(options))
    reply = ChatResponse(content=response["answer"], model=model or "embedded", workspace=workspace)
    if response["verification"]:
        reply["verification"] = response["verification"]
    return reply
