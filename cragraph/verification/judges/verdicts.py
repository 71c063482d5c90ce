"""Verdicts: from scores and facts, or from a cell that is looked up; the verdicts of any judge checked and repaired."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, cast

from cragraph.errors import ModelError
from cragraph.language.cells import rows_of, stated_place
from cragraph.language.facts import Fact
from cragraph.language.markers import without_markers
from cragraph.language.quotes import coverage, find_quote
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import content_words, terms
from cragraph.types import Claim, Evidence, Label, Passage, Verdict
from cragraph.verification.conflicts import FactConflict, find_conflict
from cragraph.verification.policies import curves
from cragraph.verification.reading import SOME, ClaimReading, evidence_at, evidence_of, fitted
from cragraph.verification.result import CREDIT

LABELS: Final = tuple(CREDIT)
LOWERED: Final[dict[Label, Label]] = {"supported": "partially_supported", "partially_supported": "unsupported"}
"""The label that a verdict is lowered to if its quote is in no passage."""
WITHOUT_EVIDENCE: Final = 0.45  # support of a verdict without its evidence at most
IN_SPITE: Final = 0.15
"""Support of a claim with a conflict at most: of the training claims with an opposite word one in seven is true."""
SHOWN: Final = 0.9  # contradiction of a claim with a conflict at least

Span = tuple[int, int]
Scores = tuple[float, float]  # support and contradiction, each 0..1


@dataclass(frozen=True)
class Standard:
    """Thresholds, 0..1, of the scores for supported, partly supported and contradicted, and how the judge reads.

    `by_words` marks a judge that does not read the sentence as a whole: a name that no passage has, or a negation that
    the window lacks in every form, then leaves a claim partly supported at best. A judge by `overlap` alone supports no
    claim without shared words.
    """

    supported: float
    partial: float
    contradicted: float
    by_words: bool = True
    overlap: bool = False


BY_WORDS: Final = Standard(**fitted()["thresholds"], overlap=True)  # that of the judges by words and by embeddings


def quoted(quote: str, passages: Sequence[Passage], likely: int = 0) -> Evidence | None:
    """The quote as evidence, with text and offsets of the first passage that holds it; passage `likely` comes first."""
    for number in sorted(range(len(passages)), key=lambda number: number != likely):
        if span := find_quote(quote, passages[number]["text"]):
            return evidence_at(number, *span, passages)
    return None


def best_sentence(claim: str, passages: Sequence[Passage], likely: int = 0, share: float = 0.6) -> Evidence | None:
    """The sentence that holds most of the claim's words, at least `share` of them and all of its numbers."""
    wanted = content_words(claim)
    numbers = {word for word in wanted if word[0].isdigit()}
    best: tuple[float, Evidence] | None = None
    for number, passage in enumerate(passages):
        for start, end in sentence_spans(passage["text"]):
            text = passage["text"][start:end]
            covered = coverage(wanted, text) + (0.001 if number == likely else 0.0)
            if covered >= share and numbers <= set(terms(text)) and (best is None or covered > best[0]):
                best = covered, evidence_at(number, start, end, passages)
    return best[1] if best else None


def claim_of(verdict: Claim) -> Claim:
    """The claim that a verdict is on."""
    return Claim(text=verdict["text"], start=verdict["start"], end=verdict["end"], type=verdict["type"])


def verdict_of(
    claim: Claim,
    label: Label,
    support: float,
    contradiction: float,
    evidence: Evidence | None,
    reasoning: str,
    judge: str,
) -> Verdict:
    """A verdict on a claim."""
    own = claim_of(claim)
    scores = {"verdict": label, "support": support, "contradiction": contradiction}
    return cast(Verdict, {**own, **scores, "evidence": evidence, "reasoning": reasoning, "judge": judge})


def unjudged(claim: Claim, reasoning: str, judge: str = "none") -> Verdict:
    """The verdict on a claim that no judge could judge: no support, no contradiction."""
    return verdict_of(claim, "unjudged", 0.0, 0.0, None, reasoning, judge)


CELL: Final = "cell"  # the judge that looks up a cell


