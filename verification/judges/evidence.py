"""Verdicts that can be relied on: known labels, finite scores, quotes that really stand in their passage."""

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any, Final

from cragraph.errors import ModelError
from cragraph.types import Claim, Evidence, Label, Passage, Verdict
from cragraph.verification.windows import Window

LABELS: Final[tuple[Label, ...]] = ("supported", "partially_supported", "unsupported", "contradicted", "unjudged")
LOWERED: Final[dict[Label, Label]] = {"supported": "partially_supported", "partially_supported": "unsupported"}
"""What a verdict becomes when its quote is not in the passages."""
WITHOUT_EVIDENCE: Final = 0.45
"""What the support of a verdict without its evidence is at most."""


def evidence_of(window: Window, passages: Sequence[Passage]) -> Evidence:
    """A window as evidence, with its exact quote."""
    return Evidence(
        quote=window.text,
        passage=window.passage,
        chunk_id=passages[window.passage]["chunk_id"],
        start=window.start,
        end=window.end,
    )


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
    return Verdict(
        text=claim["text"],
        start=claim["start"],
        end=claim["end"],
        type=claim["type"],
        verdict=label,
        support=support,
        contradiction=contradiction,
        evidence=evidence,
        reasoning=reasoning,
        judge=judge,
    )


def unjudged(claim: Claim, reasoning: str, judge: str = "none") -> Verdict:
    """The verdict on a claim that nobody could judge: no support, no contradiction."""
    return verdict_of(claim, "unjudged", 0.0, 0.0, None, reasoning, judge)


def checked(found: Any, claims: Sequence[Claim], passages: Sequence[Passage], name: str) -> list[Verdict]:
    """What a judge returned as verdicts on these claims, each sound; raises ModelError where that is not what it is.

    Scores are clamped to 0..1, a quote that stands elsewhere is moved to its place, one that stands nowhere is
    dropped and its verdict lowered. A wrong number of verdicts, an unknown label, a score that is no number or not
    finite, or something that is no verdict at all cannot be mended.
    """
    if not isinstance(found, list | tuple):
        raise ModelError(f"judge {name!r} returned a {type(found).__name__}; wanted a list of {len(claims)} verdicts.")
    if len(found) != len(claims):
        raise ModelError(f"judge {name!r} returned {len(found)} verdicts for {len(claims)} claims; wanted one each.")
    return [sanitised(verdict, claim, passages, name) for verdict, claim in zip(found, claims, strict=True)]


def sanitised(verdict: Any, claim: Claim, passages: Sequence[Passage], name: str) -> Verdict:
    """One verdict made sound; raises ModelError when it cannot be."""
    if not isinstance(verdict, dict):
        raise ModelError(f"judge {name!r} returned a {type(verdict).__name__} for a claim; wanted a verdict.")
    label = verdict.get("verdict")
    if label not in LABELS:
        raise ModelError(f"judge {name!r} returned the verdict {label!r}; wanted one of {', '.join(LABELS)}.")
    support = _score(verdict, "support", name)
    contradiction = _score(verdict, "contradiction", name)
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
    if isinstance(verdict.get("correction"), str):
        sound["correction"] = verdict["correction"]
    if verdict.get("unsupported_spans"):
        sound["unsupported_spans"] = _spans(verdict["unsupported_spans"], claim)
    return sound


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, exactly or but for white space; None when it does not."""
    place = text.find(quote)
    if place >= 0 and quote:
        return place, place + len(quote)
    words = quote.split()
    if not words:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    return found.span() if found else None


def _score(verdict: dict[str, Any], key: str, name: str) -> float:
    value = verdict.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ModelError(f"judge {name!r} returned a {key} of {value!r}; wanted a number of 0..1.")
    return min(1.0, max(0.0, float(value)))


def _evidence(given: Any, passages: Sequence[Passage]) -> tuple[Evidence | None, bool]:
    """The evidence at its true place, and whether it was invented."""
    if given is None:
        return None, False
    quote = given.get("quote") if isinstance(given, dict) else None
    if not isinstance(quote, str) or not quote.strip():
        return None, True
    number, start, end = given.get("passage"), given.get("start"), given.get("end")
    if _is_place(number, start, end, passages) and passages[number]["text"][start:end] == quote:
        return _at(number, start, end, passages), False
    likely = number if isinstance(number, int) and 0 <= number < len(passages) else -1
    for index in sorted(range(len(passages)), key=lambda index: index != likely):
        span = locate(quote, passages[index]["text"])
        if span is not None:
            return _at(index, *span, passages), False
    return None, True


def _is_place(number: Any, start: Any, end: Any, passages: Sequence[Passage]) -> bool:
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in (number, start, end))
    return whole and 0 <= number < len(passages) and 0 <= start < end


def _at(number: int, start: int, end: int, passages: Sequence[Passage]) -> Evidence:
    passage = passages[number]
    return Evidence(
        quote=passage["text"][start:end], passage=number, chunk_id=passage["chunk_id"], start=start, end=end
    )


def _spans(given: Any, claim: Claim) -> list[tuple[int, int]]:
    """The spans that lie within the claim."""
    found: list[tuple[int, int]] = []
    for span in given:
        start, end = span
        if isinstance(start, int) and isinstance(end, int) and claim["start"] <= start < end <= claim["end"]:
            found.append((start, end))
    return found
