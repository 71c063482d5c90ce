"""The embedded judges: a network of our own that reads a claim together with quoted sentences, words, similarity."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from cragraph.language.facts.polarity import denials
from cragraph.language.markers import without_markers
from cragraph.language.sentences import sentences
from cragraph.models.cache import CachedEmbeddings, embedded
from cragraph.models.grounding import Grounding, GroundingModel
from cragraph.protocols import Embeddings, Judge, Notes, YesNoSentence, stand_in
from cragraph.types import Claim, Passage, Verdict
from cragraph.verification.judges.verdicts import (
    BY_WORDS,
    IN_SPITE,
    Standard,
    can_point,
    decide,
    joined,
    unjudged,
    verdict_of,
)
from cragraph.verification.reading import (
    WINDOWS,
    ClaimReading,
    Readings,
    best_by_words,
    clearest,
    evidence_at,
    support_of,
)
from cragraph.verification.result import bare

_WORD: Final = re.compile(r"\W*(yes|no)\s*[,.;:!\u2013\u2014-]+\s*", re.I)
AMONG: Final = 60  # sentences that are compared with a claim in meaning
STANDARD: Final = Standard(supported=0.5, partial=0.25, contradicted=0.5)


@dataclass(frozen=True)
class EncoderJudge:
    """Judges each claim against all passages at once; points at the words that lack support.

    The network reads a claim with the window that words choose for it and, unless facts differ there, with the sentence
    nearest in meaning if `embeddings` are given (`held`). The place that supports the claim better is quoted. Its logit
    is joined with the support by words (`support_of`): the network sees contradictions that share all words, words are
    better on long answers. The support is a calibrated probability. Facts have the last word, as for
    the other judges (see `decide`): a claim with a figure that no passage has, or with an opposite word, is never
    supported. A sentence that was copied from a passage is supported without the network unless facts object. The
    network reads English: claims or passages in another language are left to the judge `other`; without it they are
    `unjudged`. Both cases are noted.

    The answer to a yes-or-no question is read with its question: the sentence after "Yes," or "No," is judged by
    itself, and then compared with the sentence that `yes_no` finds for the question. If that sentence denies what is
    asked, a yes has a support of at most `IN_SPITE`, and a no has the support that the sentence gives it.
    """

    model: "GroundingModel"
    other: Judge | None = None
    name: str = "encoder"
    yes_no: Callable[[str, Sequence[Passage]], YesNoSentence | None] | None = None
    embeddings: Embeddings | None = None
    one_by_one = True

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        notes.ran("encoder judge", self.model.name)
        parts = [split_word(claim) for claim in claims]
        verdicts = self._judged([rest for _, rest in parts], passages, notes, question)
        sentence = (
            self.yes_no(question, passages) if self.yes_no is not None and any(word for word, _ in parts) else None
        )
        return [
            self._with_word(claim, word, rest, verdict, sentence, passages) if word else verdict
            for claim, (word, rest), verdict in zip(claims, parts, verdicts, strict=True)
        ]

    def _with_word(
        self,
        claim: Claim,
        word: str,
        rest: Claim,
        verdict: Verdict,
        sentence: YesNoSentence | None,
        passages: Sequence[Passage],
    ) -> Verdict:
        """The verdict on a claim that says yes or no, from the verdict on the `rest` of the claim and the
        `sentence` that answers the question."""
        if sentence is not None and sentence.denied:
            text = passages[sentence.passage]["text"][sentence.start : sentence.end]
            place = evidence_at(sentence.passage, sentence.start, sentence.end, passages)
            reason = f"The passages deny it: “{' '.join(text.split())}”"
            if word == "yes" and (rest is claim or not denials(rest["text"])):
                support, against = min(verdict["support"], IN_SPITE), max(verdict["contradiction"], 1 - IN_SPITE)
                verdict = verdict_of(claim, "unsupported", support, against, None, reason, self.name)
                verdict["objected"] = True
            elif rest is claim:
                verdict = verdict_of(claim, "supported", 1 - IN_SPITE, 0.0, place, reason, self.name)
            else:
                [alone] = self._read([rest], [text], [{**passages[sentence.passage], "text": text}], Notes())
                if alone["support"] > verdict["support"]:
                    verdict = {**alone, "evidence": alone["evidence"] and place}
        return {**verdict, "text": claim["text"], "start": claim["start"], "end": claim["end"]}

    def _judged(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
    ) -> list[Verdict]:
        """One verdict per claim, read without the question."""
        texts = [passage["text"] if self.model.reads(passage["text"]) else "" for passage in passages]
        readable = [any(texts) and self.model.reads(claim["text"]) for claim in claims]
        own = [claim for claim, reads in zip(claims, readable, strict=True) if reads]
        rest = [claim for claim, reads in zip(claims, readable, strict=True) if not reads]
        if own and any(passage["text"] and not text for passage, text in zip(passages, texts, strict=True)):
            notes.degraded("The encoder judge reads English only: passages in another language were left out.")
        verdicts = iter(self._read(own, texts, passages, notes))
        others = iter(self._unread(rest, passages, notes, question) if rest else ())
        return [next(verdicts) if reads else next(others) for reads in readable]

    def _read(
        self, claims: Sequence[Claim], texts: Sequence[str], passages: Sequence[Passage], notes: Notes
    ) -> list[Verdict]:
        readable: list[Passage] = [{**p, "text": text} for p, text in zip(passages, texts, strict=True)]
        places: list[Sequence[ClaimReading | None]] = [
            own or [None] for own in held(claims, readable, self.embeddings, notes)
        ]
        copied = [is_copied(claim, own[0]) for claim, own in zip(claims, places, strict=True)]
        new = [pair for pair, known in zip(zip(claims, places, strict=True), copied, strict=True) if not known]
        pairs = [(claim, reading) for claim, own in new for reading in own]
        read = ["" if reading is None else reading.window.text for _, reading in pairs]
        groundings = iter(self.model.judge([_written(*pair) for pair in pairs], read) if pairs else ())
        verdicts = []
        for claim, own, known in zip(claims, places, copied, strict=True):
            if known:
                verdicts.append(decide(claim, own[0], (1.0, 0.0), STANDARD, passages, self.name))
            else:
                blends = [(self._blend(reading, next(groundings)), reading) for reading in own]
                best, reading = max(blends, key=lambda pair: pair[0].supported)
                verdicts.append(self._verdict(claim, reading, best, passages))
        return verdicts

    def _unread(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
    ) -> list[Verdict]:
        if self.other is None:
            notes.degraded("The encoder judge reads English only: claims in another language are unjudged.")
            return [unjudged(claim, "The encoder judge reads English only.", self.name) for claim in claims]
        notes.degraded(
            f"The encoder judge reads English only: {len(claims)} claim(s) were left to the judge {self.other.name!r}, "
            "which was measured on English."
        )
        return list(self.other(claims, passages, notes, question=question))

    def _blend(self, reading: ClaimReading | None, grounding: "Grounding") -> "Grounding":
        return self.model.blend(grounding, support_of(reading, "lexical"), reading is not None and reading.objects())

    def _verdict(
        self, claim: Claim, reading: ClaimReading | None, blend: "Grounding", passages: Sequence[Passage]
    ) -> Verdict:
        objected = reading is not None and reading.objects()
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


def held(
    claims: Sequence[Claim], passages: Sequence[Passage], embeddings: Embeddings | None, notes: Notes
) -> list[list[ClaimReading]]:
    """The places that each claim is read with; none if there is no text.

    The first place is the window that words choose, the second the sentence nearest to the claim in meaning, of the
    `AMONG` sentences that share most words with it. If the first place has other facts than the claim, or is a copy of
    it, no second place is looked for.
    """
    measures = Readings(claims, passages)
    space, places = measures.space, [best_by_words(measures, number) for number in range(len(claims))]
    first = [[reading] if reading is not None else [] for reading in places]
    if embeddings is None:
        return first
    wanted = {}
    for number, own in enumerate(first):
        if own and not own[0].against() and not is_copied(claims[number], own[0]):
            likely = np.argsort(-space.likely[space.singles, number], kind="stable")[:AMONG]
            wanted[number] = sorted(likely.tolist())
    texts = [measures.texts[number] for number in wanted]
    texts += [space.sentences[n].text for among in wanted.values() for n in among]
    call, instead = partial(embedded, embeddings, texts), "evidence was looked for by words alone"
    vectors = stand_in("The embedding model", call, instead, notes) if wanted else None
    if vectors is None:
        return first
    for number, among in wanted.items():
        claim, near = vectors[measures.texts[number]], [vectors[space.sentences[n].text] for n in among]
        nearest = among[int(np.argmax([float(claim @ vector) for vector in near]))]
        place = space.singles[nearest]
        if space.windows[place].text != first[number][0].window.text:
            first[number].append(measures.read(number, place))
    return first


def split_word(claim: Claim) -> tuple[str, Claim]:
    """The yes or no that a claim begins with, in lower case, and the rest of the claim; the whole claim if nothing
    follows."""
    match = _WORD.match(claim["text"])
    if match is None:
        return "", claim
    rest = claim["text"][match.end() :]
    if not re.search(r"\w", without_markers(rest)):
        return match[1].lower(), claim
    own: Claim = {**claim, "text": rest}
    if can_point(claim):
        own["start"] = claim["start"] + match.end()
    return match[1].lower(), own


def _written(claim: Claim, reading: ClaimReading | None) -> str:
    """The claim as the network reads it, with its figures as the passages write them."""
    if reading is None or reading.written == without_markers(claim["text"]):
        return claim["text"]
    return reading.written


def is_copied(claim: Claim, reading: ClaimReading | None) -> bool:
    """Whether a claim is a whole sentence of a passage, spacing, case and marks at its ends aside."""
    if reading is None:
        return False
    text, window = bare(without_markers(claim["text"])), without_markers(reading.window.text)
    return bool(text) and text in (bare(window), *map(bare, sentences(window)))


# -- judges that weigh what was measured ---------------------------------------------------------------------------


@dataclass(frozen=True)
class LexicalJudge:
    """Judges by stems, neighbouring words, figures, names and negation; needs no model, takes milliseconds.

    It knows no synonyms: a faithful paraphrase in other words looks unsupported to it.
    """

    name: str = "lexical"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        measures = Readings(claims, passages)
        readings = [best_by_words(measures, number) for number in range(len(claims))]
        return [
            decide(claim, reading, (support_of(reading, "lexical"), 0.0), BY_WORDS, passages, self.name)
            for claim, reading in zip(claims, readings, strict=True)
        ]


@dataclass(frozen=True)
class EmbeddingJudge:
    """Judges by cosine similarity to the likeliest windows together with words, figures, names and negation.

    The windows are preselected by words and embedded with the claims in one call; hand in a `CachedEmbeddings` to share
    its cache. Raises ModelError when the model returns no usable vectors.
    """

    embeddings: Embeddings
    name: str = "embedding"
    _cached: CachedEmbeddings = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = self.embeddings
        object.__setattr__(self, "_cached", own if isinstance(own, CachedEmbeddings) else CachedEmbeddings(own))

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in order."""
        measures = Readings(claims, passages)
        windows, chosen = measures.space.windows, [measures.space.best(n, WINDOWS) for n in range(len(claims))]
        texts = [*measures.texts, *(windows[place].text for places in chosen for place in places)]
        vectors = embedded(self._cached, texts) if any(chosen) else {}
        notes.ran("judge embeddings", self._cached.name)
        verdicts = []
        for number, (claim, text, places) in enumerate(zip(claims, measures.texts, chosen, strict=True)):
            cosines = [float(vectors[text] @ vectors[windows[place].text]) for place in places]
            readings = [measures.read(number, place, cosine) for place, cosine in zip(places, cosines, strict=True)]
            best = clearest(readings, "embedding")
            verdicts.append(decide(claim, best, (support_of(best, "embedding"), 0.0), BY_WORDS, passages, self.name))
        return verdicts
