"""The judge with a chat model: one call for the sentences of an answer, numbered by us, its quotes checked."""

import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema

from cragraph.errors import ModelError
from cragraph.language.facts import Kind, compare, extract
from cragraph.language.facts.polarity import denials, negation_differs, negative
from cragraph.language.quotes import placed
from cragraph.language.sentences import sentence_spans
from cragraph.language.words import is_light, terms
from cragraph.models.chat import ChatPart, ask
from cragraph.models.replies import Text, Whole, schema_of
from cragraph.protocols import Judge, Notes
from cragraph.types import Claim, Evidence, Label, Passage, Verdict
from cragraph.verification.judges.conflict import find_conflict
from cragraph.verification.judges.verdicts import best_sentence, quoted, unjudged, verdict_of
from cragraph.verification.result import CREDIT, IN_FAVOUR

ROW_TOKENS: Final = 200  # per verdict: what its texts may have at most, and the names around them
NEAREST: Final = 0.3  # share of a claim's words that a sentence has which is read for its sake
BATCH: Final = 10  # claims per call: a small model's reply on more would not fit into the tokens it may write

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


def _read_status(value: Any) -> str:
    return STATUSES.get(re.sub(r"[^a-z]+", "_", str(value).lower()).strip("_"), "unjudged")


_STATUS_SCHEMA = {"type": "string", "enum": ["SUPPORTED", "PARTIALLY_SUPPORTED", "UNSUPPORTED", "CONTRADICTED"]}
Status = Annotated[Label, BeforeValidator(_read_status), WithJsonSchema(_STATUS_SCHEMA)]


def _field(default: Any, *names: str, **schema: Any) -> Any:
    return Field(default, validation_alias=AliasChoices(*names), json_schema_extra=schema or None)


class JudgedClaim(BaseModel):
    """The verdict on a numbered claim, also under the names that models like better.

    A model held to the schema writes the fields in this order: the evidence before the status that rests on it, and
    last what most rows do not need.
    """

    n: Whole = _field(0, "n", "number", "id", "index", "claim_number")
    evidence: Text = _field("", "evidence", "quote", "supporting_evidence", "evidence_quote", maxLength=300)
    status: Status = _field(..., "status", "verdict", "label", "supported", "verified", "judgement", "judgment")
    reasoning: Text = _field("", "reasoning", "reason", "explanation", "rationale", optional=True, maxLength=160)
    correction: Text = _field(
        "", "correction", "suggested_correction", "fix", "corrected", optional=True, maxLength=240
    )
    claim: SkipJsonSchema[Text] = _field("", "claim", "text", "statement", "sentence")
    passage: SkipJsonSchema[Whole] = _field(0, "passage", "source", "passage_number", "supporting_sources", "sources")
    """Where the model says so unasked: a quote is looked for in all passages."""


class JudgedClaims(BaseModel):
    """Verdicts on numbered claims, no more of them than were asked for."""

    claims: list[JudgedClaim]
    suggested_corrections: SkipJsonSchema[list[Text]] = []


@cache
def rows_on(count: int) -> Mapping[str, Any]:
    """The schema of a verdict on each of `count` claims: a small model goes on with the same row for ever."""
    schema = deepcopy(dict(schema_of(JudgedClaims)))
    claims = schema["properties"]["claims"]
    claims |= {"minItems": count, "maxItems": count}
    claims["items"]["properties"]["n"] |= {"minimum": 1, "maximum": count}
    return schema