def cell_verdict(claim: Claim, passages: Sequence[Passage]) -> Verdict | None:
    """Supported if a row of a passage has exactly that cell; the row is the evidence. None for any other claim."""
    text = without_markers(claim["text"])
    if ": " not in text or "\n" in text.strip():
        return None
    for number, passage in enumerate(passages):
        for row in rows_of(passage):
            if stated_place(text, row.cells) is not None:
                quote = passage["text"][row.start : row.end].strip()
                start = passage["text"].index(quote, row.start)
                evidence = evidence_at(number, start, start + len(quote), passages)
                why = "The row has this cell, in this column."
                return verdict_of(claim, "supported", 1.0, 0.0, evidence, why, CELL)
    return None


def decide(
    claim: Claim, reading: ClaimReading | None, scores: Scores, by: Standard, passages: Sequence[Passage], judge: str
) -> Verdict:
    """The verdict on a claim by its scores and by the facts of its window.

    A claim with a figure that no passage has is partly supported at best, and only if other figures match and the score
    suffices. A claim that the facts of its window contradict is not supported. The support of a judge with a curve
    becomes a calibrated probability. A claim is contradicted only if a conflict, a pair of quotes, can be shown (see
    `find_conflict`); a score alone makes it unsupported.
    """
    if reading is None:
        return verdict_of(claim, "unsupported", 0.0, 0.0, None, "There is no text to support it.", judge)
    support, contradiction = scores
    if judge in curves():
        support = curves()[judge].claim(support)
    against, lacking = reading.against(by_words=by.by_words), reading.lacking
    opposed = max(against, contradiction if contradiction > support else 0.0) >= by.contradicted
    conflict = None
    if by.by_words or lacking or opposed:
        conflict = find_conflict(without_markers(claim["text"]), reading.window.text, lacking)
    apart = by.overlap and reading.coverage < SOME
    objected = conflict is not None or reading.objects(by_words=by.by_words) or apart
    contradiction = max(contradiction, against, SHOWN if conflict else 0.0)
    # A short claim without evidence may have such a score too: the window must support a part of the claim.
    some_figure = not lacking or any(fact.kind != "name" for fact in reading.facts.matched)
    shares_part = some_figure and (not by.by_words or reading.coverage >= SOME)
    label: Label
    if objected or opposed:
        support = min(support, max(0.0, by.supported - 0.01))
    if conflict:
        support = min(support, IN_SPITE)
        label = "contradicted"
    elif opposed:
        label = "unsupported"
    elif support >= by.supported:
        label = "supported"
    elif support >= by.partial and shares_part:
        label = "partially_supported"
    else:
        label = "unsupported"
    evidence = None if label == "unsupported" else evidence_of(reading.window, passages)
    reasoning = _reason(reading, label, lacking, conflict)
    verdict = verdict_of(claim, label, support, contradiction, evidence, reasoning, judge)
    if objected:
        verdict["objected"] = True
    if label != "supported" and objected and (spans := _objected_spans(claim, reading, lacking)):
        verdict["unsupported_spans"] = spans
    return verdict


def _reason(reading: ClaimReading, label: Label, lacking: Sequence[Fact], conflict: FactConflict | None) -> str:
    """The conflict, or the facts that did not match, in a sentence; then how much of the claim the quote covers."""
    reasons = [conflict.reason] if conflict else []
    for fact in lacking[:2]:
        if conflict is None or fact.text.strip() != conflict.claimed:
            where = "stands in the passages for something else" if fact in reading.in_words else "is in no passage"
            reasons.append(f"{fact.text.strip()} {where}")
    if label != "supported":
        reasons += [f"{name.text.strip()} is in no passage" for name in reading.unknown_names[:2]]
        reasons += ["the figures are those of another row"] if reading.misplaced else []
        if reading.denial_unmatched and conflict is None:
            reasons.append("the claim is negated, the passage is not")
    reasons += reading.reckoned
    covered = f"{reading.coverage:.0%} of the claim's words are in the passage"
    return "; ".join([*reasons, covered]) + "."


def joined(spans: Iterable[Span]) -> list[Span]:
    """The ranges in order; ranges that overlap, or are at most one character apart, are joined."""
    ranges: list[Span] = []
    for start, end in sorted(spans):
        if ranges and start - ranges[-1][1] <= 1:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], end))
        else:
            ranges.append((start, end))
    return ranges


