"""Finalize: the best attempt, what was decided on it, verified citations, the response."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from cragraph.verification.decision import BY_PERSON, NO_ANSWER, Decision, Line, below, unanswered
from cragraph.verification.policies import Weights
from cragraph.verification.prune import pruned
from cragraph.verification.result import ADDRESSED, DIFFER, SUMMARY, UNCHECKED, Verification, bare, claim_row, level_of
from cragraph.verification.signals import QUOTES_CONTRADICT

INTERNAL = frozenset({"context", "verdicts", "verification", "read", "beside"})
"""What an attempt keeps in the state; the response shows the verification where claims are asked for."""

WRITTEN = frozenset({"answer", "candidates", "queries"})
"""What was written in an attempt, or searched for because of it; not shown where the response withholds some of it."""

QUOTING = ("issues", "degraded")
"""What may quote an answer."""
_WROTE = re.compile(r"(?<= wrote )(.*?) \(“.*?”\)", re.S)
TOLD = (*SUMMARY, "answered", "supported", "crag_attempts")
"""What is told of the verification of a withheld answer."""

SHOWN = 3  # passages that are listed where nothing is answered
UNREADABLE = "Nothing was searched:"  # how an answer begins that says why there is nothing to answer from
EXCERPT = 300  # characters of one of them, where no sentence of it shares a word with the question


@dataclass(frozen=True)
class Response:
    """What a run ends with: the answer, what was decided on it, and why; `checked` is the verification behind it."""

    answer: str
    decision: Decision | None  # None where verification was off
    issues: Sequence[str] = ()
    checked: Verification | None = None
    citations: Sequence[Citation] = ()
    computed: Computed | None = None  # the working of the answer, where it was computed
    withheld: bool = False  # whether something that was written is not shown

    @property
    def abstained(self) -> bool:
        """Whether nothing is answered."""
        return self.decision is not None and self.decision.outcome == "refused"


@dataclass(frozen=True)
class Ways:
    """What may bring an answer after all, in the words of the place where it was asked."""

    filter: str = "a filter"
    model: str = "a chat model"


@dataclass(frozen=True)
class Finalize:
    """Write the response; `unanswered` finds what an answer leaves out, `weights` score a pruned one."""

    unanswered: Callable[[str, str], list[str]] | None = None
    log: Callable[[Mapping[str, Any]], None] | None = None
    weights: Mapping[str, Weights] | None = None
    ways: Ways = Ways()
    speak: Callable[[str], None] | None = None
    """Streams the answer once it is decided, where it was verified: drafts are not streamed then."""

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the response's fields."""
        ended = told_of_doubt(respond(state, context, self.weights or {}), state)
        checked, decision = ended.checked, ended.decision
        near, issues = nearest(state) if ended.abstained else [], [*ended.issues]
        if near and state.attempts:
            issues.append(to_try(state, context, self.ways))
        if self.unanswered and context.verify and not ended.abstained:
            # The reader knows better than shared words whether the whole question is answered.
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
            "decision": decision and decision.to_dict(),
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
            told = {"issues": unquoting(issues), "degraded": unquoting(degraded)} if ended.withheld else {}
            self.log(vars(state) | response | whole | told)
        return response


def respond(state: State, context: Context, weights: Mapping[str, Weights] | None = None) -> Response:
    """The response to the best attempt: what was decided on it, a person's decision before it."""
    if state.said:
        return Response(state.said, None, citations=state.cited)
    halted = [state.halted] if state.halted else []
    if not state.attempts:
        why = state.halted or too_little(state, context)
        # Who reads the answer alone must not take a missing store for documents that do not say.
        answer = f"{UNREADABLE} {state.halted}" if state.halted else IDK
        return Response(answer, unanswered(context.line, why), [why])
    attempt = chosen(state)
    decision, checked = decision_of(attempt, context), verification_of(attempt, context)
    if attempt["answer"] == IDK and decision is not None:
        if unknown := not_read(state):
            decision = replace(decision, why=f"{decision.why} {unknown}" if LEFT_OUT in unknown else unknown)
        return Response(IDK, decision, [*halted, decision.why])
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


def told_of_doubt(ended: Response, state: State) -> Response:
    """The answer to a doubt: yes where the answer before holds, no where another takes its place."""
    if not state.doubted or ended.abstained or ended.decision is None:
        return ended
    same = bare(without_markers(ended.answer)) == bare(without_markers(state.doubted))
    if not ended.decision.accepted:
        return replace(ended, answer=f"I am not sure. {ended.answer}" if same else ended.answer)
    return replace(ended, answer=f"Yes. {ended.answer}" if same else f"No. {ended.answer}")


def not_read(state: State) -> str:
    """What of the question and its passages no model read, where a chat model did not; empty where all was read."""
    if state.models.get("generator") not in (None, "extractive"):
        return ""
    return unread(state.asked or state.question, [passage["text"] for passage in state.held])


