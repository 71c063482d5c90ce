"""Verify: judge each draft claim by claim, and record the attempt."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from cragraph.errors import CragError, StoreError
from cragraph.graph.context import Context
from cragraph.graph.routing import accepted, worth
from cragraph.graph.state import State, VerifyOutput, VerifyState
from cragraph.language.markers import without_markers
from cragraph.nodes.compute import Compute
from cragraph.passages import as_passages
from cragraph.protocols import Brief, Generator, Notes
from cragraph.search.neighbours import all_read, locate, read_wide
from cragraph.types import IDK, Attempt, Computed, Passage
from cragraph.verification.computed import Recomputed
from cragraph.verification.decision import (
    NO_ANSWER,
    WORTH_SHOWING,
    WRITTEN,
    WRITTEN_BY_SMALL,
    reaches,
    unanswered,
)
from cragraph.verification.result import SUMMARY, Verification
from cragraph.verification.verifier import Verifier
from cragraph.verification.written import Beside, Written

FIELDS = frozenset(VerifyOutput.model_fields) - {"degraded", "models", "llm_calls", "tokens"}
"""What the verify graph's node returns of a verification; the rest of its output is what the step noted."""


@dataclass(frozen=True)
class Verify:
    """Append one attempt: the best of the drafts, with what the judge says of it; the router reads its confidence.

    Where a chat model's draft is not accepted, what the passages say to the question is verified as well, which asks no
    model to write: `quoting` quotes it. Where that is more likely right than not, and surer than a draft that would be
    shown, it is the attempt. What a correction quotes in place of a model's words is held to the same line
    (`decision.WRITTEN`). Where the generator is a model that `gives_way`, quotations are held to their own line
    (`decision.WORTH_SHOWING`) and go before all of its words that are not accepted, and these are shown from
    `decision.WRITTEN_BY_SMALL` on. The model is a second reader then: what it answered makes a doubtful quotation more
    or less sure (`verification.written`), also where a correction quotes the same once more.
    """

    verifier: Verifier
    quoting: Generator | None = None
    compute: Compute | None = None
    """Computes anew what a draft states that was computed."""
    gives_way: Callable[[], bool] = bool
    """Whether the generator is a model so small that quoting goes before asking it."""

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the attempts with this one appended."""
        judged = [self._attempt(draft, state, context, notes) for draft in state.drafts]
        written = chosen = max(judged, key=worth)
        quoted = self._quoted(written, state, context, notes)
        if quoted is not None and self._goes_before(quoted, written):
            told = (
                f"with a confidence of {written['confidence']:.2f}"
                if written["answer"] != IDK
                else "that it finds none"
            )
            notes.degraded(f"The chat model answered {told}; this is what the passages say to the question.")
            judged.append(quoted)
            chosen = quoted
        if quoted is not None and self.gives_way():
            said = {name: written[name] for name in ("answer", "confidence")}
            chosen["beside"] = said | {"quotation": quoted["answer"]}
        if len(judged) > 1:
            chosen["candidates"] = [{"answer": a["answer"], "confidence": a["confidence"]} for a in judged]
        return {"attempts": [*state.attempts, chosen], "drafts": []}

    def _quoted(self, written: Attempt, state: State, context: Context, notes: Notes) -> Attempt | None:
        """The attempt that quotes the passages, where a chat model's is not accepted; None where they say nothing."""
        if self.quoting is None or accepted(written) or written["answer"] not in {*state.written, IDK}:
            return None
        return self._quotation(self.quoting, written, state, context, notes)

    def _goes_before(self, quoted: Attempt, written: Attempt) -> bool:
        """Whether a quotation is worth showing, and surer than a model's own words where these are and it is no small
        one's."""
        sure, rival, small = quoted["confidence"] or 0.0, written["confidence"] or 0.0, self.gives_way()
        shown = reaches(sure, WORTH_SHOWING if small else WRITTEN) and not refused(quoted)
        return shown and (small or refused(written) or sure > rival)

    def accepted_quotation(self, state: State, context: Context, notes: Notes) -> str:
        """What the passages say, where that is accepted and the generator gives way to it; else empty."""
        if self.quoting is None or not context.verify or not self.gives_way():
            return ""
        attempt = self._quotation(self.quoting, None, state, context, notes)
        if attempt is None or not accepted(attempt):
            return ""
        notes.ran("generator", self.quoting.name)
        return attempt["answer"]

    def _quotation(
        self, quoting: Generator, written: Attempt | None, state: State, context: Context, notes: Notes
    ) -> Attempt | None:
        """The attempt that quotes the passages, beside a model's; None where they say nothing, or just that."""
        brief = Brief(state.asked or state.question, read_wide(state.held), quiet=True)
        draft = quoting(brief, Notes())
        if draft == IDK or (written is not None and draft == written["answer"]):
            return None
        beside = None
        if written is not None and self.gives_way():
            beside = Beside.of(brief.question, draft, written["answer"], written["confidence"])
        own = Notes()
        if context.judge == "auto" and "custom" not in self.verifier.judges:
            context = context.model_copy(update={"judge": "encoder"})  # of a quotation no model knows more
        if context.on_low_confidence == "flag":
            context = context.model_copy(update={"on_low_confidence": "doubt"})  # not just anything
        attempt = self._attempt(draft, state, context, own, beside)
        notes.called(own.calls)
        notes.counted(**own.tokens)
        # What was chosen by shared words alone is no better than what a model reads.
        return None if attempt.get("verification", {}).get("unread") else attempt

    def _attempt(
        self, draft: str, state: State, context: Context, notes: Notes, beside: Beside | None = None
    ) -> Attempt:
        attempt = Attempt(
            attempt=len(state.attempts) + 1,
            answer=draft,
            confidence=None,
            is_grounded=None,
            accepted=None,
            decision=None,
            claims_checked=0,
            claims_supported=0,
            new_passages=state.new_passages,
            queries=state.searched,
            context=all_read(state.held),
        )
        if draft == IDK:
            # Not an error and not an answer: nothing was claimed, so another search may still find something.
            nothing = unanswered(context.line, NO_ANSWER).to_dict()
            return attempt | {"confidence": 0.0, "is_grounded": False, "accepted": False, "decision": nothing}
        computed = state.computed if state.computed and state.computed["answer"] == draft else None
        if computed:
            attempt["computed"] = computed
        if not context.verify:
            return attempt
        question, read = state.asked or state.question, read_wide(state.held)
        written = Written(state.written[draft]) if draft in state.written else None
        anew = self._anew(computed, context) if computed else None
        # A correction that quotes stands in place of a model's words, and is worth no less than these would have to be.
        corrects = self.quoting is not None and bool(state.attempts) and computed is None and not self.gives_way()
        showing = WRITTEN if corrects or written else WORTH_SHOWING
        if written and self.gives_way():
            showing = WRITTEN_BY_SMALL
        beside = beside or again(question, draft, state.attempts)
        checked = self.verifier(
            question,
            draft,
            read,
            notes,
            **context.judging,
            showing=showing,
            written=written,
            beside=beside,
            computed=anew,
        )
        verification = located(checked, state.held)
        record = verification.to_dict()
        own = {name: record[name] for name in (*SUMMARY, "decision")}
        judged = {"verdicts": [*verification.claims], "verification": record, "read": verification.read}
        return cast(Attempt, {**attempt, **own, **judged})

    def _anew(self, computed: Computed, context: Context) -> Recomputed:
        """A figure and what it comes to when it is computed once more."""
        try:
            if self.compute is None:
                raise StoreError("there is no store to compute it from.")
            return Recomputed(computed, self.compute.again(computed, context))
        except CragError as error:
            return Recomputed(computed, None, str(error))