def can_point(claim: Claim) -> bool:
    """Whether offsets in the claim's text are offsets in the answer: not for a rephrased claim."""
    return len(claim["text"]) == claim["end"] - claim["start"]


def _objected_spans(claim: Claim, reading: ClaimReading, lacking: Sequence[Fact]) -> list[Span]:
    """Ranges of the answer with the figures, names and opposite words against a claim; none for a rephrased claim."""
    text, offset = claim["text"], claim["start"]
    if not can_point(claim) or not text.startswith(without_markers(text)):
        return []
    places = [(fact.start, fact.end) for fact in (*lacking, *reading.unknown_names)]
    if reading.opposite and (word := re.search(rf"\b{re.escape(reading.opposite[0])}\b", text, re.IGNORECASE)):
        places.append(word.span())
    return joined((start + offset, end + offset) for start, end in places)


def checked(returned: Any, claims: Sequence[Claim], passages: Sequence[Passage], name: str) -> list[Verdict]:
    """The verdicts that a judge returned on these claims, each made sound. Raises ModelError if they are no verdicts.

    Scores are clamped to 0..1. A quote that stands elsewhere is moved to its place; one that stands nowhere is dropped
    and its verdict lowered; nothing else is mended.
    """
    if not isinstance(returned, list | tuple):
        raise ModelError(
            f"judge {name!r} returned a {type(returned).__name__}; wanted a list of {len(claims)} verdicts."
        )
    if len(returned) != len(claims):
        raise ModelError(f"judge {name!r} returned {len(returned)} verdicts for {len(claims)} claims; wanted one each.")
    return [sanitised(verdict, claim, passages, name) for verdict, claim in zip(returned, claims, strict=True)]


def sanitised(verdict: Any, claim: Claim, passages: Sequence[Passage], name: str) -> Verdict:
    """One verdict made sound; raises ModelError when it cannot be."""
    if not isinstance(verdict, dict):
        raise ModelError(f"judge {name!r} returned a {type(verdict).__name__} for a claim; wanted a verdict.")
    label = verdict.get("verdict")
    if label not in LABELS:
        raise ModelError(f"judge {name!r} returned the verdict {label!r}; wanted one of {', '.join(LABELS)}.")
    support, contradiction = _score(verdict, "support", name), _score(verdict, "contradiction", name)
    reasoning = str(verdict.get("reasoning") or "")
    evidence, invented = _evidence(verdict.get("evidence"), passages)
    if invented:
        reasoning = f"{reasoning} The quoted evidence is not in the passages.".strip()
        if label in LOWERED:
            label, support = LOWERED[label], min(support, WITHOUT_EVIDENCE)
    if label == "unjudged":
        support = contradiction = 0.0
    judge = str(verdict.get("judge") or name)
    sound = verdict_of(claim, label, support, contradiction, evidence, reasoning, judge)
    if verdict.get("objected"):
        sound["objected"] = True
    if isinstance(verdict.get("correction"), str):
        sound["correction"] = verdict["correction"]
    if spans := verdict.get("unsupported_spans"):
        sound["unsupported_spans"] = [
            (start, end)
            for start, end in spans
            if isinstance(start, int) and isinstance(end, int) and claim["start"] <= start < end <= claim["end"]
        ]
    return sound


def _score(verdict: dict[str, Any], key: str, name: str) -> float:
    value = verdict.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ModelError(f"judge {name!r} returned a {key} of {value!r}; wanted a number of 0..1.")
    return min(1.0, max(0.0, float(value)))


def _evidence(given: Any, passages: Sequence[Passage]) -> tuple[Evidence | None, bool]:
    if given is None:
        return None, False
    quote = given.get("quote") if isinstance(given, dict) else None
    if not isinstance(quote, str) or not quote.strip():
        return None, True
    number, start, end = (given.get(name) for name in ("passage", "start", "end"))
    whole = all(type(value) is int for value in (number, start, end))
    if whole and 0 <= number < len(passages) and 0 <= start < end and passages[number]["text"][start:end] == quote:
        return evidence_at(number, start, end, passages), False
    evidence = quoted(quote, passages, number if isinstance(number, int) else -1)
    return evidence, evidence is None
