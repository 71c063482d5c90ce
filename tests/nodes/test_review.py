"""A person in the loop: the run waits with the answer, its claims and the choices, and does what they choose."""

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cragraph.graph.context import Context
from cragraph.types import IDK
from tests.nodes.test_loop import BLUE, SEA, SKY, TABLE, Loop
from tests.support.cases import cases

ASKS = Context(on_low_confidence="ask", max_crag_attempts=0)


class Reviewed:
    """A run that waits, over a checkpointer."""

    def __init__(self, answers: Any = (f"{SEA} {SKY}",), context: Context = ASKS, **options: Any) -> None:
        self.loop = Loop(answers, **options)
        self.graph = self.loop.builder.compile(checkpointer=InMemorySaver())
        self.thread: Any = {"configurable": {"thread_id": "1"}}
        self.context = context
        self.said = self._run({"question": "Is the sea salt?"})

    def _run(self, given: Any) -> dict[str, Any]:
        return dict(self.graph.invoke(given, self.thread, context=self.context))

    def resume(self, value: Any) -> dict[str, Any]:
        self.said = self._run(Command(resume=value))
        return self.said

    @property
    def shown(self) -> dict[str, Any]:
        return dict(self.said["__interrupt__"][0].value)


@pytest.mark.parametrize(("value", "answer", "issue"), cases("nodes/review", "what a person chooses"))
def test_what_a_person_chooses_is_the_response(value: Any, answer: str, issue: str) -> None:
    response = Reviewed().resume(value)
    assert answer in response["answer"]
    assert response["issues"][0] == issue
    assert response["confidence"] == pytest.approx(0.4)
    assert response["abstained"] == (answer == IDK)


@pytest.mark.parametrize(
    "value",
    [
        {"choice": "edit", "answer": BLUE},
        {"decisions": [{"type": "edit", "edited_action": {"name": "answer", "args": {"answer": BLUE}}}]},
        [{"type": "edit", "args": {"action": "answer", "args": {"answer": BLUE}}}],
    ],
)
def test_an_edited_answer_is_verified(value: Any) -> None:
    response = Reviewed().resume(value)
    assert "__interrupt__" not in response  # it reached the threshold
    assert response["answer"].startswith(BLUE[:-1])
    assert response["confidence"] == 1.0


def test_an_edited_answer_below_the_threshold_is_shown_again_and_stays_the_persons() -> None:
    run = Reviewed()
    run.resume({"choice": "edit", "answer": SKY})
    assert run.shown["answer"] == SKY
    response = run.resume("accept")
    assert response["answer"].startswith(SKY[:-1])
    assert response["issues"][0] == "A person wrote this answer."


def test_a_search_goes_on_with_the_queries_of_the_person_or_those_of_the_loop() -> None:
    table = TABLE | {"noon": ["At noon the sky is blue."]}
    run = Reviewed([f"{SEA} {SKY}", f"{SEA} {SKY}", f"{SEA} {BLUE}"], table=table)
    run.resume({"choice": "search", "queries": ["sky by day"]})
    assert run.loop.retriever.history[-1] == ("sky by day",)
    response = run.resume({"decisions": [{"type": "reject", "message": "at noon"}]})
    assert run.loop.retriever.history[-1] == ("at noon",)
    assert response["confidence"] == 1.0
    other = Reviewed(table={"sea": TABLE["sea"]})
    other.resume([{"type": "response", "args": "the sky"}])
    assert other.loop.retriever.history[-1] == ("the sky",)
    other.resume("search")
    assert other.loop.retriever.history[-1] == (SKY,)
    assert other.shown["issues"][0].startswith("The search found nothing new.")


def test_the_wait_is_none_of_the_runs_time(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Reviewed(context=Context(on_low_confidence="ask", max_crag_attempts=0, deadline_s=5))
    import time

    later = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: later)
    response = run.resume({"choice": "search", "queries": ["sky"]})
    assert response["attempts"][-1]["queries"] == ["sky"]
    assert run.resume("accept")["timings_ms"]["total"] < 60_000
