"""Verify: judge each draft claim by claim, and record the attempt."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from cragraph.answers.extractive import ExtractiveGenerator
from cragraph.answers.later import LaterSearch, ratio_of_later
from cragraph.answers.quotations import UNDECIDED, SecondReading, ratio_of_quotation, undecided
from cragraph.errors import CragError, StoreError
from cragraph.graph.context import Context
from cragraph.graph.routing import accepted, worth
from cragraph.graph.state import State, VerifyOutput, VerifyState
from cragraph.language.markers import without_markers
from cragraph.models.chat import ChatCaller
from cragraph.nodes.compute import Compute
from cragraph.nodes.retrieve import filter_of
from cragraph.passages import as_evidence, as_passages
from cragraph.protocols import Brief, Generator, Notes
from cragraph.types import IDK, Attempt, Computed, Decided
from cragraph.verification.computed import Recomputed
from cragraph.verification.decision import NO_ANSWER, QUOTED, WORTH_SHOWING, WRITTEN, WRITTEN_BY_SMALL, unanswered
from cragraph.verification.evidence import (
    Written,
    ratio_of_answer,
    ratio_of_facts,
    unstated,
    updated,
)
from cragraph.verification.result import SUMMARY, Verification
from cragraph.verification.verifier import VERY_FIRM, Verifier

FIELDS = frozenset(VerifyOutput.model_fields) - {"degraded", "models", "llm_calls", "tokens"}
"""The fields of a verification that the verify graph's node returns; the rest of its output are the step's notes."""


SEVERAL = "Several documents are quoted, and which of them holds is not decided: read them."


@dataclass(frozen=True)
class Verify:
    """Appends one attempt: the best of the drafts with its verification; the router reads its confidence.

    If a chat model's draft is not accepted, `quoting` quotes the passages, and the quotation is verified too, without a
    model call. The model's answer is evidence for or against the quotation, in proportion to the model's worth. The
    quotation replaces the draft if it is accepted; with a model of little worth also if its probability is higher and
    it is worth showing.
    """

    verifier: Verifier
    quoting: Generator | None = None
    compute: Compute | None = None
    """Computes a computed draft again."""
    writer: ChatCaller | None = None
    """The chat model that writes the drafts."""
    rereads: SecondReading | None = None
    """Reads a quotation once more, with what stands around it."""
    later: LaterSearch | None = None
    """Looks for later documents that say otherwise than an accepted quotation."""
    sources: Callable[[], Sequence[str]] | None = None
    """The names of all searchable sources, for a run that is limited to some of them."""

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the attempts with this one appended."""
        quotes = state.models.get("generator") == ExtractiveGenerator.name and state.decided != "edit"
        judged = [self._attempt(draft, state, context, notes, quoted=quotes) for draft in state.drafts]
        written = chosen = max(judged, key=worth)
        quoted = self._quoted(written, state, context, notes)
        if quoted is not None and self._goes_before(quoted, written):
            reply = (
                f"with a confidence of {written['confidence']:.2f}"
                if written["answer"] != IDK
                else "that it finds none"
            )
            notes.degraded(f"The chat model answered {reply}; this is what the passages say to the question.")
            judged.append(quoted)
            chosen = quoted
        if len(judged) > 1:
            chosen["candidates"] = [{"answer": a["answer"], "confidence": a["confidence"]} for a in judged]
        return {"attempts": [*state.attempts, chosen], "drafts": []}

    def _quoted(self, written: Attempt, state: State, context: Context, notes: Notes) -> Attempt | None:
        """The attempt that quotes the passages if a chat model's is not accepted; None if they do not answer."""
        if self.quoting is None or accepted(written) or written["answer"] not in {*state.written, IDK}:
            return None
        left = len(state.attempts) < context.max_crag_attempts
        if left and not state.attempts and written["answer"] != IDK and self.writer and self.writer.worth.capable:
            return None  # a capable model may correct its own answer once before a quotation replaces it
        return self._quotation(written["answer"], state, context, notes, self._known(written, state))

    def _known(self, written: Attempt, state: State) -> float | None:
        """The probability that a model's answer is right, if more is known than the worth of the model: a model judged
        the answer, or it has a figure or name that no passage has."""
        if (written.get("read") or {}).get("judged"):
            return written["confidence"]
        if self.writer is None or written["answer"] == IDK:
            return None
        quotes = [verdict["evidence"] for verdict in written.get("verdicts", []) if verdict["evidence"]]
        lacking = unstated(without_markers(written["answer"]), state.held, state.asked or state.question, quotes)
        return updated(self.writer.worth.probability, ratio_of_facts(lacking)) if lacking else None

    def _goes_before(self, quoted: Attempt, written: Attempt) -> bool:
        """Whether a quotation replaces a model's answer that is not accepted."""
        if accepted(quoted):
            return True
        if self.writer is None or self.writer.worth.capable or refused(quoted):
            return False
        return refused(written) or (quoted["confidence"] or 0.0) > (written["confidence"] or 0.0)

    def quotation_first(self, state: State, context: Context, notes: Notes) -> str:
        """A quotation of the passages that is accepted and more probable than an answer of the model.

        Empty otherwise, and the model is asked. A capable model is always asked, because a quotation may leave out a
        condition; and a quotation that a model would have to judge saves no call.
        """
        if self.quoting is None or self.writer is None or self.writer.worth.capable or not context.verify:
            return ""
        attempt = self._quotation(None, state, context, notes)
        if attempt is None or not accepted(attempt):
            return ""
        least = max(self.writer.worth.probability, VERY_FIRM if self.verifier.is_asked(context.judge) else 0.0)
        if (attempt["confidence"] or 0.0) < least:
            return ""
        notes.ran("generator", self.quoting.name)
        return attempt["answer"]

    def _quotation(
        self, answer: str | None, state: State, context: Context, notes: Notes, judged: float | None = None
    ) -> Attempt | None:
        """The attempt that quotes the passages beside a model's answer; None if they do not answer, or say the same."""
        assert self.quoting is not None
        brief = Brief(state.asked or state.question, as_evidence(state.held, Notes().degraded), quiet=True)
        draft = self.quoting(brief, Notes())
        if draft in (IDK, answer):
            return None
        ratio = 1.0
        if answer is not None and self.writer is not None:
            ratio = ratio_of_answer(brief.question, draft, answer, self.writer.worth, judged)
        own = Notes()
        if context.judge in ("auto", "llm", "cascade") and "custom" not in self.verifier.judges:
            context = context.model_copy(update={"judge": "encoder"})  # no model knows more about a quotation
        if context.on_low_confidence == "flag":
            context = context.model_copy(update={"on_low_confidence": "doubt"})  # only a likely quotation
        attempt = self._attempt(draft, state, context, own, ratio, quoted=True)
        notes.called(own.calls)
        notes.counted(**own.tokens)
        # A quotation chosen by shared words alone is no better than a model's reading.
        return None if attempt.get("verification", {}).get("unread") else attempt

    def _attempt(
        self, draft: str, state: State, context: Context, notes: Notes, ratio: float = 1.0, *, quoted: bool = False
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
            context=[*state.held],
        )
        if draft == IDK:
            # Neither an error nor an answer: nothing was claimed, and another search may still find an answer.
            nothing = cast(Decided, asdict(unanswered(context.unjudged_threshold, NO_ANSWER)))
            return attempt | {"confidence": 0.0, "is_grounded": False, "accepted": False, "decision": nothing}
        computed = state.computed if state.computed and state.computed["answer"] == draft else None
        if computed:
            attempt["computed"] = computed
        if not context.verify:
            return attempt
        question = state.asked or state.question
        written = self._written(draft, state)
        anew = self._anew(computed, context) if computed else None
        showing = WORTH_SHOWING
        if written is not None:
            showing = WRITTEN if written.worth.capable else WRITTEN_BY_SMALL
        elif quoted and anew is None:
            read = self.rereads(question, draft, state.held, notes) if self.rereads is not None else None
            showing, ratio = QUOTED, ratio * ratio_of_quotation(question, draft, state.held, *(read or ()))

        def verified(ratio: float) -> Verification:
            return self.verifier(
                question,
                draft,
                state.held,
                notes,
                **context.judging,
                showing=showing,
                written=written,
                ratio=ratio,
                computed=anew,
            )

        verification, told = verified(ratio), list[str]()
        if quoted and anew is None and verification.accepted and undecided(question, draft, state.held):
            told.append(SEVERAL)
            ratio *= UNDECIDED
            verification = verified(ratio)
        # Without a query left, a further attempt searched nothing itself.
        searched = state.searched or any(before["queries"] for before in state.attempts)
        if quoted and anew is None and verification.accepted and self.later is not None and searched:
            where = filter_of(context, self.sources)
            if otherwise := self.later(question, draft, state.held, notes, where):
                known = ratio_of_later(otherwise, verification.confidence)
                after = verified(ratio * known)
                if known > 1 or not after.accepted:  # what is accepted all the same is as sure as before
                    verification = after
                told = [*otherwise.issues(accepted=verification.accepted), *told]
        if told:
            verification = verification.changed(issues=(*told, *verification.issues))
        record = verification.to_dict()
        own = {name: record[name] for name in (*SUMMARY, "decision")}
        judged = {"verdicts": [*verification.claims], "verification": record, "read": verification.read}
        return cast(Attempt, {**attempt, **own, **judged})

    def _written(self, draft: str, state: State) -> Written | None:
        """What is known of a chat model's draft; None for any other draft."""
        if draft not in state.written:
            return None
        logprob = state.written[draft]
        return Written(logprob) if self.writer is None else Written(logprob, self.writer.worth, self.writer.title)

    def _anew(self, computed: Computed, context: Context) -> Recomputed:
        """A figure and the result of its recomputation."""
        try:
            if self.compute is None:
                raise StoreError("there is no store to compute the figure from.")
            return Recomputed(computed, self.compute.again(computed, context))
        except CragError as error:
            return Recomputed(computed, None, str(error))


def refused(attempt: Attempt) -> bool:
    """Whether an attempt was refused, so that nothing of it is shown."""
    return attempt["decision"] is None or attempt["decision"]["outcome"] == "refused"


@dataclass(frozen=True)
class VerifyGiven:
    """Verify a given answer against given passages: the whole of the verify graph."""

    verifier: Verifier

    def __call__(self, state: VerifyState, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the verification's fields."""
        passages = as_passages(state.passages)
        checked = self.verifier(state.question or "", state.answer, passages, notes, **context.judging)
        return {name: value for name, value in checked.to_dict().items() if name in FIELDS}
