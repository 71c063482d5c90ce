"""Verification and quality control by its parts: claims, hallucinations, attribution, confidence, consistency.

Each part is asynchronous and works without a chat model; `llm_config` names one, ``"ollama:llama3.2"``, or brings it.
"""

import logging
from asyncio import gather, to_thread
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from pydantic import BaseModel

from cragraph.build import Parts
from cragraph.errors import CragError, SettingsError
from cragraph.language.markers import code_spans
from cragraph.language.quotes import placed
from cragraph.language.sentences import sentence_spans
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import load_settings
from cragraph.types import Claim as OwnClaim
from cragraph.types import ClaimType, Passage, Verdict
from cragraph.validation.answers import embedded_parts
from cragraph.verification.citations import insertion_point, spliced
from cragraph.verification.claims import split_claims
from cragraph.verification.policies import POLICIES, checked_weights
from cragraph.verification.result import HALLUCINATED
from cragraph.verification.signals import SIGNALS, Material
from cragraph.verification.signals.closeness import Closeness, measure_closeness
from cragraph.verification.verifier import Verifier

logger = logging.getLogger(__name__)

ModelConfig = Any
"""A chat model: ``"ollama:<model>"``, a mapping with `model` and other settings, a LangChain chat model, or None."""

UNSCORED: Final = 0.5  # relevance of a source that nobody scored


class Claim(BaseModel):
    """A claim: ``text[start_idx:end_idx]`` of the text that it was found in; factual, opinion or conditional."""

    text: str
    start_idx: int
    end_idx: int
    claim_type: ClaimType


class ClaimVerification(BaseModel):
    """What became of a claim; `supporting_sources` are ids of sources."""

    claim: Claim
    is_supported: bool
    support_score: float
    supporting_sources: list[str]
    explanation: str | None = None


class VerificationResult(BaseModel):
    """The verification of an answer; `hallucination_score` is 0.0 where all of it is grounded, 1.0 where nothing is."""

    is_grounded: bool
    hallucination_score: float
    confidence: float
    claim_verifications: list[ClaimVerification]
    unsupported_claims: list[Claim]
    attribution_coverage: float
    internal_consistency: float
    verification_time_ms: int


class ClaimExtractor:
    """Finds the claims of a text, by a chat model where there is one, else, or when it fails, by sentences."""

    def __init__(self, llm_config: ModelConfig = None) -> None:
        self._parts = _parts(llm_config)

    async def extract_claims(self, text: str) -> list[Claim]:
        """The claims in the order of the text."""
        return [_claim(claim) for claim in await to_thread(self._found, text)]

    def _found(self, text: str) -> list[OwnClaim]:
        by_model = None if self._parts.judging_chat is None else self._parts.claim_extractor("llm")
        try:
            return list(by_model(text, Notes())) if by_model else split_claims(text)
        except CragError as error:
            logger.warning("claims were found by sentences: %s", error)
            return split_claims(text)


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

    A claim is supported above `threshold`, 0..1, and, where the judge decides, unless facts speak against it. Raises
    SettingsError for another threshold.
    """

    def __init__(
        self, llm_config: ModelConfig = None, nli_verifier: NLIVerifier | None = None, threshold: float = 0.5
    ) -> None:
        if not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
            raise SettingsError(f"HallucinationDetector got threshold={threshold!r}; wanted a number of 0..1.")
        self.claim_extractor = ClaimExtractor(llm_config)
        self.nli_verifier = nli_verifier
        self.threshold = threshold
        self._verifier = self.claim_extractor._parts.verifier

    async def detect(self, answer: str, sources: Iterable[Any]) -> tuple[float, list[ClaimVerification]]:
        """1 - the mean support of the claims (0.0 without any), and what became of each."""
        claims, passages = await self.claim_extractor.extract_claims(answer), as_passages(sources)
        if self.nli_verifier is not None:
            rows = await gather(*(self.nli_verifier.verify(claim.text, passages) for claim in claims))
            checked = [self._by_nli(claim, row, passages) for claim, row in zip(claims, rows, strict=True)]
        else:
            own = [OwnClaim(text=c.text, start=c.start_idx, end=c.end_idx, type=c.claim_type) for c in claims]
            judge = partial(self._verifier.judged, own, passages, Notes(), judge="auto")
            checked = [self._by_verdict(verdict, passages) for verdict in await to_thread(judge)]
        return round(1 - _mean([c.support_score for c in checked]), 9) if checked else 0.0, checked

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
            claim=_claim(verdict),
            is_supported=supported,
            support_score=verdict["support"],
            supporting_sources=[_id(passages[evidence["passage"]])] if evidence else [],
            explanation=verdict["reasoning"] or None,
        )


class SourceAttributor:
    """Maps claims to the sources that are more than `similarity_threshold`, 0..1, similar to them."""

    def __init__(self, similarity_threshold: float = 0.7) -> None:
        self.threshold = similarity_threshold

    async def attribute(self, claims: Sequence[Claim], sources: Iterable[Any]) -> dict[str, list[str]]:
        """For the text of each claim the ids of its sources: `_id` of their metadata, else the chunk's."""
        passages, texts = as_passages(sources), [claim.text for claim in claims]
        close = await to_thread(_closeness, texts, passages)
        rows = zip(texts, close.by_passage, strict=True)
        return {
            text: [_id(p) for p, score in zip(passages, row, strict=True) if score > self.threshold]
            for text, row in rows
        }

    def generate_citations(self, answer: str, attributions: Mapping[str, Sequence[str]]) -> str:
        """The answer with ``[1]``, ``[2]`` behind each claim that has sources, numbered by first appearance."""
        found = ((placed(text, answer), ids) for text, ids in attributions.items() if ids)
        spans = sorted((span, ids) for span, ids in found if span is not None)
        numbers = {source: n for n, source in enumerate(dict.fromkeys(s for _, ids in spans for s in ids), start=1)}
        code, edits = code_spans(answer), []
        for (start, end), ids in spans:
            sentence = next((s for s in sentence_spans(answer) if s[0] <= start < s[1]), (start, end))
            place = insertion_point(answer, end, *sentence, code)
            if place is not None:
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
        agreement = await to_thread(_agreement, answer, as_passages(sources))
        signals = {
            "retrieval_quality": _mean(retrieval_scores),
            "source_agreement": agreement,
            "hallucination": hallucination_score,
            "internal_consistency": consistency_score,
            "knowledge_consistency": 1.0,
        }
        return POLICIES["reliability"]((), signals, self.weights)


