"""The embedded judge: a small grounding model of our own that reads claim and passages together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from cragraph.errors import ModelError
from cragraph.protocols import Judge, Notes
from cragraph.types import Claim, Evidence, Label, Passage, Verdict
from cragraph.verification.judges.evidence import unjudged, verdict_of
from cragraph.verification.judges.lexical import LexicalJudge

if TYPE_CHECKING:
    from cragraph.models.grounding import Grounding, Word

PARTIAL: Final = 0.5
"""A claim with at least this share of the support it would need, and most of its words held, is partly supported."""


class Grounder(Protocol):
    """What the judge asks of a grounding model; `cragraph.models.grounding.GroundingModel` is one."""

    @property
    def name(self) -> str:
        """Names the weights."""
        ...

    @property
    def blended_threshold(self) -> float:
        """The support, 0..1, from which a claim counts as supported."""
        ...

    @property
    def word_threshold(self) -> float:
        """The chance, 0..1, from which a word counts as unsupported."""
        ...

    def reads(self, text: str) -> bool:
        """Whether the model can read the script of a text."""
        ...

    def judge(self, claims: Sequence[str], passages: Sequence[str]) -> "Sequence[Grounding]":
        """One grounding a claim, in order, each against all passages."""
        ...

    def blend(self, found: "Grounding", opinion: float) -> "Grounding":
        """The grounding with another judge's support, 0..1, taken into account."""
        ...


@dataclass(frozen=True)
class EncoderJudge:
    """Judges each claim against all passages at once; points at the words that lack support.

    Support joins the network's logit with what the lexical judge thinks: the network sees contradictions that share
    all words, the lexical judge is better on long answers. It is a calibrated probability. Text in a script that the
    model cannot read is declined: its claims are `unjudged`, and where nothing at all can be read the judge raises
    `ModelError`, so that another one takes over.
    """

    model: Grounder
    second: Judge = field(default_factory=LexicalJudge)
    name: str = "encoder"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict a claim, in order."""
        texts = [passage["text"] if self.model.reads(passage["text"]) else "" for passage in passages]
        readable = [self.model.reads(claim["text"]) for claim in claims]
        if claims and (not any(readable) or (passages and not any(texts))):
            raise ModelError(
                "the encoder judge reads English; the text came in another script: choose the judge 'embedding' "
                "with embeddings of that language, or a chat model."
            )
        if not all(readable):
            notes.degraded("The encoder judge reads English only: claims in another script are unjudged.")
        if any(passage["text"] and not text for passage, text in zip(passages, texts, strict=True)):
            notes.degraded("The encoder judge reads English only: passages in another script were left out.")
        notes.ran("encoder judge", self.model.name)
        own = [claim for claim, ok in zip(claims, readable, strict=True) if ok]
        groundings = self.model.judge([claim["text"] for claim in own], texts)
        opinions = self.second(own, passages, Notes(), question=question)
        found = iter([self.model.blend(g, o["support"]) for g, o in zip(groundings, opinions, strict=True)])
        return [
            self._verdict(claim, next(found), passages)
            if ok
            else unjudged(claim, "The encoder judge reads English only.", self.name)
            for claim, ok in zip(claims, readable, strict=True)
        ]

    def _verdict(self, claim: Claim, grounding: "Grounding", passages: Sequence[Passage]) -> Verdict:
        doubtful = [word for word in grounding.words if word.unsupported >= self.model.word_threshold]
        label = self._label(grounding, len(doubtful))
        verdict = verdict_of(
            claim,
            label,
            _chance(grounding.supported),
            _chance(grounding.contradicted),
            None if label == "unsupported" else _evidence(grounding.quote, passages),
            _reasoning(label, claim["text"], doubtful),
            self.name,
        )
        if label != "supported" and doubtful and len(claim["text"]) == claim["end"] - claim["start"]:
            verdict["unsupported_spans"] = _spans(doubtful, claim)
        return verdict

    def _label(self, grounding: "Grounding", doubtful: int) -> Label:
        if grounding.supported >= self.model.blended_threshold and grounding.supported > grounding.contradicted:
            return "supported"
        if grounding.contradicted > max(grounding.unsupported, grounding.supported):
            return "contradicted"
        near = grounding.supported >= PARTIAL * self.model.blended_threshold
        if near and doubtful <= len(grounding.words) / 2:
            return "partially_supported"
        return "unsupported"


def _evidence(quote: tuple[int, int, int] | None, passages: Sequence[Passage]) -> Evidence | None:
    if quote is None:
        return None
    place, start, end = quote
    passage = passages[place]
    return Evidence(quote=passage["text"][start:end], passage=place, chunk_id=passage["chunk_id"], start=start, end=end)


def _spans(doubtful: "Sequence[Word]", claim: Claim) -> list[tuple[int, int]]:
    """Answer offsets of the doubtful words; words with nothing but one character between them share a span."""
    spans: list[tuple[int, int]] = []
    for word in doubtful:
        start, end = claim["start"] + word.start, claim["start"] + word.end
        if spans and start - spans[-1][1] <= 1:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _reasoning(label: Label, text: str, doubtful: "Sequence[Word]") -> str:
    worst = sorted(doubtful, key=lambda word: -word.unsupported)[:3]
    words = ", ".join(repr(text[word.start : word.end]) for word in sorted(worst, key=lambda word: word.start))
    if label == "supported":
        return "The passages support it."
    said = {
        "contradicted": "The passages say otherwise",
        "partially_supported": "The passages support it in part",
        "unsupported": "The passages do not support it",
    }[label]
    return f"{said}: {words}." if words else f"{said}."


def _chance(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)
