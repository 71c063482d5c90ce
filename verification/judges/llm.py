"""The judge with a chat model: one call for all claims of an answer, its evidence checked against the passages."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic.json_schema import SkipJsonSchema

from cragraph.errors import ModelError
from cragraph.models.chat import ChatCaller, Messages, ask, fitting
from cragraph.models.replies import MAY_BE_LEFT_OUT, Text, Whole
from cragraph.prompts.data import delimited, marker_for, neutral
from cragraph.prompts.load import Prompts
from cragraph.protocols import Notes
from cragraph.text.facts import Kind, compare, extract
from cragraph.text.quotes import placed
from cragraph.text.words import is_light, terms
from cragraph.types import Claim, ClaimType, Evidence, Label, Passage, Verdict
from cragraph.verification.judges.verdicts import best_sentence, quoted, verdict_of

BATCH: Final = 10
"""Claims a call: a small model's reply on more would not fit into the tokens it may write."""

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
"""What models write for a status, and the verdict that it is; anything else is no verdict."""

SCORES: Final[Mapping[Label, tuple[float, float]]] = {
    "supported": (1.0, 0.0),
    "partially_supported": (0.5, 0.0),
    "unsupported": (0.0, 0.0),
    "contradicted": (0.0, 1.0),
    "unjudged": (0.0, 0.0),
}
"""(support, contradiction) of each verdict: a status has no degrees, and a small model's own numbers mislead."""

LOWERED: Final[Mapping[Label, Label]] = {
    "supported": "partially_supported",
    "partially_supported": "unsupported",
    "contradicted": "unsupported",
}
"""What becomes of a verdict whose evidence does not exist."""

_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "status": ("verdict", "label", "supported", "verified", "judgement", "judgment"),
    "claim": ("text", "statement", "sentence"),
    "evidence": ("quote", "supporting_evidence", "evidence_quote"),
    "passage": ("source", "passage_number", "supporting_sources", "sources"),
    "reasoning": ("reason", "explanation", "rationale"),
    "correction": ("suggested_correction", "fix", "corrected"),
    "n": ("number", "id", "index", "claim_number"),
}


def read_status(value: Any) -> str:
    """The status as one of `STATUSES`' verdicts, or ``unjudged`` when it is none of them."""
    word = re.sub(r"[^a-z]+", "_", str(value).lower()).strip("_")
    return STATUSES.get(word, "unjudged")


def read_type(value: Any) -> str:
    """The claim's type; what is neither opinion nor conditional is factual, and so is checked."""
    word = str(value).strip().lower()
    return word if word in ("opinion", "conditional") else "factual"


_STATUS_SCHEMA = {"type": "string", "enum": ["SUPPORTED", "PARTIALLY_SUPPORTED", "UNSUPPORTED", "CONTRADICTED"]}
_TYPE_SCHEMA = {"type": "string", "enum": ["factual", "opinion", "conditional"]}
Status = Annotated[Label, BeforeValidator(read_status), WithJsonSchema(_STATUS_SCHEMA)]
Sort = Annotated[ClaimType, BeforeValidator(read_type), WithJsonSchema(_TYPE_SCHEMA)]


