"""Finalize: the best attempt with its decision and verified citations, as the response."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from cragraph.answers.candidates import is_row
from cragraph.answers.ranking import MOST_ROWS
from cragraph.graph.context import Context
from cragraph.graph.routing import chosen, relevant, wanted_chunks, why_stopped, why_unwritten
from cragraph.graph.state import State
from cragraph.language.languages import LEFT_OUT, unread
from cragraph.language.markers import without_markers
from cragraph.language.orders import without_orders
from cragraph.language.sentences import sentences
from cragraph.language.words import content_words, weight
from cragraph.protocols import Notes
from cragraph.types import EVADES, IDK, Attempt, Citation, Computed, Nearest, Passage
from cragraph.verification.citations import MOST_CITATIONS, cite
from cragraph.verification.decision import BY_PERSON, Decision, below, unanswered
from cragraph.verification.policies import Weights
from cragraph.verification.prune import pruned
from cragraph.verification.result import ADDRESSED, DIFFER, SUMMARY, UNCHECKED, Verification, bare, claim_row, level_of
from cragraph.verification.signals import QUOTES_CONTRADICT

INTERNAL = frozenset({"context", "verdicts", "verification", "read"})
"""Fields of an attempt that stay in the state; the response shows the verification if claims are asked for."""

WRITTEN = frozenset({"answer", "candidates", "queries"})
"""Fields of an attempt with written text or queries; hidden if the response withholds an answer."""

QUOTING = ("issues", "degraded")
"""Fields that may quote an answer."""
_WROTE = re.compile(r"(?<= wrote )(.*?) \(“.*?”\)", re.S)
TOLD = (*SUMMARY, "answered", "supported", "crag_attempts")
"""Fields of the verification that are shown for a withheld answer."""

SHOWN = 3  # passages listed in an abstention
UNREADABLE = "Nothing was searched:"  # beginning of an answer on a missing store
EXCERPT = 300  # characters of such a passage, if no sentence of it shares a word with the question


@dataclass(frozen=True)
class FinalAnswer:
    """The end of a run: the answer, the decision and its reason; `checked` is the verification behind it."""

    answer: str
    decision: Decision | None  # None with verification off
    issues: Sequence[str] = ()
    checked: Verification | None = None
    citations: Sequence[Citation] = ()
    computed: Computed | None = None  # the working of a computed answer
    withheld: bool = False  # whether a written answer is withheld

    @property
    def abstained(self) -> bool:
        """Whether the run abstains."""
        return self.decision is not None and self.decision.outcome == "refused"


@dataclass(frozen=True)
class Ways:
    """Advice after an abstention, in words for the place where the question was asked."""

    filter: str = "a filter"
    model: str = "a chat model"


@dataclass(frozen=True)
class Finalize:
    """Write the response; `unanswered` finds open parts of the question, `weights` score a pruned answer."""

    unanswered: Callable[[str, str], list[str]] | None = None
    log: Callable[[Mapping[str, Any]], None] | None = None
    weights: Mapping[str, Weights] | None = None
    ways: Ways = Ways()
    speak: Callable[[str], object] | None = None
    """Streams the decided answer if verification is on, as drafts are not streamed then."""

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the response's fields."""
        ended = reply_to_doubt(respond(state, context, self.weights or {}), state)
        checked, decision = ended.checked, ended.decision
        near, issues = nearest(state) if ended.abstained else [], [*ended.issues]
        if near and state.attempts:
            issues.append(to_try(state, context, self.ways))
        if self.unanswered and context.verify and not ended.abstained:
            # The reader is better than shared words at finding open parts.
            read = checked.answered if checked else None
            open_parts = gaps(state.asked or state.question, ended.answer, self.unanswered, read)
            issues += [issue for issue in open_parts if read is None or issue != EVADES]
        hidden = (
            INTERNAL - {"verification"} if context.show_claims else INTERNAL | (WRITTEN if ended.withheld else set())
        )
        degraded = state.degraded if context.show_claims or not ended.withheld else unquoting(state.degraded)
        response = {
            "answer": ended.answer,
            "abstained": ended.abstained,
            "confidence": decision and decision.confidence,
            "confidence_level": decision and level_of(decision.confidence),
            "is_grounded": checked.is_grounded if checked else decision and False,
            "accepted": decision and decision.accepted,
            "decision": decision and asdict(decision),
            "citations": [*ended.citations],
            "computed": ended.computed,
            "conflicts": [] if ended.abstained or checked is None else [*checked.conflicts],
            "verification": block(ended, context, max(len(state.attempts) - 1, 0)),
            "issues": issues,
            "degraded": degraded,
            "nearest": near,
            "stopped": why_stopped(state, context) or why_unwritten(state, context),
            "attempts": [{k: v for k, v in attempt.items() if k not in hidden} for attempt in state.attempts],
            "timings_ms": state.timings_ms | {"total": round((time.time() - state.started) * 1000, 3)},
        }
        if self.speak is not None and context.verify:
            self.speak(ended.answer)
        if self.log is not None:
            whole = {"attempts": state.attempts, "verification": checked and checked.to_dict()}
            shown = {"issues": unquoting(issues), "degraded": unquoting(degraded)} if ended.withheld else {}
            self.log(vars(state) | response | whole | shown)
        return response


