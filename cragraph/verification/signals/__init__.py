"""Signals: numbers in 0..1 measured on an answer, one formula each, in one table. High is good unless it says not."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isfinite
from typing import Final

from cragraph.language.markers import without_markers
from cragraph.language.words import content_words, overlap
from cragraph.protocols import Notes
from cragraph.types import Passage, Verdict
from cragraph.verification.claims import LONGEST
from cragraph.verification.conflicts import contradict
from cragraph.verification.reading import is_table_row
from cragraph.verification.result import counted, is_counted, mean_support
from cragraph.verification.signals import wording
from cragraph.verification.signals.closeness import Closeness
from cragraph.verification.signals.wording import IDENTIFIER_FIELDS, UNCERTAINTY_PHRASES

ALIGNED: Final = 5
KEY_CLAIMS: Final = 5
VERIFYING: Final = 10
UNKNOWN: Final = 0.5  # the fact score when its judge failed, and the relevance of a passage that nobody scored
COMPARED: Final = 40
"""Claims that are compared pairwise; later ones are left out so that time does not grow without bound."""

_FIGURE: Final = re.compile(r"\d")
_NAME: Final = re.compile(r"(?<=[\w,] )[A-Z][\w-]+")


class NotMeasured(Exception):
    """A signal has nothing to be measured on; its text says what is missing."""


@dataclass(frozen=True)
class SignalOptions:
    """Settings of the signals; thresholds are similarities in 0..1."""

    uncertainty_phrases: Sequence[str] = UNCERTAINTY_PHRASES
    identifier_fields: Sequence[str] = IDENTIFIER_FIELDS
    attribution_threshold: float = 0.7
    agreement_threshold: float = 0.5


@dataclass(frozen=True)
class Material:
    """One answer with all that a signal may look at."""

    answer: str
    passages: Sequence[Passage]
    verdicts: Sequence[Verdict]
    closeness: Closeness = field(default_factory=Closeness)
    question: str = ""
    alignment: float | None = None  # the score of an injected scorer; None without one, or if it failed
    consistency: float | None = None  # the same
    clashes: Collection[tuple[str, str]] = ()  # pairs of claims that contradict each other by the network
    knowledge: Sequence[Verdict] = ()  # verdicts on the claims against the known facts
    weights: Sequence[float] = ()  # weights of the passages' sources; empty if every source is fully relied on
    options: SignalOptions = field(default_factory=SignalOptions)


def relevance(material: Material) -> float:
    """Similarity of question and answer (answer-validation formula).

    It favours answers that repeat the question's subject; an evasive answer on the subject scores well.
    """
    if not material.question.strip():
        raise NotMeasured("relevance needs a question")
    return material.closeness.question_to_answer


def internal_consistency(material: Material) -> float:
    """1 - the share of the claims that contradict another claim of the answer (consistency check).

    A contradiction is the same statement with another figure, another date, an opposite word or a negation, or with
    other words in one place that the network reads as a contradiction; contradictions that take reasoning are not
    found. Two quotations are not compared: they are rows of one table, or the passages disagree, which is an issue of
    its own. The score of an injected scorer replaces the formula.
    """
    if material.consistency is not None:
        return material.consistency
    claims = _read(material.verdicts)[:COMPARED]
    pairs = compared_claims(material.verdicts)
    involved = {text for pair in pairs if pair in material.clashes or contradict(*pair) for text in pair}
    return 1.0 - sum(claim["text"] in involved for claim in claims) / len(claims) if claims else 1.0


def compared_claims(verdicts: Sequence[Verdict]) -> list[tuple[str, str]]:
    """The pairs of an answer's claims that may contradict each other, as texts: not two quotations."""
    claims = [(v["text"], _quotes(v)) for v in _read(verdicts)[:COMPARED]]
    return [(one, other) for (one, quoted), (other, copied) in combinations(claims, 2) if not (quoted and copied)]


QUOTES_CONTRADICT: Final = "The answer quotes what contradicts itself, which the confidence does not count"


