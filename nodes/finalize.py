"""Finalize: the best attempt, the low-confidence policy, verified citations, the response."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cragraph.generation.candidates import is_row
from cragraph.generation.ranking import MOST_ROWS
from cragraph.graph.context import Context
from cragraph.graph.routing import chosen, relevant, wanted_chunks
from cragraph.graph.state import State
from cragraph.protocols import Notes
from cragraph.text.sentences import sentences
from cragraph.text.words import content_words, weight
from cragraph.types import EVADES, IDK, Attempt, Nearest, Passage
from cragraph.verification.citations import MOST, cite
from cragraph.verification.policies import Weights
from cragraph.verification.prune import pruned
from cragraph.verification.result import Verification, claim_row, level_of, reaches

INTERNAL = frozenset({"accepted", "context", "verdicts", "verification"})
"""What an attempt keeps in the state; the response shows the verification where claims are asked for."""

WRITTEN = frozenset({"answer", "candidates"})
"""What was written in an attempt; not shown where the response withholds some of it."""

BY_PERSON = {
    "accept": "A person accepted this answer.",
    "edit": "A person wrote this answer.",
    "abstain": "A person chose not to answer.",
}
"""What the response says of a decision that ended the run."""

SHOWN = 3  # passages that are listed where nothing is answered
UNREADABLE = "Nothing was searched:"  # how an answer begins that says why there is nothing to answer from
EXCERPT = 300  # characters of one of them, where no sentence of it shares a word with the question


@dataclass(frozen=True)
class Finalize:
    """Write the response; `unanswered` finds what an answer leaves out, `weights` score a pruned one."""

    unanswered: Callable[[str, str], list[str]] | None = None
    log: Callable[[Mapping[str, Any]], None] | None = None
    weights: Mapping[str, Weights] | None = None

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the response's fields."""
        response = respond(state, context, self.weights or {})
        withheld, checked = response.pop("withheld"), response.pop("checked")
        response["nearest"] = nearest(state) if response["abstained"] else []
        if response["nearest"] and state.attempts:
            response["issues"].append(to_try(state, context))
        if self.unanswered and context.verify and not response["abstained"]:
            open_parts = gaps(state.asked or state.question, response["answer"], self.unanswered)
            # The reader knows better than shared words whether the whole question is answered.
            read = checked is not None and checked.answered is not None
            response["issues"] += [issue for issue in open_parts if not (read and issue == EVADES)]
        if response["verification"] is not None:
            response["verification"]["crag_attempts"] = len(state.attempts) - 1
        hidden = INTERNAL - {"verification"} if context.show_claims else INTERNAL | (WRITTEN if withheld else set())
        response["attempts"] = [{k: v for k, v in attempt.items() if k not in hidden} for attempt in state.attempts]
        response["timings_ms"] = state.timings_ms | {"total": round((time.time() - state.started) * 1000, 3)}
        if self.log is not None:
            whole = {"attempts": state.attempts, "verification": checked and checked.to_dict()}
            self.log(vars(state) | response | whole)
        return response


def respond(state: State, context: Context, weights: Mapping[str, Weights] | None = None) -> dict[str, Any]:
    """The response to the best attempt under the low-confidence policy."""
    if not state.attempts:
        nothing = abstention(state.halted or too_little(state, context))
        # Who reads the answer alone must not take a missing store for documents that do not say.
        return nothing | ({"answer": f"{UNREADABLE} {state.halted}"} if state.halted else {})
    attempt = chosen(state)
    halted = [state.halted] if state.halted else []
    if attempt["answer"] == IDK:
        return abstention(*halted, "The passages that were found do not answer the question.")
    answer, passages, checked = attempt["answer"], attempt.get("context", []), verification_of(attempt)
    if checked is None:
        return answered(answer, passages, None, context, halted)
    doubts = low(checked)
    if state.decided == "abstain":
        return abstention(BY_PERSON["abstain"], *doubts, *checked.issues, checked=checked, context=context)
    issues = [*doubts, *halted, *checked.issues]
    if state.decided in BY_PERSON:
        return answered(answer, passages, checked, context, [BY_PERSON[state.decided], *issues])
    if checked.accepted or context.on_low_confidence == "flag" or unjudged(checked) or checked.shown:
        return answered(answer, passages, checked, context, issues)
    if context.on_low_confidence == "abstain":
        return abstention(*issues, checked=checked, context=context)
    text, left = pruned(answer, checked, weights or {})
    if not text:
        return abstention(*issues, "No sentence of the answer is supported.", checked=checked, context=context)
    removed = len(checked.claims) - len(left.claims)
    note = f"{removed} unsupported claims were removed from the answer, whose confidence was {checked.confidence:.2f}."
    return answered(text, passages, left, context, [note, *low(left), *halted, *left.issues]) | {"withheld": True}


