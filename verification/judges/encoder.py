"""The embedded judge: a small grounding model of our own that reads claim and passages together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from cragraph.protocols import Judge, Notes
from cragraph.text.markers import without_markers
from cragraph.text.sentences import sentences
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.lexical import LexicalJudge
from cragraph.verification.judges.reading import Reading
from cragraph.verification.judges.verdicts import Standard, can_point, decide, joined, unjudged
from cragraph.verification.result import bare

if TYPE_CHECKING:
    from cragraph.models.grounding import Grounding, GroundingModel

STANDARD: Final = Standard(supported=0.5, partial=0.25, contradicted=0.5)


@dataclass(frozen=True)
class EncoderJudge:
    """Judges each claim against all passages at once; points at the words that lack support.

    Support joins the network's logit with what `words` makes of the claim: the network sees contradictions that share
    all words, words are better on long answers. It is a calibrated probability. The verdict is held to the same facts
    as that of the other judges (see `decide`): a figure that no passage has, or an opposite word in its place, is never
    supported, however sure the network is. A sentence that was copied from a passage needs no network: it is supported
    unless facts object. The model reads English: claims in another language, and those against passages in another one,
    are left to the judge `other`; without one they are `unjudged`. Both is noted.
    """

    model: "GroundingModel"
    other: Judge | None = None
    words: LexicalJudge = field(default_factory=LexicalJudge)
    name: str = "encoder"
    apart = True

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        notes.ran("encoder judge", self.model.name)
        texts = [passage["text"] if self.model.reads(passage["text"]) else "" for passage in passages]
        readable = [any(texts) and self.model.reads(claim["text"]) for claim in claims]
        own = [claim for claim, reads in zip(claims, readable, strict=True) if reads]
        rest = [claim for claim, reads in zip(claims, readable, strict=True) if not reads]
        if own and any(passage["text"] and not text for passage, text in zip(passages, texts, strict=True)):
            notes.degraded("The encoder judge reads English only: passages in another language were left out.")
        verdicts = iter(self._read(own, texts, passages))
        others = iter(self._unread(rest, passages, notes, question) if rest else ())
        return [next(verdicts) if reads else next(others) for reads in readable]

    def _read(self, claims: Sequence[Claim], texts: Sequence[str], passages: Sequence[Passage]) -> list[Verdict]:
        pairs = list(zip(claims, self.words.readings(claims, passages), strict=True))
        copied = [is_copied(*pair) for pair in pairs]
        new = [_written(*pair) for pair, known in zip(pairs, copied, strict=True) if not known]
        groundings = iter(self.model.judge(new, texts) if new else ())
        return [
            decide(*pair, (1.0, 0.0), STANDARD, passages, self.name)
            if known
            else self._verdict(*pair, next(groundings), passages)
            for pair, known in zip(pairs, copied, strict=True)
        ]

    def _unread(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
    ) -> list[Verdict]:
        if self.other is None:
            notes.degraded("The encoder judge reads English only: what is in another language is unjudged.")
            return [unjudged(claim, "The encoder judge reads English only.", self.name) for claim in claims]
        notes.degraded(
            f"The encoder judge reads English only: {len(claims)} claim(s) were left to the judge {self.other.name!r}, "
            "which was measured on English."
        )
        return list(self.other(claims, passages, notes, question=question))

    def _verdict(
        self, claim: Claim, reading: Reading | None, grounding: "Grounding", passages: Sequence[Passage]
    ) -> Verdict:
        objected = reading is not None and reading.objects()
        blend = self.model.blend(grounding, self.words.support(reading), objected)
        support, against = (min(max(float(value), 0.0), 1.0) for value in (blend.supported, blend.contradicted))
        verdict = decide(claim, reading, (support, against), STANDARD, passages, self.name)
        doubtful = [word for word in blend.words if word.unsupported >= self.model.word_threshold]
        as_read = can_point(claim) and _written(claim, reading) == claim["text"]
        if verdict["verdict"] != "supported" and doubtful and as_read:
            own = [(claim["start"] + word.start, claim["start"] + word.end) for word in doubtful]
            verdict["unsupported_spans"] = joined([*verdict.get("unsupported_spans", []), *own])
            if not objected:
                worst = sorted(sorted(doubtful, key=lambda word: -word.unsupported)[:3], key=lambda word: word.start)
                named = ", ".join(repr(claim["text"][word.start : word.end]) for word in worst)
                verdict["reasoning"] = f"Without support: {named}; {verdict['reasoning']}"
        return verdict


def _written(claim: Claim, reading: Reading | None) -> str:
    """The claim as the network reads it, with its figures as the passages write them."""
    if reading is None or reading.written == without_markers(claim["text"]):
        return claim["text"]
    return reading.written


def is_copied(claim: Claim, reading: Reading | None) -> bool:
    """Whether a claim is a whole sentence of a passage, spacing, case and marks at its ends aside."""
    if reading is None:
        return False
    text, window = bare(without_markers(claim["text"])), reading.window.text
    return bool(text) and text in (bare(window), *map(bare, sentences(window)))
