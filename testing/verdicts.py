"""Verdicts written down in a line, for tests of what is made of them."""

from collections.abc import Sequence

from cragraph.text.sentences import sentence_spans
from cragraph.types import ClaimType, Evidence, Label, Passage, Verdict

SUPPORT: dict[Label, float] = {
    "supported": 1.0,
    "partially_supported": 0.5,
    "unsupported": 0.0,
    "contradicted": 0.0,
    "unjudged": 0.0,
}


def verdict(
    label: Label = "supported",
    text: str = "A claim.",
    *,
    start: int = 0,
    support: float | None = None,
    evidence: Evidence | None = None,
    type: ClaimType = "factual",
    judge: str = "fake",
    reasoning: str = "",
) -> Verdict:
    """One verdict; its support follows from the label unless it is given."""
    return Verdict(
        text=text,
        start=start,
        end=start + len(text),
        type=type,
        verdict=label,
        support=SUPPORT[label] if support is None else support,
        contradiction=1.0 if label == "contradicted" else 0.0,
        evidence=evidence,
        reasoning=reasoning,
        judge=judge,
    )


def quoted(passages: Sequence[Passage], position: int, quote: str | None = None) -> Evidence:
    """Evidence from a passage: the quote, or all of its text."""
    text = passages[position]["text"]
    quote = text if quote is None else quote
    start = text.index(quote)
    return Evidence(
        quote=quote, passage=position, chunk_id=passages[position]["chunk_id"], start=start, end=start + len(quote)
    )


def judged(
    answer: str, labels: Sequence[Label], passages: Sequence[Passage] = (), evidence: Sequence[int | None] = ()
) -> list[Verdict]:
    """A verdict for each sentence of an answer: its label, and the position of the passage that is its evidence."""
    spans = sentence_spans(answer)
    held = [*evidence, *[None] * (len(spans) - len(evidence))]
    return [
        verdict(label, answer[start:end], start=start, evidence=None if place is None else quoted(passages, place))
        for (start, end), label, place in zip(spans, labels, held, strict=True)
    ]
