"""Routing: the edges of the loop in one table, and their conditions as pure functions of state and context."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from cragraph.graph.context import Context
from cragraph.graph.state import State
from cragraph.types import IDK, Attempt, Verdict

BY_PERSON: Final = {
    "accept": "A person accepted the answer.",
    "edit": "A person wrote the answer.",
    "abstain": "A person chose to give no answer.",
}
NOTHING_NEW: Final = "The search for a correction found nothing new that may answer."
NO_QUERY_LEFT: Final = "Nothing is left to search for that was not searched before."


def relevant(state: State) -> int:
    """The number of passages that were found, including those that reranking dropped."""
    return len(state.held) if state.relevant is None else state.relevant


def wanted_chunks(state: State, context: Context) -> int:
    """The number of relevant passages that the evidence gate requires.

    A mode never asks for more passages than there are in all, except `high`; an explicit `min_chunks` is exact.
    """
    preset, exact = context.resolved().min_chunks or 0, context.min_chunks is not None or context.mode == "high"
    return preset if exact else min(preset, max(state.available, 1))


def after_rerank(state: State, context: Context) -> Literal["generate", "review", "finalize"]:
    """The evidence gate: write an answer only from enough relevant passages; a given answer is always judged."""
    if state.said:
        return "finalize"
    return ended(state, context) if why_unwritten(state, context) else "generate"


def why_unwritten(state: State, context: Context) -> str:
    """Why nothing is written from the passages at hand, in a sentence; empty where something is.

    A correction is written if a search found passages that no pass had met, kept or not (they change the ranking), if
    passages are read for the first time, or if the best attempt, with its faults, is another than at the last pass.
    If the only attempt is a given answer, nothing was written from the passages at hand yet.
    """
    if state.drafts and not state.attempts:
        return ""
    if state.attempts and not state.new_passages and not state.found and state.models.get("generator"):
        attempt, before = best(state.attempts), state.attempts[:-1]
        if attempt is best(before) if before else not failed_claims(attempt):
            return NO_QUERY_LEFT if not state.searched else NOTHING_NEW
    if state.held and relevant(state) >= max(wanted_chunks(state, context), 1):
        return ""
    return "Too few passages were found to answer from."


def after_verify(state: State, context: Context) -> Literal["requery", "review", "finalize"]:
    """Accept at the threshold; correct while attempts are left and the last pass made progress; else stop.

    An answer that a person wrote is not corrected.
    """
    return ended(state, context) if why_stopped(state, context) else "requery"


def why_stopped(state: State, context: Context) -> str:
    """Why no correction follows the last attempt, in a sentence; empty where `verify` lets one follow."""
    if state.said:
        return "The turn asks nothing of the documents."
    if not state.attempts:
        return state.halted or why_unwritten(state, context)
    if state.decided in BY_PERSON:
        return BY_PERSON[state.decided]
    if accepted(state.attempts[-1]):
        return "The answer was accepted." if state.attempts[-1]["accepted"] else "Verification is off."
    if state.halted:
        return state.halted
    if len(state.attempts) > context.max_crag_attempts:
        most = context.max_crag_attempts
        return f"All {most} corrections were made." if most else "No correction was allowed: max_crag_attempts is 0."
    if state.search and len(state.attempts) > 1 and all(a["answer"] == IDK for a in state.attempts[-2:]):
        return "The model found no answer in the passages of two searches."
    if not faults(best(state.attempts)):
        return "Nothing in the answer is at fault and nothing is left open: a correction could not make it surer."
    if not progressed(state.attempts) and not state.found:
        return "The last correction found nothing new to read, and its answer was no better."
    return "The time of the run is over." if out_of_time(state, context) else ""


def after_requery(state: State, context: Context) -> Literal["retrieve", "generate", "review", "finalize"]:
    """Search for the queries; without any, mend what failed from the passages at hand, or end."""
    if state.queries:
        return "retrieve"
    return ended(state, context) if why_unwritten(state, context) else "generate"


def faults(attempt: Attempt) -> bool:
    """Whether an attempt can be corrected: it has no answer, a failed claim, or an open part.

    If no model judged it, an answer of low confidence can be corrected too.
    """
    judged = judged_by_model(attempt)
    if attempt.get("answer") == IDK or failed_claims(attempt) or not judged.get("answers"):
        return True
    return bool(judged["answers"] != "all" or judged["unstated"])


def judged_by_model(attempt: Attempt) -> Mapping[str, Any]:
    """A model's judgement of a whole attempt (`verification.evidence.Judged`); empty without one."""
    return (attempt.get("read") or {}).get("judged") or {}


