"""Review: show a person an answer below the threshold, and follow their choice."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from cragraph.graph.context import Context
from cragraph.graph.routing import chosen
from cragraph.graph.state import State
from cragraph.nodes.finalize import decision_of, verification_of
from cragraph.protocols import Notes
from cragraph.verification.result import claim_row

CHOICES: Final = {
    "accept": "give this answer",
    "edit": 'give an answer of your own, which is verified: {"choice": "edit", "answer": "…"}',
    "search": 'search again, where you like for queries of your own: {"choice": "search", "queries": ["…"]}',
    "abstain": "say that the documents do not answer this",
}
ACTION: Final = "answer"  # the action that LangChain's pages for people show


class ReviewDecision(BaseModel):
    """A person's choice: the value of `Command(resume=…)`."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    choice: Literal["accept", "edit", "search", "abstain"]
    answer: str = Field(default="", max_length=20_000)
    queries: list[str] = Field(default=[], max_length=10)

    @model_validator(mode="before")
    @classmethod
    def _in_other_words(cls, value: Any) -> Any:
        """Accept a bare choice, or a decision of LangChain's pages: a rejection with words means a search for them."""
        if isinstance(value, str):
            return {"choice": value.strip().lower()}
        match value.get("decisions") if isinstance(value, Mapping) else value:
            case [{"type": "approve" | "accept"}]:
                return {"choice": "accept"}
            case [
                {"type": "edit", "edited_action": {"args": {"answer": answer}}}
                | {"type": "edit", "args": {"args": {"answer": answer}}}
            ]:
                return {"choice": "edit", "answer": answer}
            case [{"type": "reject", "message": str(query)} | {"type": "response", "args": str(query)}] if (
                query.strip()
            ):
                return {"choice": "search", "queries": [query]}
            case [{"type": "reject" | "ignore"}]:
                return {"choice": "abstain"}
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.choice == "edit" and not self.answer:
            raise ValueError("edit lacks the answer")
        return self


class Review:
    """Asks a person what to do with an answer below the threshold; the run waits in the checkpointer."""

    def __call__(self, state: State, context: Context, notes: Notes) -> dict[str, Any]:
        """Return the decision; after an unreadable value the person is asked again."""
        from langgraph.types import interrupt

        question = shown(state, context)
        while True:
            came = interrupt(question)
            try:
                decision = ReviewDecision.model_validate(came)
                break
            except ValidationError as error:
                why = "; ".join(e["msg"].removeprefix("Value error, ") for e in error.errors())
                wanted = f"wanted one of {', '.join(CHOICES)}, or an object with such a `choice`"
                question = {**question, "error": f"The decision came as {came!r} ({why}); {wanted}."}
        # A person's time does not count for the deadline.
        worked = time.time() - sum(state.timings_ms.values()) / 1000
        kept = decision.choice == "accept" and state.decided == "edit"  # the edited answer is the one they saw
        update = {"decided": "edit" if kept else decision.choice, "started": worked}
        if decision.choice == "edit":
            return update | {"drafts": [decision.answer], "new_passages": 0}
        return update | {"queries": [query for query in decision.queries if query.strip()]}


def shown(state: State, context: Context) -> dict[str, Any]:
    """The data for a person's decision: the answer, its claims, its issues, and the choices.

    `action_requests` and `review_configs` are the same in the form of LangChain's pages for people, `action_request`
    and `config` in their older form.
    """
    attempt = chosen(state)
    checked, decision = verification_of(attempt), decision_of(attempt)
    args = {"answer": attempt["answer"]}
    reason = decision.why if decision else ""
    if state.decided == "search" and not state.new_passages:
        reason = f"The search found nothing new. {reason}"
    return {
        "question": state.asked or state.question,
        "answer": attempt["answer"],
        "confidence": attempt["confidence"],
        "level": checked.level if checked else None,
        "accepted": decision and decision.accepted,
        "decision": decision and asdict(decision),
        "claims": [claim_row(verdict) for verdict in attempt.get("verdicts", [])],
        "issues": [reason, *([state.halted] if state.halted else []), *(checked.issues if checked else ())],
        "choices": CHOICES,
        "action_requests": [{"name": ACTION, "args": args, "description": reason}],
        "review_configs": [{"action_name": ACTION, "allowed_decisions": ["approve", "edit", "reject"]}],
        "action_request": {"action": ACTION, "args": args},
        "config": {f"allow_{name}": True for name in ("accept", "edit", "respond", "ignore")},
        "description": reason,
    }