def _read(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The claims that are compared: claims longer than a judge reads are left out."""
    return [verdict for verdict in counted(verdicts) if len(verdict["text"]) <= LONGEST]


_ITEM: Final = re.compile(r"(?:[-*•–]|\(?\d{1,2}[.)])\s+\S")


def quoted_contradictions(verdicts: Sequence[Verdict]) -> list[str]:
    """An issue for each two quotations of the answer that contradict each other.

    Rows of a table, and items of a list, are not compared: "switch it off" and "switch it on again" are two steps.
    """
    claims = [v for v in _read(verdicts)[:COMPARED] if _quotes(v) and not is_table_row(v["evidence"]["quote"])]  # type: ignore[index]
    items = [_ITEM.match(v["evidence"]["quote"]) is not None for v in claims]  # type: ignore[index]
    pairs = combinations(zip((claim["text"] for claim in claims), items, strict=True), 2)
    texts = [(one, other) for (one, listed), (other, also) in pairs if not (listed and also)]
    return [f"{QUOTES_CONTRADICT}: “{one}” — “{other}”" for one, other in texts if contradict(one, other)]


def _quotes(verdict: Verdict) -> bool:
    """Whether a claim stands in its evidence word for word."""
    evidence = verdict["evidence"]
    return evidence is not None and " ".join(verdict["text"].split()) in " ".join(evidence["quote"].split())


def knowledge_consistency(material: Material) -> float:
    """1 - the share of the claims that known facts contradict; 1.0 without known facts (consistency check)."""
    if judge_failed(material.knowledge):
        raise NotMeasured("no judge could compare the answer with the known facts")
    labels = [verdict["verdict"] for verdict in counted(material.knowledge)]
    if "unjudged" in labels:
        raise NotMeasured("no judge could compare every claim with the known facts")
    return 1.0 - labels.count("contradicted") / len(labels) if labels else 1.0


def faithfulness(material: Material) -> float:
    """Mean over the answer's claims of the similarity to the closest passage (answer-validation formula).

    It favours answers in the sources' words; it cannot tell a negated sentence from its opposite.
    """
    best = material.closeness.best
    return sum(best) / len(best) if best else 0.0


def alignment(material: Material) -> float:
    """The injected scorer's score over the top five passages, else keyword overlap (weighted verification formula)."""
    if material.alignment is not None:
        return material.alignment
    return keyword_overlap(material.answer, [passage["text"] for passage in material.passages])


def keyword_overlap(answer: str, texts: Sequence[str]) -> float:
    """Share of the answer's content words in a passage, averaged over the top five passages, 0..1.

    It favours answers that all the top passages repeat, and is low for a right answer that one passage holds.
    """
    top, bare = texts[:ALIGNED], without_markers(answer)
    if not top or not content_words(bare):
        return 0.0
    return sum(overlap(bare, text) for text in top) / len(top)


def hallucination(material: Material) -> float:
    """1 - mean support of the claims, 0.0 without claims; low is good (hallucination detection formula).

    It favours answers whose claims are each well supported; one invention among many claims barely shows.
    """
    claims = counted(material.verdicts)
    return 1.0 - mean_support(claims) if claims else 0.0


def fact_score(material: Material) -> float:
    """Verified ÷ key claims (weighted verification formula); 0.5 when no judge could run, 0.0 without claims.

    Verified means wholly supported, by one of the top ten passages. It favours answers with few, plain claims.
    """
    claims = key_claims(material.verdicts)
    if not claims:
        return 0.0
    if judge_failed(claims):
        return UNKNOWN
    evidence = [claim["evidence"] for claim in claims if claim["verdict"] == "supported"]
    return sum(one is None or one["passage"] < VERIFYING for one in evidence) / len(claims)


def key_claims(verdicts: Sequence[Verdict], most: int = KEY_CLAIMS) -> list[Verdict]:
    """The claims most worth checking, at most five, in the answer's order: figures first, then names, then length."""
    claims = counted(verdicts)

    def weight(place: int) -> float:
        text = claims[place]["text"]
        words = min(len(set(content_words(text))), 12) / 4
        return 10 * bool(_FIGURE.search(text)) + 5 * bool(_NAME.search(text)) + words

    ranked = sorted(range(len(claims)), key=weight, reverse=True)[:most]
    return [claims[place] for place in sorted(ranked)]


def judge_failed(claims: Sequence[Verdict]) -> bool:
    """Whether there were claims and no judge could judge any of them."""
    return bool(claims) and all(claim["verdict"] == "unjudged" for claim in claims)


def attribution_coverage(material: Material) -> float:
    """Share of the claims more than 0.7 similar to some passage; 0.0 without claims (source attribution)."""
    pairs = zip(material.closeness.best, material.verdicts, strict=True)
    near = [score > material.options.attribution_threshold for score, verdict in pairs if is_counted(verdict)]
    return sum(near) / len(near) if near else 0.0


def retrieval_quality(material: Material) -> float:
    """Mean relevance of the passages; 0.5 for a passage that nobody scored, 0.0 without passages.

    Reliability formula. It favours runs whose passages match the question, whatever the answer makes of them.
    """
    scores = [_relevance_of(passage) for passage in material.passages]
    return sum(scores) / len(scores) if scores else 0.0


def _relevance_of(passage: Passage) -> float:
    """The rerank score of a passage, else its retrieval score, else `relevance_score` in its metadata, else 0.5."""
    for score in (passage["rerank_score"], passage["retrieval_score"], passage["metadata"].get("relevance_score")):
        if isinstance(score, int | float) and not isinstance(score, bool) and score == score:
            return min(max(float(score), 0.0), 1.0)
    return UNKNOWN


def source_agreement(material: Material) -> float:
    """Share of the passages that agree with the answer; 0.0 without passages (reliability formula).

    A passage agrees when it is at least 0.5 similar to one of the answer's claims and is not the evidence against one.
    It favours answers that several sources share; one good source among five gives 0.2. Where sources have weights,
    each counts by its weight, so that drafts cannot outvote a report.
    """
    if not material.passages:
        return 0.0
    contradicted = (v["evidence"] for v in material.verdicts if v["verdict"] == "contradicted")
    against = {evidence["passage"] for evidence in contradicted if evidence}
    pairs = zip(material.closeness.by_passage, material.verdicts, strict=True)
    rows = [row for row, verdict in pairs if is_counted(verdict)]
    near = [max(column) >= material.options.agreement_threshold for column in zip(*rows, strict=True)]
    weights = material.weights or [1.0] * len(material.passages)
    agreeing = sum(weights[place] for place, agrees in enumerate(near) if agrees and place not in against)
    return agreeing / sum(weights) if sum(weights) else 0.0


SIGNALS: Final[Mapping[str, Callable[[Material], float]]] = {
    "relevance": relevance,
    "faithfulness": faithfulness,
    "completeness": lambda material: wording.completeness(material.question, material.answer),
    "uncertainty": lambda material: wording.uncertainty(material.answer, material.options.uncertainty_phrases),
    "alignment": alignment,
    "citation_coverage": lambda m: wording.coverage(m.answer, m.passages, m.options.identifier_fields),
    "fact_score": fact_score,
    "hallucination": hallucination,
    "attribution_coverage": attribution_coverage,
    "retrieval_quality": retrieval_quality,
    "source_agreement": source_agreement,
    "internal_consistency": internal_consistency,
    "knowledge_consistency": knowledge_consistency,
}
"""Every signal by its name. High is good but for `uncertainty` and `hallucination`."""

ISSUES: Final[Mapping[str, tuple[float, str]]] = {
    "alignment": (0.5, "Answer may not be well-supported by retrieved sources"),
    "citation_coverage": (0.5, "Many sources are not cited in the answer"),
    "fact_score": (0.7, "Some claims in the answer could not be verified"),
    "internal_consistency": (1.0, "The answer contradicts itself"),
    "knowledge_consistency": (1.0, "The answer contradicts known facts"),
}
"""Below which value a signal is an issue, and how it is worded (the first three: weighted verification formula)."""


def issues_of(signals: Mapping[str, float], verdicts: Sequence[Verdict] = ()) -> list[str]:
    """The issues of the signals that were measured, in the table's order; none of facts where all claims hold.

    The fact score looks for evidence in the first passages only; a claim that another passage supports is no issue.
    Unjudged claims are an issue of their own.
    """
    labels = {verdict["verdict"] for verdict in counted(verdicts)} - {"unjudged"}
    low = [name for name, (bound, _) in ISSUES.items() if name in signals and signals[name] < bound]
    return [ISSUES[name][1] for name in low if name != "fact_score" or labels != {"supported"}]


def measure(wanted: Collection[str], material: Material, notes: Notes) -> tuple[dict[str, float], dict[str, str]]:
    """The wanted signals, each 0..1, and the reason for each that could not be measured; a broken signal is noted."""
    signals: dict[str, float] = {}
    missing: dict[str, str] = {}
    for name in wanted:
        try:
            value = float(SIGNALS[name](material))
            if not isfinite(value):
                raise ValueError(f"it came out as {value}")
        except NotMeasured as reason:
            missing[name] = str(reason)
        # One broken signal must not take the others with it.
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}"
            notes.degraded(f"The signal {name!r} could not be measured ({missing[name]}).")
        else:
            signals[name] = round(min(max(value, 0.0), 1.0), 6)
    if "fact_score" in signals and judge_failed(key_claims(material.verdicts)):
        notes.degraded("No judge could verify the facts: the fact score of 0.5 only says that nobody knows.")
    return signals, missing
