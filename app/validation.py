"""Answer validation without a chat model: confidence, unsupported sentences, sources of each sentence, warnings."""

from collections.abc import Iterable, Sequence
from typing import Any

from cragraph.protocols import Notes
from cragraph.supported import embedded_parts, verify_supported
from cragraph.types import Passage
from cragraph.validation_config import ValidationConfig
from cragraph.validation_inputs import as_embeddings, as_texts
from cragraph.verification.claims import split_claims, without_markers
from cragraph.verification.policies import POLICIES
from cragraph.verification.result import AGAINST
from cragraph.verification.signals import Material, SignalOptions, uncertainty_indicators
from cragraph.verification.signals.closeness import Closeness, measure_closeness
from cragraph.verification.signals.completeness import completeness
from cragraph.verification.signals.faithfulness import faithfulness
from cragraph.verification.signals.uncertainty import uncertainty

__all__ = ["AnswerValidator", "ValidationConfig", "validate_answer", "verify_supported"]

MOST_SOURCES = 3
"""Sources that a sentence is given at most."""


class AnswerValidator:
    """Validates answers by similarity and by a judge of contradictions; needs no chat model.

    `embed_model` is any LangChain embedding model, or one with LlamaIndex's or sentence-transformers' methods; without
    one the embedded encoder is used. Safe to call from several threads, as long as the embedding model is.
    """

    def __init__(self, embed_model: Any = None, config: ValidationConfig | None = None) -> None:
        self.config = config if config is not None else ValidationConfig()
        self._parts = embedded_parts(as_embeddings(embed_model) if embed_model is not None else None)

    def validate_answer(self, answer: str, query: str, chunks: Iterable[Any]) -> dict[str, Any]:
        """Every check in one call.

        Returns ``{"confidence_score", "confidence_details", "hallucinations", "hallucination_count", "citations",
        "warnings", "passed"}``. An answer passes when its confidence reaches the threshold and no claim is unsupported.
        """
        if not self.config.enabled:
            return _disabled()
        passages = as_texts(chunks)
        sentences, closeness = self._closeness(answer, query, passages)
        details = self._confidence(answer, query, passages, closeness)
        checked = self._checked(sentences, closeness, passages)
        found = [{"claim": claim, "support_score": score} for claim, score, unsupported in checked if unsupported]
        warnings = self._warnings(details, len(found))
        return {
            "confidence_score": details["overall_score"],
            "confidence_details": details,
            "hallucinations": found,
            "hallucination_count": len(found),
            "citations": self._citations(sentences, closeness, passages),
            "warnings": warnings,
            "passed": details["overall_score"] >= self.config.confidence_threshold and not found,
        }

    def score_confidence(self, answer: str, chunks: Iterable[Any], query: str) -> dict[str, Any]:
        """The confidence and what it is made of.

        ``{"overall_score", "relevance", "faithfulness", "completeness", "has_uncertainty", "uncertainty_indicators"}``,
        where the score is 0.35 relevance + 0.40 faithfulness + 0.25 completeness - 0.1 a phrase of uncertainty, of
        which three count.
        """
        passages = as_texts(chunks)
        _, closeness = self._closeness(answer, query, passages)
        return self._confidence(answer, query, passages, closeness)

    def detect_hallucinations(self, answer: str, chunks: Iterable[Any]) -> list[tuple[str, float, bool]]:
        """``(claim, support score, is it unsupported)`` for each claim of the answer, in order.

        Unsupported means similar to no chunk by `hallucination_threshold`, or refused by the embedding judge, which
        sees the wrong figure and the negation that similarity cannot see: then the lower of both scores counts.
        """
        passages = as_texts(chunks)
        sentences, closeness = self._closeness(answer, "", passages)
        return self._checked(sentences, closeness, passages)

    def extract_citations(self, answer: str, chunks: Iterable[Any]) -> list[dict[str, Any]]:
        """For each sentence its sources: ``{"sentence", "sources": [{"chunk_id", "score", "text", "id"}]}``.

        `chunk_id` is the chunk's position from 0, `id` the id that it carries. Best first, at most three, each at
        least `hallucination_threshold` similar.
        """
        passages = as_texts(chunks)
        sentences, closeness = self._closeness(answer, "", passages)
        return self._citations(sentences, closeness, passages)

    def _closeness(self, answer: str, query: str, passages: Sequence[Passage]) -> tuple[list[Any], Closeness]:
        sentences = split_claims(answer)
        said = [without_markers(claim["text"]) for claim in sentences]
        return sentences, measure_closeness(self._parts.cached_embeddings, query, answer, said, passages, Notes())

    def _confidence(self, answer: str, query: str, passages: Sequence[Passage], closeness: Closeness) -> dict[str, Any]:
        words = self.config.uncertainty_words
        material = Material(
            answer=answer,
            passages=passages,
            verdicts=(),
            closeness=closeness,
            question=query,
            options=SignalOptions(uncertainty_phrases=words),
        )
        signals = {
            "relevance": closeness.question_to_answer,
            "faithfulness": faithfulness(material),
            "completeness": completeness(material),
        }
        score = POLICIES["similarity"]((), signals | {"uncertainty": uncertainty(material)})
        found = uncertainty_indicators(answer, words)
        return {
            "overall_score": round(score, 6),
            **{name: round(value, 6) for name, value in signals.items()},
            "has_uncertainty": bool(found),
            "uncertainty_indicators": found,
        }

    def _checked(
        self, sentences: Sequence[Any], closeness: Closeness, passages: Sequence[Passage]
    ) -> list[tuple[str, float, bool]]:
        verdicts = self._parts.verifier.judged(sentences, passages, Notes(), judge="embedding")
        checked = []
        for verdict, similarity in zip(verdicts, closeness.best, strict=True):
            against = verdict["verdict"] in AGAINST
            score = min(similarity, verdict["support"]) if against else similarity
            unsupported = against or similarity < self.config.hallucination_threshold
            checked.append((verdict["text"], round(score, 6), unsupported and verdict["type"] != "opinion"))
        return checked

    def _citations(
        self, sentences: Sequence[Any], closeness: Closeness, passages: Sequence[Passage]
    ) -> list[dict[str, Any]]:
        citations = []
        for claim, row in zip(sentences, closeness.by_passage, strict=True):
            ranked = sorted(enumerate(row), key=lambda item: -item[1])[:MOST_SOURCES]
            sources = [
                {
                    "chunk_id": position,
                    "score": round(score, 6),
                    "text": passages[position]["text"],
                    "id": passages[position]["chunk_id"],
                }
                for position, score in ranked
                if score >= self.config.hallucination_threshold
            ]
            citations.append({"sentence": claim["text"], "sources": sources})
        return citations

    def _warnings(self, details: dict[str, Any], unsupported: int) -> list[str]:
        bounds = (
            ("confidence", "overall_score", self.config.confidence_threshold),
            ("relevance", "relevance", self.config.relevance_threshold),
            ("faithfulness", "faithfulness", self.config.faithfulness_threshold),
        )
        warnings = [
            f"Low {name}: {details[field]:.2f} (threshold {bound:.2f})"
            for name, field, bound in bounds
            if details[field] < bound
        ]
        if unsupported:
            warnings.append(f"Found {unsupported} unsupported claim(s)")
        if details["has_uncertainty"]:
            warnings.append(f"Answer is uncertain: {', '.join(details['uncertainty_indicators'])}")
        return warnings


def validate_answer(
    answer: str, query: str, chunks: Iterable[Any], *, embed_model: Any = None, config: ValidationConfig | None = None
) -> dict[str, Any]:
    """Every check of `AnswerValidator` in one call, by default with the embedded encoder."""
    return AnswerValidator(embed_model, config).validate_answer(answer, query, chunks)


def _disabled() -> dict[str, Any]:
    """What comes back when validation is off: nothing was measured, so nothing is claimed."""
    details = {
        "overall_score": 0.0,
        "relevance": 0.0,
        "faithfulness": 0.0,
        "completeness": 0.0,
        "has_uncertainty": False,
        "uncertainty_indicators": [],
    }
    return {
        "confidence_score": 0.0,
        "confidence_details": details,
        "hallucinations": [],
        "hallucination_count": 0,
        "citations": [],
        "warnings": ["Answer validation is disabled: nothing was checked"],
        "passed": True,
    }
