"""The judge with a chat model, and its further calls: the claims of an answer, scores of the whole answer.

The judge makes one call for the numbered sentences of an answer; each quote is checked.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Final, Literal
from zlib import crc32

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from cragraph.errors import ModelError
from cragraph.language.facts import extract
from cragraph.language.markers import without_markers
from cragraph.language.quotes import placed
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import content_words
from cragraph.models.chat import ChatPart, ask
from cragraph.models.replies import Lines, Record, Score, Text, Whole, read_text, schema_of
from cragraph.protocols import Notes
from cragraph.types import Claim, ClaimType, Evidence, Label, Passage, Verdict
from cragraph.verification.claims import without_lead
from cragraph.verification.judges.verdicts import best_sentence, quoted, verdict_of
from cragraph.verification.result import CREDIT, IN_FAVOUR

ROW_TOKENS: Final = 260  # characters of a verdict at most: its texts and the field names around them
NEAREST: Final = 0.3  # a sentence is shown to the model if it has this share of a claim's words
BATCH: Final = 10  # claims per call: a small model's reply on more would not fit into the tokens it may write
MOST_QUOTES: Final = 3  # of a claim
CONTROL_CHARS: Final = (30, 220)  # of a sentence that becomes the control claim
CONTROL_KINDS: Final = ("number", "money", "measure", "percent")
_NUMBERED: Final = re.compile(
    r"(?:^|\b(?:nos?|(?:rule|plot|box|room|flat|page|paragraph)s?)\.?\s*|\b(?:to|between|from)\s*|[-–/]\s*)$", re.I
)
"""What stands before a figure that numbers something, or is an end of a range: to change it would make nonsense."""
_RANGE: Final = re.compile(r"\s*(?:\bto\b|[-–/])\s*\d")  # what stands behind the first figure of a range
PLAIN_CONTROL: Final = "One of the passages gives the number {number}."

STATUSES: Final[Mapping[str, Label]] = {
    **dict.fromkeys(("supported", "fully_supported", "true", "yes", "entailed", "verified", "correct"), "supported"),
    **dict.fromkeys(("partially_supported", "partly_supported", "partial", "partially"), "partially_supported"),
    **dict.fromkeys(
        ("unsupported", "not_supported", "false", "no", "neutral", "unverified", "not_found", "not_mentioned",
         "not_enough_info", "insufficient_evidence", "unknown"),
        "unsupported",
    ),
    **dict.fromkeys(("contradicted", "contradiction", "refuted", "contradictory", "conflicting"), "contradicted"),
}  # fmt: skip
"""Words that models write as a status, each with its verdict; any other word is no verdict."""


def _read_status(value: Any) -> str:
    return STATUSES.get(re.sub(r"[^a-z]+", "_", str(value).lower()).strip("_"), "unjudged")


_STATUS_SCHEMA = {"type": "string", "enum": ["SUPPORTED", "PARTIALLY_SUPPORTED", "UNSUPPORTED", "CONTRADICTED"]}
Status = Annotated[Label, BeforeValidator(_read_status), WithJsonSchema(_STATUS_SCHEMA)]


def _field(default: Any, *names: str, **schema: Any) -> Any:
    return Field(default, validation_alias=AliasChoices(*names), json_schema_extra=schema or None)


def _read_quotes(value: Any) -> list[str]:
    """The quotes of a claim, from a list or from one text; dots, which small models write for nothing, are no quote."""
    items = value if isinstance(value, list) else [value]
    texts = (read_text(item) for item in items)
    return [text for text in texts if re.search(r"\w", text)]


def _read_answers(value: Any) -> str:
    word = str(value if value is not None else "").strip().lower().rstrip(".")
    return {"all": "all", "yes": "all", "true": "all", "part": "part", "partly": "part", "partially": "part",
            "no": "no", "none": "no", "false": "no"}.get(word, "")  # fmt: skip


Quotes = Annotated[
    list[str],
    BeforeValidator(_read_quotes),
    WithJsonSchema({"type": "array", "items": {"type": "string", "maxLength": 300}, "maxItems": MOST_QUOTES}),
]
Answers = Annotated[
    Literal["all", "part", "no", ""],
    BeforeValidator(_read_answers),
    WithJsonSchema({"type": "string", "enum": ["ALL", "PART", "NO"]}),
]


class JudgedClaim(BaseModel):
    """The verdict on a numbered claim, also under the names that models like better.

    A model that follows the schema writes the fields in this order: the evidence before the status that rests on it,
    and rarely needed fields last.
    """

    n: Whole = _field(0, "n", "number", "id", "index", "claim_number")
    evidence: Quotes = _field([], "evidence", "quote", "quotes", "supporting_evidence", "evidence_quote")
    status: Status = _field(..., "status", "verdict", "label", "supported", "verified", "judgement", "judgment")
    reasoning: Text = _field("", "reasoning", "reason", "explanation", "rationale", optional=True, maxLength=160)
    correction: Text = _field(
        "", "correction", "suggested_correction", "fix", "corrected", optional=True, maxLength=240
    )
    claim: SkipJsonSchema[Text] = _field("", "claim", "text", "statement", "sentence")
    passage: SkipJsonSchema[Whole] = _field(0, "passage", "source", "passage_number", "supporting_sources", "sources")
    """The passage that the model names unasked: a quote is looked for in all passages."""


class JudgedClaims(BaseModel):
    """Verdicts on numbered claims, no more of them than were asked for, and whether they answer the question."""

    claims: list[JudgedClaim]
    answers: Answers = _field("", "answers", "answers_question", "addresses")
    open: Text = _field("", "open", "missing", "left_open", optional=True, maxLength=160)
    search: Lines = _field([], "search", "queries", optional=True, maxItems=3)
    suggested_corrections: SkipJsonSchema[list[Text]] = []


@cache
def rows_on(count: int) -> Mapping[str, Any]:
    """The schema of verdicts on `count` claims. The bound stops small models from repeating a row without end."""
    schema = deepcopy(dict(schema_of(JudgedClaims)))
    claims = schema["properties"]["claims"]
    claims |= {"minItems": count, "maxItems": count}
    claims["items"]["properties"]["n"] |= {"minimum": 1, "maximum": count}
    return schema


@dataclass(frozen=True)
class ModelReading:
    """A chat model's judgement of an answer.

    `answers` is whether the claims answer the question, empty if the model did not say; `open` is the part of the
    question that they leave open, and `search` holds words to search for it. `attentive` is false if the model
    supported the control claim, which is false: then its verdicts say nothing.
    """

    verdicts: list[Verdict]
    answers: str = ""
    open: str = ""
    search: list[str] = field(default_factory=list)
    attentive: bool = True


@dataclass(frozen=True)
class LLMJudge(ChatPart):
    """Judges claims with a chat model, at temperature 0. Raises `ModelError` if a reply cannot be read.

    A verdict stands where at least one of its quotes stands in a passage, in any language; without one the claim is
    `unjudged`. Beside the claims the model gets a control claim: a sentence of the passages with one figure changed. A
    model that calls that supported would call anything supported.

    With `excerpts` the prompt begins with the excerpts that the answering call read, so that a server has them already;
    sentences nearest to the claims follow if the excerpts lack them. Quotes are looked for in the whole passages.
    """

    name: str = "llm"
    excerpts: Callable[[str, Sequence[Passage]], Sequence[Passage]] | None = None

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in the order of the claims; one call for each `BATCH` claims."""
        return self.read(claims, passages, notes, question=question).verdicts

    def read(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> ModelReading:
        """The verdicts, and the model's judgement of the whole answer; one call for each `BATCH` claims."""
        readings = [
            self._batch(claims[start : start + BATCH], passages, notes, question)
            for start in range(0, len(claims), BATCH)
        ]
        verdicts = [verdict for reading in readings for verdict in reading.verdicts]
        # If an answer was judged in several calls, one part may answer what the others leave open.
        order = ("all", "part", "no", "")
        whole = min(readings, key=lambda reading: order.index(reading.answers), default=ModelReading([]))
        search = [words for reading in readings for words in reading.search]
        return ModelReading(verdicts, whole.answers, whole.open, search, all(one.attentive for one in readings))

    def _batch(self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str) -> ModelReading:
        caller = self.caller
        texts = [claim["text"] for claim in claims]
        control = control_claim(passages, texts)
        hidden = place_of_control(texts)
        listed_texts = [*texts[:hidden], control, *texts[hidden:]]
        count = len(listed_texts)
        listed = "\n".join(f"{number}. {without_markers(text)}" for number, text in enumerate(listed_texts, start=1))
        about = question or "(not known)"
        shown = self._shown(question, claims, passages)
        messages, used = self.messages("judge", notes, shown, {"claims": listed}, question=about, count=count)
        most = (count + 2) * ROW_TOKENS
        reply = ask(caller, messages, JudgedClaims, notes, most=most, schema=rows_on(count))
        if len(reply.suggested_corrections) == len(reply.claims):
            for row, correction in zip(reply.claims, reply.suggested_corrections, strict=True):
                row.correction = row.correction or correction
        numbered = _by_number(reply.claims, listed_texts)
        checked = numbered.pop(hidden, None)
        attentive = checked is None or checked.status not in IN_FAVOUR
        rows = {place - (place > hidden): row for place, row in numbered.items()}
        if not rows:
            raise ModelError(f"{caller.title} judged none of the {len(claims)} claims; wanted a verdict on each.")
        if missing := len(claims) - len(rows):
            notes.degraded(f"{caller.title} left out {missing} of {len(claims)} claims; they are unjudged.")
        if not attentive:
            notes.degraded(
                f"{caller.title} did not find the claim that was made false to test it (“{control}”): its verdicts do "
                "not count."
            )
        none = JudgedClaim(status="none", reasoning="The judge's reply left this claim out.")
        places = [passage["chunk_id"] for passage in passages]
        for row in rows.values():
            row.passage = places.index(used[row.passage - 1]["chunk_id"]) + 1 if 0 < row.passage <= len(used) else 0
        verdicts = [self._verdict(claim, rows.get(number, none), passages) for number, claim in enumerate(claims)]
        if doubtful := sum(rows[n].status in IN_FAVOUR and verdicts[n]["verdict"] == "unjudged" for n in rows):
            notes.degraded(
                f"{caller.title} quoted nothing that supports {doubtful} of {len(claims)} claims as it says."
            )
        answers = reply.answers if question else ""
        return ModelReading(verdicts, answers, reply.open if answers != "all" else "", [*reply.search], attentive)

    def _shown(self, question: str, claims: Sequence[Claim], passages: Sequence[Passage]) -> Sequence[Passage]:
        """The parts of the passages that the model reads; without a question, all of them."""
        if self.excerpts is None or not question:
            return passages
        shown = list(self.excerpts(question, passages))
        nearest = [best_sentence(claim["text"], passages, share=NEAREST) for claim in claims]
        for one in dict.fromkeys((n["passage"], n["quote"]) for n in nearest if n is not None):
            if not any(one[1] in passage["text"] for passage in shown):
                shown.append({**passages[one[0]], "text": one[1]})
        return shown

    def _verdict(self, claim: Claim, row: JudgedClaim, passages: Sequence[Passage]) -> Verdict:
        found = [one for quote in row.evidence if (one := quoted(quote, passages, row.passage - 1))]
        if not found and not row.evidence and row.status in IN_FAVOUR:
            found = [one for one in [best_sentence(claim["text"], passages, row.passage - 1)] if one]
        label: Label = row.status
        why = ""
        if label in (*IN_FAVOUR, "contradicted") and not found:
            # A contradiction without a quote is no support either.
            label = "unsupported" if label == "contradicted" else "unjudged"
            why = "The quoted evidence is not in the passages." if row.evidence else "No evidence was quoted."
        said = row.reasoning.rstrip()
        said += "." if said and why and said[-1] not in ".!?" else ""
        evidence = [whole_words(one, passages) for one in found] if label != "unjudged" else []
        # A status has no degrees, and the numbers of small models mislead.
        verdict = verdict_of(
            claim, label, CREDIT[label], float(label == "contradicted"), evidence[0] if evidence else None,
            f"{said} {why}".strip(), self.name,
        )  # fmt: skip
        if evidence[1:]:
            verdict["further"] = evidence[1:]
        if row.correction and label not in ("supported", "unjudged"):
            verdict["correction"] = row.correction
        return verdict


def place_of_control(claims: Sequence[str]) -> int:
    """How many of the claims stand before the control claim: what a document tells a model cannot count on it."""
    return crc32("\n".join(claims).encode()) % (len(claims) + 1)


def control_claim(passages: Sequence[Passage], claims: Sequence[str]) -> str:
    """A claim that no passage supports: the sentence of the passages nearest to the claims, one figure of it changed.

    If no sentence has a figure, the claim says that a passage gives a number that no passage gives.
    """
    text = "\n".join(passage["text"] for passage in passages)
    about = {word for claim in claims for word in content_words(claim)}
    sentences = dict.fromkeys(
        without_lead(" ".join(passage["text"][start:end].split()))
        for passage in passages
        for start, end in sentence_spans(passage["text"])
    )
    for sentence in sorted(sentences, key=lambda one: -len(about.intersection(content_words(one)))):
        plain = (
            CONTROL_CHARS[0] <= len(sentence) <= CONTROL_CHARS[1] and sentence[0].isupper() and sentence.endswith(".")
        )
        if not plain or set("|#*_") & set(sentence):
            continue
        for fact in extract(sentence):
            figure = re.fullmatch(r"\D*(\d{1,6})\D*", fact.text)
            if figure is None or fact.kind not in CONTROL_KINDS or _NUMBERED.search(sentence[: fact.start]):
                continue
            if _RANGE.match(sentence, fact.end):
                continue
            at = fact.start + figure.start(1)
            return sentence[:at] + _other_number(int(figure[1]) + 3, text) + sentence[at + len(figure[1]) :]
    return PLAIN_CONTROL.format(number=_other_number(7341, text))


def _other_number(number: int, text: str) -> str:
    """The first number from `number` up, in steps of four, whose digits do not occur in a text.

    A text of very many numbers is not searched for each of them: soon the steps double the number.
    """
    first = number
    while str(number) in text:
        number += 4 if number < first + 1_000 else number
    return str(number)


def whole_words(evidence: Evidence, passages: Sequence[Passage]) -> Evidence:
    """The quote extended to whole words, as models quote parts of words."""
    text, start, end = passages[evidence["passage"]]["text"], evidence["start"], evidence["end"]
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return {**evidence, "start": start, "end": end, "quote": text[start:end]}


def _by_number(rows: Sequence[JudgedClaim], texts: Sequence[str]) -> dict[int, JudgedClaim]:
    """The row for each claim: by its number, else by the words of the claim that the row repeats, else by position."""
    by_number: dict[int, JudgedClaim] = {}
    for row in rows:
        repeated = (place for place, text in enumerate(texts) if row.claim and placed(row.claim, text))
        place = row.n - 1 if row.n else next(repeated, -1)
        if 0 <= place < len(texts):
            by_number.setdefault(place, row)
    unnumbered = not any(row.n or row.claim for row in rows)
    return dict(enumerate(rows)) if unnumbered and len(rows) == len(texts) else by_number


# -- claims and scores of a whole answer ----------------------------------------------------------------------------


def _read_type(value: Any) -> str:
    """The claim's type; any value but opinion and conditional means factual, so that the claim is checked."""
    word = str(value).strip().lower()
    return word if word in ("opinion", "conditional") else "factual"


_SORT_SCHEMA = {"type": "string", "enum": ["factual", "opinion", "conditional"]}
Sort = Annotated[ClaimType, BeforeValidator(_read_type), WithJsonSchema(_SORT_SCHEMA)]


class FoundRow(BaseModel):
    """A claim that the model found."""

    claim: Annotated[Text, Field(min_length=1)]
    type: Sort = "factual"


class FoundRows(BaseModel):
    """The claims of an answer."""

    claims: list[FoundRow]


class LLMClaims(ChatPart):
    """Asks the model for the claims of an answer. Raises `ModelError` if the answer makes none of the claims named."""

    def __call__(self, answer: str, notes: Notes) -> list[Claim]:
        """The claims in the order of the answer; one call."""
        claims: list[Claim] = []
        after = 0
        for row in self.ask(FoundRows, "claims", notes, quoted={"answer": answer}).claims:
            span = placed(row.claim, answer, after)
            if span is not None:
                after = span[1]
                claims.append(Claim(text=answer[span[0] : span[1]], start=span[0], end=span[1], type=row.type))
        if not claims:
            raise ModelError(f"{self.name} named no claim of the answer; wanted at least one.")
        return sorted(claims, key=lambda claim: (claim["start"], claim["end"]))


TOP: Final = 5


class Rating(BaseModel):
    """A score with its reason."""

    reasoning: Text = ""
    score: Score


@dataclass(frozen=True)
class LLMScores(ChatPart):
    """Each method is one call at temperature 0 and raises `ModelError` when the reply cannot be read.

    With `excerpts` the model reads the excerpts that the answering call was sent. A model whose verdicts are worth next
    to nothing (`Worth.judges`) is not asked; that is a `ModelError` too.
    """

    excerpts: Callable[[str, Sequence[Passage]], Sequence[Passage]] | None = None

    def ask(self, record: type[Record], task: str, notes: Notes, *about: Any, **values: Any) -> Record:
        """Ask the model for a record of this type. Raises ModelError if its verdicts are worth too little."""
        if not (worth := self.caller.worth).judges:
            raise ModelError(
                f"{self.name} is not asked to score an answer, because its verdicts say too little (by "
                f"{worth.source}): choose a larger judge_model."
            )
        return super().ask(record, task, notes, *about, **values)

    def alignment(self, question: str, answer: str, passages: Sequence[Passage], notes: Notes) -> float:
        """Score, 0..1: how far the answer addresses the question, the top five passages support it and none contradicts
        it."""
        cut = self.excerpts(question, passages) if self.excerpts is not None and question else passages[:TOP]
        return self._asked(Rating, "alignment", question, answer, cut, notes).score

    def consistency(self, answer: str, known_facts: Sequence[str], notes: Notes) -> float:
        """Score, 0..1: 0 if the answer contradicts itself or a known fact."""
        facts = "\n".join(f"- {fact}" for fact in known_facts) or "(none)"
        return self.ask(Rating, "consistency", notes, quoted={"answer": answer, "facts": facts}).score

    def _asked(
        self, record: type[Record], task: str, question: str, answer: str, passages: Sequence[Passage], notes: Notes
    ) -> Record:
        return self.ask(record, task, notes, passages, {"answer": answer}, question=question or "(not known)")


@dataclass(frozen=True)
class LLMScorer:
    """One of the scores of `LLMScores`, as the verifier asks for it."""

    score: Callable[..., float]
    name: str

    def __call__(self, *given: Any) -> float:
        """The score, 0..1."""
        return self.score(*given)