def respond(state: State, context: Context, weights: Mapping[str, Weights] | None = None) -> FinalAnswer:
    """The response to the best attempt by its decision; a person's decision goes before."""
    if state.said:
        return FinalAnswer(state.said, None, citations=state.cited)
    halted = [state.halted] if state.halted else []
    if not state.attempts:
        why = state.halted or too_little(state, context)
        # A reader of the answer alone must not take a missing store for documents without the answer.
        answer = f"{UNREADABLE} {state.halted}" if state.halted else IDK
        return FinalAnswer(answer, unanswered(context.unjudged_threshold, why), [why])
    attempt = chosen(state)
    decision, checked = decision_of(attempt), verification_of(attempt)
    if attempt["answer"] == IDK and decision is not None:
        if unknown := not_read(state):
            decision = replace(decision, why=f"{decision.why} {unknown}" if LEFT_OUT in unknown else unknown)
        return FinalAnswer(IDK, decision, [*halted, decision.why])
    if decision is None or checked is None:
        return answered(attempt["answer"], attempt.get("context", []), None, None, halted, attempt.get("computed"))
    issues = [*halted, *([checked.unread] if checked.unread else []), *checked.issues]
    if state.decided in BY_PERSON:
        outcome, why = BY_PERSON[state.decided]
        low = [] if decision.reached else [below(decision.confidence, decision.threshold)]
        decision, issues = replace(decision, outcome=outcome, why=why), [*low, *issues]
        checked = replace(checked, decision=decision)
    elif decision.outcome == "refused" and context.on_low_confidence == "prune":
        return left_of(attempt, checked, weights or {}, halted)
    said = issues if decision.accepted and state.decided not in BY_PERSON else [decision.why, *issues]
    if decision.outcome == "refused":
        if checked.unread:
            decision = replace(decision, why=checked.unread)
        return refused(decision, checked, said, context)
    return answered(attempt["answer"], attempt.get("context", []), decision, checked, said, attempt.get("computed"))


def reply_to_doubt(ended: FinalAnswer, state: State) -> FinalAnswer:
    """The reply to a doubt: yes if the previous answer holds, no if another replaces it."""
    if not state.doubted or ended.abstained or ended.decision is None:
        return ended
    same = bare(without_markers(ended.answer)) == bare(without_markers(state.doubted))
    if not ended.decision.accepted:
        return replace(ended, answer=f"I am not sure. {ended.answer}" if same else ended.answer)
    return replace(ended, answer=f"Yes. {ended.answer}" if same else f"No. {ended.answer}")


def not_read(state: State) -> str:
    """A note on the language of question and passages if no model read it; empty if all was read."""
    if state.models.get("generator") not in (None, "extractive"):
        return ""
    return unread(state.asked or state.question, [passage["text"] for passage in state.held])


def left_of(
    attempt: Attempt, checked: Verification, weights: Mapping[str, Weights], halted: Sequence[str]
) -> FinalAnswer:
    """The pruned answer below the threshold; an abstention if nothing is left."""
    text, left = pruned(attempt["answer"], checked, weights)
    if not text:
        why = "No sentence of the answer is supported."
        gone = replace(checked, decision=replace(checked.decision, why=f"{checked.decision.why} {why}"))
        return FinalAnswer(
            IDK, gone.decision, [checked.decision.why, *halted, *checked.issues, why], gone, withheld=True
        )
    removed = len(checked.claims) - len(left.claims)
    note = f"{removed} unsupported claims were removed from the answer, whose confidence was {checked.confidence:.2f}."
    said = [*([note] if removed else []), *([] if left.accepted else [left.decision.why]), *halted, *left.issues]
    response = answered(text, attempt.get("context", []), left.decision, left, said)
    return replace(response, withheld=bool(removed))


def refused(decision: Decision, checked: Verification, issues: Sequence[str], context: Context) -> FinalAnswer:
    """An abstention; its issues do not quote the withheld answer, unless the claims are asked for."""
    shown = [issue if context.show_claims else unquoted(issue) for issue in issues]
    return FinalAnswer(IDK, decision, shown, checked, withheld=True)


def unquoted(issue: str) -> str:
    """An issue, or a degradation, without its quotes of the answer."""
    if issue.startswith((UNCHECKED, QUOTES_CONTRADICT, DIFFER)):
        return f"{issue.partition(': “')[0]}."
    return _WROTE.sub(r"\1", issue)


def unquoting(sentences: Sequence[str]) -> list[str]:
    """Issues, or degradations, without their quotes of the answer."""
    return [unquoted(sentence) for sentence in sentences]


