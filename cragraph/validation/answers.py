"""Answer validation without a chat model: confidence, unsupported claims, citations, warnings, retries."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from pydantic import AliasChoices, Field, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from cragraph.api import create_graph
from cragraph.build import Parts
from cragraph.errors import InputError, SettingsError
from cragraph.graph.context import Context
from cragraph.language.markers import without_markers
from cragraph.language.sentences import sentence_spans
from cragraph.metrics import ANSWER_CHARACTERS, append_line
from cragraph.models.embeddings import as_embeddings
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import Settings, load_settings
from cragraph.verification.claims import split_claims
from cragraph.verification.decision import Line, decide, reaches
from cragraph.verification.policies import POLICIES
from cragraph.verification.result import AGAINST, low_values
from cragraph.verification.signals import SIGNALS, Material, SignalOptions
from cragraph.verification.signals.closeness import coherence, measure_closeness
from cragraph.verification.signals.wording import UNCERTAINTY_PHRASES, grammar, uncertainty_indicators

logger = logging.getLogger(__name__)

MOST_SOURCES: Final = 3  # sources that a sentence is given at most
KEPT, MORE, MOST_KEPT = 5, 3, 50  # passages that a first query reads, that a further one reads more, and the most


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
        self._parts = embedded_parts()
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

    def score_quality(self, answer: str) -> dict[str, float]:
        """How an answer is written, 0..1 each: ``{"grammar", "coherence"}``.

        Grammar is the share of its sentences that are well formed: they begin and end like one, have a verb, repeat no
        word and close what they open; it knows English and no more than form. Coherence is the mean similarity of each
        sentence to the one before it, 1.0 for a single one.
        """
        texts = [without_markers(answer[slice(*span)]) for span in sentence_spans(answer)]
        return {
            "grammar": round(grammar(texts), 6),
            "coherence": round(coherence(self._parts.cached_embeddings, texts), 6),
        }

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
def embedded_parts() -> Parts:
    """Parts without a chat model, whatever the environment says, with the embedded encoder."""
    return Parts(load_settings(model=None, judge_model=None))


# -- questions asked with validation ---------------------------------------------------------------------------


class Asked:
    """The response to a question: its text as ``str(response)``, its passages in `source_nodes`, all in `record`."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.record = state
        self.source_nodes = state["held"]

    def __str__(self) -> str:
        return str(self.record["answer"])


class GraphEngine:
    """Asks the graph of the settings; each further query of the same question reads `MORE` passages more."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._graph = create_graph(settings or load_settings()).compile()
        self._times: Counter[str] = Counter()

    def query(self, question: str) -> Asked:
        """The response to a question."""
        kept = min(KEPT + MORE * self._times[question], MOST_KEPT)
        self._times[question] += 1
        context = Context(top_k=kept, on_low_confidence="flag", max_crag_attempts=0)
        *_, state = self._graph.stream({"question": question}, context=context, stream_mode="values")
        return Asked(state)


def rag_query_with_retry(
    query: str, max_retries: int = 2, *, query_engine: Any = None, validator: AnswerValidator | None = None
) -> tuple[Any, dict[str, Any]]:
    """Ask until an answer passes validation, at most `max_retries` times: the last response and its validation.

    `query_engine` is anything with ``query(question)`` whose response has `source_nodes` and a text, such as a
    LlamaIndex engine; by default the graph of the settings, which reads more passages each time. Raises InputError for
    fewer than one try.
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
        validation = validator.validate_answer(str(response), query, response.source_nodes)
        candidates.append(
            {"answer": str(response), "confidence": validation["confidence_score"], "validation": validation}
        )
    return max(candidates, key=lambda candidate: candidate["confidence"])


def log_validation_metrics(
    query: str, answer: str, validation: Mapping[str, Any], output_file: str | Path = "validation_metrics.jsonl"
) -> None:
    """Append a line to a file: `timestamp`, `query`, the first 100 characters of `answer`, and what was validated."""
    entry = {
        "timestamp": datetime.now(UTC).isoformat(),
        "query": query,
        "answer": answer[:ANSWER_CHARACTERS],
        "confidence": validation["confidence_score"],
        **{name: validation[name] for name in ("hallucination_count", "passed", "warnings")},
    }
    append_line(output_file, entry)


def _at_least_one(name: str, count: int) -> int:
    if count < 1:
        raise InputError(f"{name} came as {count}; wanted 1 or more.")
    return count