@dataclass(frozen=True)
class LLMJudge(ChatPart):
    """Judges claims with a chat model, at temperature 0; raises `ModelError` when a reply cannot be read.

    Support counts where a passage holds the quote and the quote has the claim's figures, names and negations, and a
    contradiction where claim and quote show it; else the claim is `unjudged`, so that the next judge decides.

    Quotes are compared as sets of facts, which does not see who did what to whom, and a small or an obedient model
    calls anything supported. So no claim is worth more than the `holder`, who reads claim and passage as a whole, says:
    the model may find fault with what the holder lets pass, and never the other way round.

    With `excerpts` the model reads of the passages what the call that answered the question read, before all else, so
    that a server has it already, and then the sentences that are nearest to the claims where these are not among it.
    Quotes are looked for in the whole passages.
    """

    name: str = "llm"
    smallest: float = 0.0  # billions of parameters below which the model, where its size is known, judges nothing
    holder: Judge | None = None
    excerpts: Callable[[str, Sequence[Passage]], Sequence[Passage]] | None = None

    def __call__(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, *, question: str = ""
    ) -> list[Verdict]:
        """One verdict per claim, in the order of the claims; one call for each `BATCH` claims."""
        if self.caller.below(self.smallest):
            size = f"{self.caller.title} has {self.caller.billions:g} billion parameters"
            why = f"{size}, too few to judge (wanted {self.smallest:g})"
            if self.holder is not None:
                notes.ran("not a judge", f"{self.caller.title} (fewer than {self.smallest:g} billion parameters)")
                return list(self.holder(claims, passages, notes, question=question))
            notes.degraded(f"{why}: choose the judge llm to let it judge all the same.")
            return [unjudged(claim, f"{why}.", self.name) for claim in claims]
        verdicts: list[Verdict] = []
        for start in range(0, len(claims), BATCH):
            verdicts += self._batch(claims[start : start + BATCH], passages, notes, question)
        if self.holder is None or all(verdict["verdict"] not in IN_FAVOUR for verdict in verdicts):
            return verdicts
        own = self.holder(claims, passages, notes, question=question)
        return [held(verdict, by) for verdict, by in zip(verdicts, own, strict=True)]

    def _batch(
        self, claims: Sequence[Claim], passages: Sequence[Passage], notes: Notes, question: str
    ) -> list[Verdict]:
        caller, count = self.caller, len(claims)
        listed = "\n".join(f"{number}. {claim['text']}" for number, claim in enumerate(claims, start=1))
        about = question or "(not known)"
        shown = self._shown(question, claims, passages)
        messages, used = self.messages("judge", notes, shown, {"claims": listed}, question=about, count=count)
        most = (count + 1) * ROW_TOKENS
        reply = ask(caller, messages, JudgedClaims, notes, most=most, schema=rows_on(count))
        if len(reply.suggested_corrections) == len(reply.claims):
            for row, correction in zip(reply.claims, reply.suggested_corrections, strict=True):
                row.correction = row.correction or correction
        rows = _by_number(reply.claims, claims)
        if not rows:
            raise ModelError(f"{caller.title} judged none of the {count} claims; wanted a verdict on each.")
        if missing := count - len(rows):
            notes.degraded(f"{caller.title} left out {missing} of {count} claims; they are unjudged.")
        none = JudgedClaim(status="none", reasoning="The judge's reply left this claim out.")
        places = [passage["chunk_id"] for passage in passages]
        for row in rows.values():
            row.passage = places.index(used[row.passage - 1]["chunk_id"]) + 1 if 0 < row.passage <= len(used) else 0
        verdicts = [self._verdict(claim, rows.get(number, none), passages) for number, claim in enumerate(claims)]
        if doubtful := sum(rows[n].status in IN_FAVOUR and verdicts[n]["verdict"] == "unjudged" for n in rows):
            notes.degraded(f"{caller.title} quoted nothing that supports {doubtful} of {count} claims as it says.")
        return verdicts

    def _shown(self, question: str, claims: Sequence[Claim], passages: Sequence[Passage]) -> Sequence[Passage]:
        """What of the passages the model reads: all where nothing says what was asked."""
        if self.excerpts is None or not question:
            return passages
        shown = list(self.excerpts(question, passages))
        nearest = [best_sentence(claim["text"], passages, share=NEAREST) for claim in claims]
        for one in dict.fromkeys((n["passage"], n["quote"]) for n in nearest if n is not None):
            if not any(one[1] in passage["text"] for passage in shown):
                shown.append({**passages[one[0]], "text": one[1]})
        return shown

    def _verdict(self, claim: Claim, row: JudgedClaim, passages: Sequence[Passage]) -> Verdict:
        label, evidence, why = _borne_out(claim["text"], row, passages)
        # A status has no degrees, and a small model's own numbers mislead.
        against = float("contradicted" in (label, row.status if label == "unsupported" else label))
        said = row.reasoning.rstrip()
        said += "." if said and why and said[-1] not in ".!?" else ""
        reasoning = f"{said} {why}".strip()
        verdict = verdict_of(claim, label, CREDIT[label], against, evidence, reasoning, self.name)
        if row.correction and label not in ("supported", "unjudged"):
            verdict["correction"] = row.correction
        return verdict