def low(checked: Verification) -> list[str]:
    """The sentence on a confidence below the threshold; none where it is not."""
    return [] if checked.accepted or reaches(checked.confidence, checked.threshold) else [below(checked)]


def below(checked: Verification) -> str:
    """Confidence and threshold in a sentence, with as many digits as tell them apart."""
    digits = 2 if round(checked.confidence, 2) != round(checked.threshold, 2) else 4
    return f"Confidence {checked.confidence:.{digits}f} is below the threshold of {checked.threshold:.{digits}f}."


def gaps(question: str, answer: str, unanswered: Callable[[str, str], list[str]]) -> list[str]:
    """What the answer seems to leave out: support says that it is true, not that it is an answer."""
    parts = unanswered(question, answer) if question else []
    if parts == [question]:
        return [EVADES]
    return [f"This part of the question may be unanswered: “{part}”" for part in parts]


def answered(
    answer: str, passages: Sequence[Passage], checked: Verification | None, context: Context, issues: Sequence[str]
) -> dict[str, Any]:
    """An answer with its citations, and what was found of it."""
    rows = sum(is_row(line) for line in answer.splitlines())
    text, citations = cite(answer, checked.claims if checked else [], passages, most=max(MOST, min(rows, MOST_ROWS)))
    spans = {span["chunk_id"]: span for span in reversed(checked.answer_spans if checked else ())}
    for citation in citations:
        span = spans.get(citation["chunk_id"])
        citation["answer_start"], citation["answer_end"] = (span["start"], span["end"]) if span else (None, None)
    return {
        "answer": text,
        "abstained": False,
        "confidence": checked and checked.confidence,
        "confidence_level": checked and checked.level,
        "is_grounded": checked and checked.is_grounded,
        "citations": citations,
        "verification": block(checked, context),
        "issues": list(issues),
        "withheld": False,
        "checked": checked,
    }


def abstention(*issues: str, checked: Verification | None = None, context: Context | None = None) -> dict[str, Any]:
    """`IDK`, and why; `checked` is the verification of the answer that was withheld."""
    confidence = checked.confidence if checked else 0.0
    unsaid = {"answer": IDK, "abstained": True, "is_grounded": False, "citations": [], "withheld": True}
    measured = {"confidence": confidence, "confidence_level": level_of(confidence), "checked": checked}
    return unsaid | measured | {"verification": block(checked, context), "issues": list(issues)}


def block(checked: Verification | None, context: Context | None) -> dict[str, Any] | None:
    """The response's `verification`; all of it only where it was asked for, nothing where nothing was judged."""
    if checked is None or context is None or (not checked.claims_checked and unjudged(checked)):
        return None
    if context.show_claims:
        # The response says of the evidence which chunk holds it, too.
        rows = [claim_row(verdict) | {"evidence": verdict["evidence"]} for verdict in checked.claims]
        return checked.to_dict() | {"claims": rows}
    return checked.summary()


def verification_of(attempt: Attempt) -> Verification | None:
    """The verification of an attempt; None where verification was off."""
    if "verification" not in attempt:
        return None
    return Verification.from_dict(attempt["verification"], attempt.get("verdicts", []))


def unjudged(checked: Verification) -> bool:
    """Whether no claim could be judged: then the confidence says nothing against the answer."""
    return bool(checked.claims) and all(v["verdict"] == "unjudged" for v in checked.claims)


def nearest(state: State) -> list[Nearest]:
    """The first passages that were read, each by the sentence that shares most with the question."""
    terms = set(content_words(state.asked or state.question))

    def shared(text: str) -> float:
        return sum(weight(term) for term in terms & set(content_words(text)))

    places: list[Any] = []
    for passage in state.held[:SHOWN]:
        best = max(sentences(passage["text"]), key=shared, default="")
        place = {name: passage.get(name) for name in ("source", "filename", "page", "chunk_id")}
        places.append({"text": best if shared(best) else passage["text"][:EXCERPT]} | place)
    return places


def to_try(state: State, context: Context) -> str:
    """What may bring an answer after all."""
    ways = ["other words"]
    if state.searched:
        ways.append("all documents" if context.sources or context.where else "a filter (--where, --source)")
    if state.models.get("generator") in (None, "extractive"):
        ways.append("a chat model (--model ollama:NAME)")
    only = f"Only {', '.join(context.sources)} was searched. " if context.sources else ""
    return f"{only}See the nearest passages, or try {', '.join(ways[:-1])}{' or ' * (len(ways) > 1)}{ways[-1]}."


def too_little(state: State, context: Context) -> str:
    """Why the evidence gate closed, and what would open it."""
    count, wanted = relevant(state, context), wanted_chunks(state, context)
    if not state.held:
        return "No passage was found: ingest documents about this, or ask in other words."
    return (
        f"Only {count} relevant passage{'s were' if count != 1 else ' was'} found and {wanted} are wanted: "
        f"ingest more about this, or set min_chunks to {max(count, 1)}."
    )