def ended(state: State, context: Context) -> Literal["review", "finalize"]:
    """The end of the run, or the review by a person if no attempt reached the threshold and the run wants one."""
    asks = context.asks and state.attempts and not any(map(accepted, state.attempts))
    return "review" if asks else "finalize"


def after_review(state: State, context: Context) -> Literal["finalize", "verify", "retrieve", "requery"]:
    """The node for a person's choice; a search without queries gets them from the failed claims."""
    if state.drafts:
        return "verify"
    if state.decided != "search":
        return "finalize"
    return "retrieve" if state.queries else "requery"


def accepted(attempt: Attempt) -> bool:
    """Whether an attempt was accepted, or verification is off."""
    return attempt["accepted"] is not False


def chosen(state: State) -> Attempt:
    """The attempt that counts: a person's answer, else the best."""
    return state.attempts[-1] if state.decided == "edit" else best(state.attempts)


def progressed(attempts: Sequence[Attempt]) -> bool:
    """Whether the last pass found new passages or a higher confidence than all before it; true for the first pass."""
    *before, last = attempts
    if not before or last["new_passages"]:
        return True
    return (last["confidence"] or 0.0) > max(a["confidence"] or 0.0 for a in before)


def worth(attempt: Attempt) -> tuple[bool, float]:
    """The sort key of attempts: accepted ones first, then by confidence."""
    return accepted(attempt), attempt["confidence"] or 0.0


def best(attempts: Sequence[Attempt]) -> Attempt:
    """The best attempt; of equal ones the earliest, so that a later one must be better.

    A computed figure stands before a quotation that is less sure, accepted or not: a row is not the sum.
    """
    chosen = max(attempts, key=lambda a: (*worth(a), -a["attempt"]))
    surer = (a for a in attempts if a.get("computed") and (a["confidence"] or 0.0) > (chosen["confidence"] or 0.0))
    return max(surer, key=worth, default=chosen)


def out_of_time(state: State, context: Context, now: float | None = None) -> bool:
    """Whether the run's deadline has passed."""
    now = time.time() if now is None else now
    return context.deadline_s is not None and now - state.started >= context.deadline_s


def failed_claims(attempt: Attempt) -> list[Verdict]:
    """The failed verdicts of an attempt, without opinions."""
    return [v for v in attempt.get("verdicts", []) if v["type"] != "opinion" and v["verdict"] != "supported"]


@dataclass(frozen=True)
class Edge:
    """The targets of a node, and the condition if there are several; no target ends the run."""

    to: tuple[str, ...] = ()
    by: Callable[[State, Context], str] | None = None


EDGES: Final[Mapping[str, Edge]] = {
    "retrieve": Edge(("rerank",)),
    "rerank": Edge(("generate", "review", "finalize"), after_rerank),
    "generate": Edge(("verify",)),
    "verify": Edge(("requery", "review", "finalize"), after_verify),
    "review": Edge(("finalize", "verify", "retrieve", "requery"), after_review),
    "requery": Edge(("retrieve", "generate", "review", "finalize"), after_requery),
    "finalize": Edge(),
}
"""The loop, from its first node, as `build_graph` joins it."""

FIRST: Final = next(iter(EDGES))
