"""The loop with the real nodes, the real verifier and fake parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from cragraph.errors import InputError, StoreError
from cragraph.graph.build import build_graph, rescue, step
from cragraph.graph.context import Context
from cragraph.nodes.finalize import Finalize
from cragraph.nodes.generate import Generate
from cragraph.nodes.requery import Requery
from cragraph.nodes.rerank import Rerank
from cragraph.nodes.retrieve import Retrieve
from cragraph.nodes.review import Review
from cragraph.nodes.verify import Verify
from cragraph.protocols import Answered
from cragraph.testing import FakeGenerator, FakeJudge, FakeQueryWriter, FakeReranker, FakeRetriever, HashEmbeddings
from cragraph.types import IDK, AnswerSpan
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.verifier import Verifier
from tests.support.cases import cases

SEA = "The sea is salt."
SKY = "The sky is green."
BLUE = "The sky is blue."
TABLE = {"sea": ["The sea is salt, as all know.", "Rivers carry salt."], "sky": ["The sky is blue by day."]}
SUPPORT = {SEA: 0.95, SKY: 0.1, BLUE: 0.95}


class Loop:
    """A graph of fakes, and the fakes."""

    def __init__(
        self,
        answers: Sequence[str | Exception] = (SEA,),
        table: Mapping[str, Sequence[Any]] = TABLE,
        support: Mapping[str, float] = SUPPORT,
        scorer: Any = None,
        retriever: FakeRetriever | None = None,
        **defaults: Any,
    ) -> None:
        self.retriever = retriever or FakeRetriever(table)
        self.reranker = FakeReranker()
        self.generator = FakeGenerator(answers)
        self.judge = FakeJudge(support)
        self.writer = FakeQueryWriter()
        self.logged: list[Any] = []
        verifier = Verifier({"auto": self.judge}, ("auto",), SentenceExtractor(), HashEmbeddings(32), scorer=scorer)
        options = Context(**defaults)
        self.options = options
        self.acts: dict[str, Any] = {
            "retrieve": Retrieve(self.retriever, lambda: 10),
            "rerank": Rerank(self.reranker),
            "generate": Generate(self.generator),
            "verify": Verify(verifier),
            "requery": Requery(self.writer, lambda question, answer: []),
            "review": Review(),
            "finalize": Finalize(self.unanswered, self.logged.append),
        }
        nodes = {name: step(name, act, options) for name, act in self.acts.items()}
        self.builder = build_graph(**nodes, rescue=rescue, defaults=options)
        self.graph = self.builder.compile()

    def unanswered(self, question: str, answer: str) -> list[str]:
        """The sky is a part that must be spoken of where it is asked about."""
        return ["the sky"] if "sky" in question and "sky" not in answer else []

    def ask(self, question: str = "Is the sea salt?", context: Any = None, **inputs: Any) -> dict[str, Any]:
        return self.graph.invoke({"question": question, **inputs}, context=context)


class Reader:
    """Finds the answer in the first passage, with the given probability."""

    name = "reader"

    def __init__(self, probability: float) -> None:
        self.probability = probability

    def __call__(self, question: str, answer: str, passages: Any, notes: Any) -> Answered:
        first = passages[0]
        span = AnswerSpan(passage=0, chunk_id=first["chunk_id"], start=4, end=7, text=first["text"][4:7])
        return Answered(self.probability, (span,))


def test_a_supported_answer_is_accepted_at_once() -> None:
    response = Loop().ask()
    assert response["answer"].startswith(SEA[:-1])
    assert (response["abstained"], response["confidence"], response["confidence_level"]) == (False, 1.0, "high")
    assert response["is_grounded"] is True
    assert response["verification"] == {
        "confidence": 1.0,
        "is_grounded": True,
        "accepted": True,
        "claims_checked": 1,
        "claims_supported": 1,
        "crag_attempts": 0,
    }
    assert [c["number"] for c in response["citations"]] == [1]
    assert response["citations"][0]["verified"]
    assert response["issues"] == response["degraded"] == []
    assert response["models"] == {
        "retriever": "fake", "reranker": "fake", "generator": "fake", "judge": "fake",
        "claims": "sentences",
    }  # fmt: skip
    assert response["timings_ms"].keys() == {"retrieve", "rerank", "generate", "verify", "finalize", "total"}


def test_a_failed_claim_is_requeried_and_the_better_answer_returned() -> None:
    loop = Loop([f"{SEA} {SKY}", f"{SEA} {BLUE}"])
    response = loop.ask()
    assert response["confidence"] == 1.0
    assert [a["confidence"] for a in response["attempts"]] == [pytest.approx(0.4), 1.0]
    assert response["verification"]["crag_attempts"] == 1
    assert loop.retriever.history == [("Is the sea salt?",), (SKY,)]
    second = loop.generator.history[1]
    assert second.previous == f"{SEA} {SKY}"
    assert [v["text"] for v in second.failed] == [SKY]
    assert "The sky is blue by day." in [p["text"] for p in second.passages]


@pytest.mark.parametrize(
    ("choice", "answer", "abstained"),
    [("abstain", IDK, True), ("flag", f"{SEA[:-1]}", False), ("prune", f"{SEA[:-1]}", False)],
)
def test_the_low_confidence_policy_decides_what_comes_back(choice: Any, answer: str, abstained: bool) -> None:
    response = Loop([f"{SEA} {SKY}"]).ask(context=Context(on_low_confidence=choice, crag=False))
    assert response["answer"].startswith(answer)
    assert (SKY[:-1] in response["answer"]) is (choice == "flag")
    assert response["abstained"] is abstained


def test_too_little_evidence_abstains_without_generating() -> None:
    loop = Loop(table={"sea": ["One."]})
    response = loop.ask()
    assert (response["answer"], response["abstained"], loop.generator.history) == (IDK, True, [])
    assert response["issues"] == [
        "Only 1 passage was found and 2 are wanted: ingest more about this, or set min_chunks to 1."
    ]


def test_a_given_answer_that_fails_is_corrected() -> None:
    loop = Loop([f"{SEA} {BLUE}"])
    response = loop.ask(answer=f"{SEA} {SKY}")
    assert BLUE[:-1] in response["answer"]
    assert len(response["attempts"]) == 2


def test_a_part_of_the_question_that_is_left_out_is_an_issue() -> None:
    loop = Loop([SEA])
    assert loop.ask("Is the sea salt?")["issues"] == []
    assert loop.ask("What of the sea and the sky?")["issues"] == [
        "This part of the question may be unanswered: “the sky”"
    ]


def test_internals_stay_out_of_the_response_unless_asked_for() -> None:
    plain = Loop().ask()
    assert "claims" not in plain["verification"]
    assert not {"context", "verdicts", "verification"} & plain["attempts"][0].keys()
    shown = Loop().ask(context=Context(show_claims=True))
    claim = shown["verification"]["claims"][0]
    assert (claim["verdict"], claim["judge"]) == ("supported", "fake")
    assert claim["evidence"]["chunk_id"]


def test_a_new_question_on_an_old_thread_starts_clean() -> None:
    loop = Loop([SEA])
    graph = loop.builder.compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    given = graph.invoke({"question": "Is the sky green?", "answer": SKY, "passages": ["Grass is green."]}, thread)
    assert (given["attempts"][0]["answer"], loop.retriever.history[:1]) == (SKY, [(SKY,)])
    again = graph.invoke({"question": "Is the sea salt?"}, thread)
    assert [a["answer"] for a in again["attempts"]] == [SEA]
    assert [c["text"] for c in again["citations"]] == ["The sea is salt, as all know."]
    assert again["degraded"] == []


@dataclass
class FailingRetriever(FakeRetriever):
    """Finds passages once, then raises."""

    error: Exception = field(default_factory=Exception)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.history:
            raise self.error
        return super().__call__(*args, **kwargs)


@pytest.mark.parametrize("error", [StoreError("the store went away"), ValueError("a bug")])
def test_any_error_of_a_correction_leaves_the_best_attempt_and_says_so(error: Exception) -> None:
    loop = Loop([f"{SEA} {SKY}"], retriever=FailingRetriever(TABLE, error=error))
    response = loop.ask(context=Context(on_low_confidence="flag"))
    assert SEA[:-1] in response["answer"]
    assert response["degraded"] == [f"The correction stopped in retrieve: {error}"]


@pytest.mark.parametrize(("inputs", "context", "said"), cases("nodes/loop", "unknown inputs and options"))
async def test_unknown_inputs_and_options_are_refused_by_name(inputs: Any, context: Any, said: str) -> None:
    for graph in (Loop().graph, Loop().graph.with_config(tags=["x"])):
        with pytest.raises(InputError, match=said):
            graph.invoke(inputs, context=context)
        with pytest.raises(InputError, match=said):
            await graph.ainvoke(inputs, context=context)


@pytest.mark.parametrize(("inputs", "said"), cases("nodes/loop", "bad input says what"))
def test_bad_input_says_what_came_and_what_was_wanted(inputs: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Loop().graph.invoke(inputs)


def test_a_small_top_k_is_not_little_evidence() -> None:
    table = {"sea": ["The sea is salt, as all know.", "Rivers carry salt.", "Salt is heavy."]}
    response = Loop(table=table).ask(context=Context(top_k=1))
    assert (response["abstained"], len(response["citations"])) == (False, 1)
    few = Loop(table=table).ask(context=Context(top_k=1, min_chunks=4))
    assert few["issues"] == [
        "Only 3 passages were found and 4 are wanted: ingest more about this, or set min_chunks to 3."
    ]


def test_a_filter_to_a_single_row_is_answered_from_it() -> None:
    table = {"sea": ["The sea is salt, as all know."]}
    assert Loop(table=table).ask()["abstained"]
    assert not Loop(table=table).ask(context=Context(where={"row": 1}))["abstained"]


def test_a_passage_that_reranking_dropped_is_new_when_it_is_read() -> None:
    blue = "The sky is blue by day."
    table = {"sea": ["The sea is salt.", blue, "Rivers carry salt."], "sky": [blue]}
    response = Loop([f"{SEA} {SKY}"], table=table, top_k=1).ask()
    assert [a["new_passages"] for a in response["attempts"][:2]] == [1, 1]


@pytest.mark.parametrize("policy", ["abstain", "prune"])
def test_what_the_response_withholds_is_in_no_attempt_unless_claims_are_asked_for(policy: Any) -> None:
    context = Context(on_low_confidence=policy, crag=False)
    response = Loop([f"{SEA} {SKY}"]).ask(context=context)
    assert SKY[:-1] not in str({k: v for k, v in response.items() if k != "issues"})
    shown = Loop([f"{SEA} {SKY}"]).ask(context=context.model_copy(update={"show_claims": True}))
    assert shown["attempts"][0]["answer"] == f"{SEA} {SKY}"


def test_messages_alone_ask_their_last_one_and_no_first_turn_is_a_conversation() -> None:
    turn = {"role": "user", "content": "Is the sea salt?"}
    for inputs in ({"messages": [turn]}, {"messages": [HumanMessage("Is the sea salt?")]}):
        loop = Loop()
        response = loop.graph.invoke(inputs)
        assert (response["question"], response["degraded"]) == ("Is the sea salt?", [])
        assert response["answer"].startswith(SEA[:-1])
    assert Loop().ask(messages=[turn])["degraded"] == []
    later = Loop().graph.invoke({"messages": [turn, {"role": "assistant", "content": SEA}, turn]})
    assert later["degraded"][0].startswith("The conversation so far was not used")
