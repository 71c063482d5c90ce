"""The embedded judge: a small grounding model of our own that reads claim and passages together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

from cragraph.errors import ModelError
from cragraph.protocols import Notes
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.deciding import Thresholds, decide, objections
from cragraph.verification.judges.evidence import unjudged
from cragraph.verification.judges.features import Reading
from cragraph.verification.judges.lexical import LexicalJudge

if TYPE_CHECKING:
    from cragraph.models.grounding import Grounding, Word

PARTIAL: Final = 0.5
"""A claim with at least this share of the support it would need is partly supported, if a part of it is there."""
CONTRADICTED: Final = 0.5
"""The probability of a contradiction from which a claim counts as contradicted."""


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

    def blend(self, found: "Grounding", opinion: float, objected: bool) -> "Grounding":
        """The grounding with a judgement by words, 0..1, and whether facts object to the claim taken into account."""
        ...


@dataclass(frozen=True)
class EncoderJudge:
    """Judges each claim against all passages at once; points at the words that lack support.

    Support joins the network's logit with what `words` makes of the claim: the network sees contradictions that share
    all words, words are better on long answers. It is a calibrated probability. The verdict is held to the same facts
    as that of the other judges (see `decide`): a figure that no passage has, or an opposite word in its place, is never
    supported, however sure the network is. Text in a script that the model cannot read is declined: its claims are
    `unjudged`, and where nothing at all can be read the judge raises `ModelError`, so that another one takes over.
    """

    model: Grounder
    words: LexicalJudge = field(default_factory=LexicalJudge)
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
        found = iter(zip(own, groundings, self.words.readings(own, passages), strict=True))
        return [
            self._verdict(*next(found), passages)
            if ok
            else unjudged(claim, "The encoder judge reads English only.", self.name)
            for claim, ok in zip(claims, readable, strict=True)
        ]

    def _verdict(
        self, claim: Claim, grounding: "Grounding", reading: Reading | None, passages: Sequence[Passage]
    ) -> Verdict:
        objected = reading is not None and bool(objections(reading))
        found = self.model.blend(grounding, self.words.support(reading), objected)
        support, contradiction = _chance(found.supported), _chance(found.contradicted)
        verdict = decide(claim, reading, support, contradiction, self._thresholds, passages, self.name)
        doubtful = [word for word in found.words if word.unsupported >= self.model.word_threshold]
        if verdict["verdict"] != "supported" and doubtful and len(claim["text"]) == claim["end"] - claim["start"]:
            verdict["unsupported_spans"] = _spans(doubtful, claim)
            verdict["reasoning"] = f"Without support: {_named(claim['text'], doubtful)}; {verdict['reasoning']}"
        return verdict

    @property
    def _thresholds(self) -> Thresholds:
        supported = self.model.blended_threshold
        return Thresholds(supported, PARTIAL * supported, CONTRADICTED)


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


def _named(text: str, doubtful: "Sequence[Word]") -> str:
    """The three most doubtful words as the claim has them, in its order."""
    worst = sorted(doubtful, key=lambda word: -word.unsupported)[:3]
    return ", ".join(repr(text[word.start : word.end]) for word in sorted(worst, key=lambda word: word.start))


def _chance(value: float) -> float:
    return min(max(float(value), 0.0), 1.0)