class Row(BaseModel):
    """A row that is read under other names too.

    It has no fields of its own, because a model held to a schema writes them in the schema's order: each kind of row
    begins with what it is about, the evidence comes before the status that rests on it, and last comes what most rows
    do not need, since a small model on a laptop writes thirty tokens a second.
    """

    @model_validator(mode="before")
    @classmethod
    def _other_names(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        renamed = dict(value)
        for name, others in _ALIASES.items():
            found = next((other for other in others if other in renamed), None)
            if name not in renamed and found is not None:
                renamed[name] = renamed[found]
        return renamed


class NumberedRow(Row):
    """The verdict on a claim that was given by its number."""

    n: Whole = 0
    evidence: Text = ""
    passage: Whole = 0
    status: Status
    reasoning: Annotated[Text, MAY_BE_LEFT_OUT] = ""
    correction: Annotated[Text, MAY_BE_LEFT_OUT] = ""


class ClaimRow(Row):
    """A claim that the model found, and its verdict."""

    claim: Annotated[Text, Field(min_length=1)]
    evidence: Text = ""
    passage: Whole = 0
    status: Status
    reasoning: Annotated[Text, MAY_BE_LEFT_OUT] = ""
    correction: Annotated[Text, MAY_BE_LEFT_OUT] = ""
    type: Annotated[Sort, MAY_BE_LEFT_OUT] = "factual"


class NumberedRows(BaseModel):
    """Verdicts on numbered claims."""

    claims: list[NumberedRow]


class ClaimRows(BaseModel):
    """The claims of an answer, and their verdicts."""

    claims: list[ClaimRow]
    suggested_corrections: SkipJsonSchema[list[Text]] = []


@dataclass(frozen=True)
class LLMJudge:
    """Judges claims with a chat model, at temperature 0, without reasoning aloud, its tokens kept out of the stream.

    A quote that no passage holds is dropped and its verdict lowered by a step, and so is support for a figure that no
    passage has; a claim that the reply leaves out is `unjudged`. Raises `ModelError` when a reply cannot be read, also
    after one repair try, so that another judge takes over.
    """

    caller: ChatCaller
    prompts: Prompts = field(default_factory=Prompts)
    name: str = "llm"

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in the order of the claims; one call for each `BATCH` claims."""
        verdicts: list[Verdict] = []
        for start in range(0, len(claims), BATCH):
            verdicts += self._batch(claims[start : start + BATCH], passages, notes, question)
        return verdicts

    def judge_answer(
        self, answer: str, passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """Find the claims of the answer and judge them in one call.

        A claim's offsets are those of its words in the answer, else of the sentence that it rephrases; claims that
        the answer does not make are left out, and that is noted.
        """

        def messages(some: Sequence[Passage]) -> Messages:
            texts = [passage["text"] for passage in some]
            marker = marker_for(question, answer, *texts, seed=self.caller.seed)
            return self.prompts["judge_answer"].fill(
                passages=delimited(some, marker),
                answer=neutral(answer, marker),
                question=question or "(not known)",
                marker=marker,
            )

        used, prompt = self._fitted("judge_answer", passages, messages, notes)
        found = ask(self.caller, prompt, ClaimRows, notes)
        corrections = found.suggested_corrections if len(found.suggested_corrections) == len(found.claims) else []
        verdicts: list[Verdict] = []
        after = strangers = 0
        for index, row in enumerate(found.claims):
            span = placed(row.claim, answer, after)
            if span is None:
                strangers += 1
                continue
            after = span[1]
            exact = answer[span[0] : span[1]]
            text = exact if _alike(exact, row.claim) else row.claim
            claim = Claim(text=text, start=span[0], end=span[1], type=row.type)
            verdicts.append(self._verdict(claim, row, used, corrections[index] if corrections else ""))
        if strangers:
            notes.degraded(f"{self.caller.title} judged {strangers} claims that the answer does not make; left out.")
        if not verdicts:
            raise ModelError(f"{self.caller.title} named no claim of the answer; wanted at least one.")
        return verdicts

    def _batch(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
    ) -> list[Verdict]:
        def messages(some: Sequence[Passage]) -> Messages:
            listed = "\n".join(f"{number}. {claim['text']}" for number, claim in enumerate(claims, start=1))
            marker = marker_for(question, listed, *(passage["text"] for passage in some), seed=self.caller.seed)
            return self.prompts["judge"].fill(
                passages=delimited(some, marker),
                claims=neutral(listed, marker),
                count=len(claims),
                question=question or "(not known)",
                marker=marker,
            )

        used, prompt = self._fitted("judge", passages, messages, notes)
        rows = _by_number(ask(self.caller, prompt, NumberedRows, notes).claims, len(claims))
        if not rows:
            raise ModelError(f"{self.caller.title} judged none of the {len(claims)} claims; wanted a verdict on each.")
        missing = len(claims) - len(rows)
        if missing:
            notes.degraded(f"{self.caller.title} left out {missing} of {len(claims)} claims; they are unjudged.")
        none = NumberedRow(status="none", reasoning="The judge's reply left this claim out.")
        return [self._verdict(claim, rows.get(number, none), used) for number, claim in enumerate(claims)]

    def _fitted(
        self, task: str, passages: Sequence[Passage], messages: Callable[[Sequence[Passage]], Messages], notes: Notes
    ) -> tuple[list[Passage], Messages]:
        notes.ran(f"prompt:{task}", self.prompts[task].digest)
        used = fitting(
            passages,
            lambda some: "\n".join(text for _, text in messages(some)),
            self.caller.num_ctx,
            self.caller.num_predict,
            notes,
            task=task,
        )
        return used, messages(used)

    def _verdict(
        self, claim: Claim, row: NumberedRow | ClaimRow, passages: Sequence[Passage], correction: str = ""
    ) -> Verdict:
        kept = _held(claim["text"], row.status, row.evidence, row.passage - 1, passages)
        label = kept.label
        support, contradiction = SCORES[label]
        evidence = None if label == "unsupported" else kept.evidence
        reasoning = f"{row.reasoning} {kept.why}".strip()
        verdict = verdict_of(claim, label, support, contradiction, evidence, reasoning, self.name)
        fix = row.correction or correction
        if fix and label not in ("supported", "unjudged"):
            verdict["correction"] = fix
        return verdict


def _by_number(rows: Sequence[NumberedRow], count: int) -> dict[int, NumberedRow]:
    """Rows by claim index: by their numbers, or by position when there are as many rows and none has a number."""
    if len(rows) == count and not any(row.n for row in rows):
        return dict(enumerate(rows))
    numbered: dict[int, NumberedRow] = {}
    for row in rows:
        if 1 <= row.n <= count:
            numbered.setdefault(row.n - 1, row)
    return numbered


def _alike(exact: str, claim: str) -> bool:
    return "".join(exact.lower().split()).strip(".") == "".join(claim.lower().split()).strip(".")


_FIGURES: frozenset[Kind] = frozenset(("number", "percent", "points", "money", "measure", "date", "quarter", "time"))


@dataclass(frozen=True)
class _Held:
    """What is left of a verdict: its label, its evidence, and why it was lowered, where it was."""

    label: Label
    evidence: Evidence | None
    why: str = ""


def _held(claim: str, label: Label, quote: str, likely: int, passages: Sequence[Passage]) -> _Held:
    """The verdict as far as the passages bear it out; each fault lowers it by one step, once.

    A quote counts when a passage holds it and it shares a word with the claim; without any quote, the sentence that
    says the same counts. A supported claim must not give a figure that no passage has while one has another.
    """
    if label not in LOWERED:
        return _Held(label, None)
    found = quoted(quote, passages, likely) if quote else None
    if found is not None and not _shared(claim, found["quote"]):
        return _Held(LOWERED[label], None, "The quoted evidence is about something else.")
    if found is None and quote:
        return _Held(LOWERED[label], None, "The quoted evidence is not in the passages.")
    if found is None and label != "contradicted":
        # No quote is not yet an invented one: the sentence may be there although the model did not copy it.
        found = best_sentence(claim, passages, likely)
    if found is None:
        return _Held(LOWERED[label], None, "No evidence was quoted.")
    if label == "supported" and (fault := _wrong_figure(claim, passages)):
        return _Held("partially_supported", found, fault)
    return _Held(label, found)


def _shared(claim: str, quote: str) -> bool:
    """Whether claim and quote have a word in common; in another script or language they need not."""
    wanted, said = ({term for term in terms(text) if not is_light(term)} for text in (claim, quote))
    return not wanted or not said or not wanted.isdisjoint(said) or not (claim.isascii() and quote.isascii())


def _wrong_figure(claim: str, passages: Sequence[Passage]) -> str:
    figures = [fact for fact in extract(claim) if fact.kind in _FIGURES]
    if not figures:
        return ""
    text = "\n".join(passage["text"] for passage in passages)
    conflicts = compare(figures, extract(text), text).conflicting
    if not conflicts:
        return ""
    return f"No passage says “{conflicts[0][0].said}”."