class ConsistencyChecker:
    """Whether an answer contradicts itself or known facts; a chat model rates it where there is one."""

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

    async def verify(self, query: str, answer: str, sources: Iterable[Any]) -> VerificationResult:
        """Verify an answer; when a part fails altogether, the failure is logged and nothing counts as grounded.

        Grounded is an answer with a claim whose hallucination score is below 0.3.
        """
        begun, passages = perf_counter(), as_passages(sources)
        try:
            result = await self._verified(query, answer, passages)
        # The answer must come back whatever happens to its verification.
        except Exception:
            logger.exception("verification failed; the answer is returned unverified")
            result = VerificationResult(
                is_grounded=False, hallucination_score=1.0, confidence=0.0, claim_verifications=[],
                unsupported_claims=[], attribution_coverage=0.0, internal_consistency=0.0, verification_time_ms=0,
            )  # fmt: skip
        result.verification_time_ms = int((perf_counter() - begun) * 1000)
        return result

    async def _verified(self, query: str, answer: str, passages: Sequence[Passage]) -> VerificationResult:
        (hallucination, checked), consistency = await gather(
            self.hallucination_detector.detect(answer, passages),
            self.consistency_checker.check_internal_consistency(answer),
        )
        claims = [verification.claim for verification in checked]
        scores = [p["metadata"].get("relevance_score", UNSCORED) for p in passages]
        attributions, confidence = await gather(
            self.source_attributor.attribute(claims, passages),
            self.confidence_scorer.score(query, answer, passages, scores, hallucination, consistency),
        )
        return VerificationResult(
            is_grounded=bool(checked) and hallucination < HALLUCINATED,
            hallucination_score=hallucination,
            confidence=confidence,
            claim_verifications=checked,
            unsupported_claims=[one.claim for one in checked if not one.is_supported],
            attribution_coverage=_mean([bool(sources) for sources in attributions.values()]),
            internal_consistency=consistency,
            verification_time_ms=0,
        )


def _parts(config: ModelConfig) -> Parts:
    if config is None:
        return embedded_parts()
    if isinstance(config, str):
        return Parts(load_settings(model=config))
    if isinstance(config, Mapping):
        return Parts(load_settings(**{"model": None, "judge_model": None} | dict(config)))
    return Parts(load_settings(), chat_model=config)


def _claim(claim: OwnClaim | Verdict) -> Claim:
    return Claim(text=claim["text"], start_idx=claim["start"], end_idx=claim["end"], claim_type=claim["type"])


def _id(passage: Passage) -> str:
    return str(passage["metadata"].get("_id", passage["chunk_id"]))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _closeness(claims: Sequence[str], passages: Sequence[Passage]) -> Closeness:
    return measure_closeness(embedded_parts().cached_embeddings, "", "", claims, passages, Notes())


def _agreement(answer: str, passages: Sequence[Passage]) -> float:
    verifier: Verifier = embedded_parts().verifier
    claims = split_claims(answer)
    verdicts = verifier.judged(claims, passages, Notes(), judge="encoder")
    close = _closeness([claim["text"] for claim in claims], passages)
    return SIGNALS["source_agreement"](Material(answer, passages, verdicts, close))