def left_of(attempt: Attempt, checked: Verification, weights: Mapping[str, Weights], halted: Sequence[str]) -> Response:
    """What `prune` leaves of an answer below the threshold; an abstention where it leaves nothing."""
    text, left = pruned(attempt["answer"], checked, weights)
    if not text:
        why = "No sentence of the answer is supported."
        gone = replace(checked, decision=replace(checked.decision, why=f"{checked.decision.why} {why}"))
        return Response(IDK, gone.decision, [checked.decision.why, *halted, *checked.issues, why], gone, withheld=True)
    removed = len(checked.claims) - len(left.claims)
    note = f"{removed} unsupported claims were removed from the answer, whose confidence was {checked.confidence:.2f}."
    said = [*([note] if removed else []), *([] if left.accepted else [left.decision.why]), *halted, *left.issues]
    response = answered(text, attempt.get("context", []), left.decision, left, said)
    return replace(response, withheld=bool(removed))


def refused(decision: Decision, checked: Verification, issues: Sequence[str], context: Context) -> Response:
    """An abstention; its issues quote nothing of the answer that is withheld, unless the claims are asked for."""
    told = [issue if context.show_claims else unquoted(issue) for issue in issues]
    return Response(IDK, decision, told, checked, withheld=True)


def unquoted(issue: str) -> str:
    """An issue, or a sentence on what was degraded, without what it quotes of the answer."""
    if issue.startswith((UNCHECKED, QUOTES_CONTRADICT, DIFFER)):
        return f"{issue.partition(': “')[0]}."
    return _WROTE.sub(r"\1", issue)


def unquoting(sentences: Sequence[str]) -> list[str]:
    """Issues, or what was degraded, without what they quote of the answer."""
    return [unquoted(sentence) for sentence in sentences]


def gaps(
    question: str, answer: str, unanswered: Callable[[str, str], list[str]], read: float | None = None
) -> list[str]:
    """What the answer seems to leave out: support says that it is true, not that it is an answer.

    Where the reader says that the whole question is answered (`read`, 0..1), no part is open.
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
) -> Response:
    """An answer with its citations, and what was found of it."""
    rows = len(computed["cited"]) if computed else sum(is_row(line) for line in answer.splitlines())
    text, citations = cite(
        answer, checked.claims if checked else [], passages, most=max(MOST_CITATIONS, min(rows, MOST_ROWS))
    )
    spans = {span["chunk_id"]: span for span in reversed(checked.answer_spans if checked else ())}
    for citation in citations:
        span = spans.get(citation["chunk_id"])
        citation["answer_start"], citation["answer_end"] = (span["start"], span["end"]) if span else (None, None)
    if checked and checked.unread:
        # Who reads the answer alone must not take it for one that was understood.
        text = f"{checked.unread}\n{text}"
    return Response(text, decision, issues, checked, citations, computed)


def block(ended: Response, context: Context, corrections: int) -> dict[str, Any] | None:
    """The response's `verification`; all of it only where it was asked for, nothing where nothing was judged."""
    checked, decision = ended.checked, ended.decision
    if decision is None or not context.verify or (checked and checked.unjudged and not checked.claims_checked):
        return None
    # Where nothing was written, there is nothing to verify and something to say.
    checked = checked or Verification(0.0, threshold=decision.threshold, set_by=decision.set_by, decision=decision)
    found = checked.to_dict() if context.show_claims else checked.summary()
    if context.show_claims:
        # The response says of the evidence which chunk holds it, too.
        found["claims"] = [claim_row(verdict) | {"evidence": verdict["evidence"]} for verdict in checked.claims]
    elif ended.abstained and "unverified_claims" in found:
        found |= {"unverified_claims": [], "issues": [unquoted(issue) for issue in found["issues"]]}
    return found | {"crag_attempts": corrections}


def without_claims(response: Mapping[str, Any]) -> dict[str, Any]:
    """A refused response as it is where nobody asked for the claims: nothing in it quotes what is withheld."""
    found, hidden = response["verification"], INTERNAL | WRITTEN
    if found is not None:
        found = {name: found[name] for name in TOLD if found.get(name) is not None}
    return {
        **response,
        "verification": found,
        **{name: unquoting(response[name]) for name in QUOTING},
        "attempts": [{k: v for k, v in attempt.items() if k not in hidden} for attempt in response["attempts"]],
    }


def verification_of(attempt: Attempt, context: Context) -> Verification | None:
    """The verification of an attempt; None where nothing was verified.

    A thread may have been saved by a version that wrote no decision down: it is decided on by the options of this run,
    with what the numbers tell of the reader.
    """
    if "verification" not in attempt:
        return None
    checked = Verification.from_dict(attempt["verification"], attempt.get("verdicts", []))
    if not attempt["verification"].get("decision"):
        line = Line(checked.threshold) if context.threshold is None else context.line
        low = context.on_low_confidence
        checked = checked.changed(threshold=line.at, set_by=line.set_by, on_low_confidence=low)
    unsaid: dict[str, Any] = {"chance": checked.answered, "quoted": checked.confidence != checked.supported, "seen": {}}
    return replace(checked, read=attempt.get("read", unsaid))


def decision_of(attempt: Attempt, context: Context) -> Decision | None:
    """What was decided on an attempt; None where verification was off."""
    if written := attempt.get("decision"):
        return Decision.from_dict(written)
    if checked := verification_of(attempt, context):
        return checked.decision
    return None if attempt["confidence"] is None else unanswered(context.line, NO_ANSWER)


def nearest(state: State) -> list[Nearest]:
    """The first passages that were read, each by the sentence that shares most with the question."""
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
    """What may bring an answer after all."""
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