def gaps(
    question: str, answer: str, unanswered: Callable[[str, str], list[str]], read: float | None = None
) -> list[str]:
    """The parts of the question that the answer leaves open: a supported answer need not be a complete one.

    If the reader finds the whole question answered (`read`, 0..1), no part is open.
    """
    parts = unanswered(question, answer) if question else []
    if parts == [question]:
        return [EVADES]
    if read is not None and read >= ADDRESSED:
        return []
    return [f"This part of the question may be unanswered: “{part}”" for part in parts]


def answered(
    answer: str,
    passages: Sequence[Passage],
    decision: Decision | None,
    checked: Verification | None,
    issues: Sequence[str],
    computed: Computed | None = None,
) -> FinalAnswer:
    """An answer with its citations and issues."""
    rows = len(computed["cited"]) if computed else sum(is_row(line) for line in answer.splitlines())
    text, citations = cite(
        answer, checked.claims if checked else [], passages, most=max(MOST_CITATIONS, min(rows, MOST_ROWS))
    )
    spans = {span["chunk_id"]: span for span in reversed(checked.answer_spans if checked else ())}
    for citation in citations:
        span = spans.get(citation["chunk_id"])
        citation["answer_start"], citation["answer_end"] = (span["start"], span["end"]) if span else (None, None)
    if checked and checked.unread:
        # A reader of the answer alone must see that its language was not read.
        text = f"{checked.unread}\n{text}"
    return FinalAnswer(text, decision, issues, checked, citations, computed)


def block(ended: FinalAnswer, context: Context, corrections: int) -> dict[str, Any] | None:
    """The response's `verification`: in full only if asked for, empty if nothing was judged."""
    checked, decision = ended.checked, ended.decision
    if decision is None or not context.verify or (checked and checked.unjudged and not checked.claims_checked):
        return None
    # Without an answer there is nothing to verify, but a reason to give.
    checked = checked or Verification(0.0, threshold=decision.threshold, set_by=decision.set_by, decision=decision)
    found = checked.to_dict() if context.show_claims else checked.summary()
    if context.show_claims:
        # In the response, evidence has the id of its chunk too.
        found["claims"] = [claim_row(verdict) | {"evidence": verdict["evidence"]} for verdict in checked.claims]
    elif ended.abstained and "unverified_claims" in found:
        found |= {"unverified_claims": [], "issues": [unquoted(issue) for issue in found["issues"]]}
    return found | {"crag_attempts": corrections}


def without_claims(response: Mapping[str, Any]) -> dict[str, Any]:
    """A refused response without claims and without quotes of the withheld answer."""
    found, hidden = response["verification"], INTERNAL | WRITTEN
    if found is not None:
        found = {name: found[name] for name in TOLD if found.get(name) is not None}
    return {
        **response,
        "verification": found,
        **{name: unquoting(response[name]) for name in QUOTING},
        "attempts": [{k: v for k, v in attempt.items() if k not in hidden} for attempt in response["attempts"]],
    }


def verification_of(attempt: Attempt) -> Verification | None:
    """The verification of an attempt; None if nothing was verified."""
    if "verification" not in attempt:
        return None
    checked = Verification.from_dict(attempt["verification"], attempt["verdicts"])
    return replace(checked, read=attempt["read"])


def decision_of(attempt: Attempt) -> Decision | None:
    """The decision on an attempt; None with verification off."""
    return Decision(**written) if (written := attempt["decision"]) else None


def nearest(state: State) -> list[Nearest]:
    """The first passages read, each by its sentence that shares most words with the question."""
    terms = set(content_words(state.asked or state.question))

    def shared(text: str) -> float:
        return sum(weight(term) for term in terms & set(content_words(text)))

    places: list[Any] = []
    for passage in state.held[:SHOWN]:
        best = max(sentences(without_orders(passage["text"])), key=shared, default="")
        place = {name: passage.get(name) for name in ("source", "filename", "page", "chunk_id")}
        places.append({"text": best if shared(best) else passage["text"][:EXCERPT]} | place)
    return places


def to_try(state: State, context: Context, words: Ways) -> str:
    """Advice after an abstention."""
    ways = ["other words"]
    if any(attempt.get("queries") for attempt in state.attempts):
        ways.append("all documents" if context.sources or context.where else words.filter)
    if state.models.get("generator") in (None, "extractive"):
        ways.append(words.model)
    only = f"Only {', '.join(context.sources)} was searched. " if context.sources else ""
    return f"{only}See the nearest passages, or try {', '.join(ways[:-1])}{' or ' * (len(ways) > 1)}{ways[-1]}."


def too_little(state: State, context: Context) -> str:
    """Why the evidence gate closed, and what would open it."""
    count, wanted = relevant(state), wanted_chunks(state, context)
    if not state.held:
        return "No passage was found: ingest documents about this, or ask in other words."
    return (
        f"Only {count} passage{'s were' if count != 1 else ' was'} found and {wanted} are wanted: "
        f"ingest more about this, or set min_chunks to {max(count, 1)}."
    )