def again(question: str, draft: str, attempts: Sequence[Attempt]) -> Beside | None:
    """What a model answered beside the same quotation in an attempt before; None where it quoted another."""
    for said in (attempt["beside"] for attempt in attempts if "beside" in attempt):
        if without_markers(said["quotation"]) == without_markers(draft):
            return Beside.of(question, draft, said["answer"], said["confidence"])
    return None


def refused(attempt: Attempt) -> bool:
    """Whether nothing of an attempt is shown."""
    return attempt["decision"] is None or attempt["decision"]["outcome"] == "refused"


def located(verification: Verification, held: Sequence[Passage]) -> Verification:
    """A verification of what was read, its evidence and answers pointing into the chunks which hold most of them.

    `passage` counts the passages of `all_read`.
    """
    wide, chunks = read_wide(held), all_read(held)
    if len(chunks) == len(held):
        return verification
    positions = {chunk["chunk_id"]: position for position, chunk in reversed(list(enumerate(chunks)))}

    def exact(at: Any, words: str) -> Any:
        passage = at["passage"]
        place = locate(wide[passage], at["start"], at["end"])
        if place.chunk_id != chunks[passage]["chunk_id"]:
            passage = positions[place.chunk_id]
        quote = chunks[passage]["text"][place.start : place.end]
        start = place.start + len(quote) - len(quote.lstrip())
        quote = quote.strip()
        new = {words: quote, "passage": passage, "chunk_id": place.chunk_id, "start": start, "end": start + len(quote)}
        return at | new if quote else None

    claims: list[Any] = [v | {"evidence": v["evidence"] and exact(v["evidence"], "quote")} for v in verification.claims]
    for claim in claims:
        if further := claim.get("further"):
            claim["further"] = [moved for one in further if (moved := exact(one, "quote"))]
    spans = [exact(span, "text") for span in verification.answer_spans]
    conflicts: list[Any] = [
        conflict | {"sides": [exact(side, "quote") or side for side in conflict["sides"]]}
        for conflict in verification.conflicts
    ]
    return replace(
        verification, claims=tuple(claims), answer_spans=tuple(filter(None, spans)), conflicts=tuple(conflicts)
    )


@dataclass(frozen=True)
class VerifyGiven:
    """Verify a given answer against given passages: the whole of the verify graph."""

    verifier: Verifier

    def __call__(self, state: VerifyState, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the verification's fields."""
        passages = as_passages(state.passages)
        checked = self.verifier(state.question or "", state.answer, passages, notes, **context.judging)
        return {name: value for name, value in checked.to_dict().items() if name in FIELDS}