def held(verdict: Verdict, by: Verdict) -> Verdict:
    """A verdict that is worth no more than another on the same claim; what nobody else could judge stays."""
    if verdict["verdict"] not in IN_FAVOUR or by["verdict"] == "unjudged":
        return verdict
    support = min(verdict["support"], by["support"])
    if CREDIT[by["verdict"]] >= CREDIT[verdict["verdict"]]:
        return {**verdict, "support": support}
    said = f"{verdict['judge']} calls it {verdict['verdict'].replace('_', ' ')}; {by['judge']}: {by['reasoning']}"
    return {**by, "support": support, "reasoning": said, "judge": verdict["judge"]}


def _by_number(rows: Sequence[JudgedClaim], claims: Sequence[Claim]) -> dict[int, JudgedClaim]:
    """Rows by claim index: by their numbers, else by the words of the claim that they repeat, else by position."""
    by_number: dict[int, JudgedClaim] = {}
    for row in rows:
        repeated = (place for place, claim in enumerate(claims) if row.claim and placed(row.claim, claim["text"]))
        place = row.n - 1 if row.n else next(repeated, -1)
        if 0 <= place < len(claims):
            by_number.setdefault(place, row)
    unnumbered = not any(row.n or row.claim for row in rows)
    return dict(enumerate(rows)) if unnumbered and len(rows) == len(claims) else by_number


_FIGURES: frozenset[Kind] = frozenset(("number", "percent", "points", "money", "measure", "date", "quarter", "time"))


def _borne_out(claim: str, row: JudgedClaim, passages: Sequence[Passage]) -> tuple[Label, Evidence | None, str]:
    """The verdict as far as the passages bear it out, with its evidence and what was found against it."""
    label, likely = row.status, row.passage - 1
    # A small model writes dots where it has nothing to say.
    quote = row.evidence if re.search(r"\w", row.evidence) else ""
    if label in ("unsupported", "unjudged"):
        return label, None, ""
    evidence = quoted(quote, passages, likely) if quote else best_sentence(claim, passages, likely)
    doubt: Label = "unsupported" if label == "contradicted" else "unjudged"
    if evidence is None:
        return doubt, None, "The quoted evidence is not in the passages." if quote else "No evidence was quoted."
    if not _shared(claim, evidence["quote"]):
        return doubt, None, "The quoted evidence is about something else."
    text = _sentences_around(evidence, passages)
    if label == "contradicted":
        everything = "\n".join(passage["text"] for passage in passages)
        nowhere = compare(extract(claim), extract(everything), everything).lacking
        conflict = find_conflict(claim, text, nowhere, names=True)
        return (label, evidence, f"{conflict.reason}.") if conflict else (doubt, None, "No conflict could be shown.")
    if fault := _unquoted(claim, text):
        return doubt, None, fault
    return label, evidence, ""


def _sentences_around(evidence: Evidence, passages: Sequence[Passage]) -> str:
    """The quote with the rest of its sentences: models quote as few words as they can."""
    text = passages[evidence["passage"]]["text"]
    own = [span for span in sentence_spans(text) if span[0] < evidence["end"] and evidence["start"] < span[1]]
    return text[own[0][0] : own[-1][1]] if own else evidence["quote"]


def _shared(claim: str, quote: str) -> bool:
    """Whether claim and quote have a word in common; in another script or language they need not."""
    wanted, stated = ({term for term in terms(text) if not is_light(term)} for text in (claim, quote))
    return not wanted or not stated or not wanted.isdisjoint(stated) or not (claim.isascii() and quote.isascii())


def _unquoted(claim: str, text: str) -> str:
    """What of a claim the sentences of its quote do not say: a figure, a name, a negation; empty for nothing."""
    for fact in compare(extract(claim), extract(text), text).lacking:
        if fact.kind in _FIGURES or fact.kind == "name":
            return f"The quoted evidence does not say “{fact.text}”."
    if bool(denials(claim)) != bool(denials(text)) and (negation_differs(claim, text) or not negative(text)):
        return "The quoted evidence and the claim are not negated alike."
    return "The quoted evidence says the opposite." if find_conflict(claim, text, ()) else ""
