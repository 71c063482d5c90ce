"""Queries that a chat model writes, and what stands in for them."""

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from cragraph import Context
from cragraph.graph.state import State
from cragraph.models.chat import ChatCaller
from cragraph.models.servers import chat_model
from cragraph.nodes.requery import Requery
from cragraph.protocols import Notes
from cragraph.search.llm_queries import ChatQueries, Contextualizer
from cragraph.types import IDK, Attempt, Verdict
from tests.support.cases import cases
from tests.support.ollama import OllamaServer

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

FAILED = Verdict(
    text="Sales were $390 billion", start=0, end=23, type="factual", verdict="contradicted", support=0.0,
    contradiction=1.0, evidence=None, reasoning="The passages say 383.", judge="llm",
)  # fmt: skip
TALK = [{"role": "user", "content": "What was revenue in 2023?"}, {"role": "assistant", "content": "383 billion [1]."}]


class Plain:
    name = "plain"

    def __call__(
        self, question: str, failed: Sequence[Verdict], unanswered: Sequence[str], notes: Notes, passages: object = ()
    ) -> list[str]:
        return [*(f"{question} {verdict['text']}" for verdict in failed), *unanswered]


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer({"queries": ["net sales 2023", "revenue 2023"]}) as running:
        yield running


def caller(server: OllamaServer) -> ChatCaller:
    return ChatCaller(chat_model("ollama:llama3.2", base_url=server.url), backoff_s=0.01)


def test_targeted_queries_are_written_from_what_failed_and_what_is_open(server: OllamaServer) -> None:
    notes = Notes()
    queries = ChatQueries(caller(server))("What were sales and who was CEO?", [FAILED], ["who was CEO"], notes)
    assert queries == ["net sales 2023", "revenue 2023"]
    prompt = server.chats[0].prompt
    assert "- Sales were $390 billion (The passages say 383.)" in prompt
    assert "- who was CEO" in prompt
    assert notes.calls == 1


@pytest.mark.parametrize(("read", "queries", "calls"), cases("search/llm_queries", "what a model judged"))
def test_what_a_model_judged_needs_no_call_for_queries_and_what_none_judged_takes_one(
    server: OllamaServer, read: dict[str, Any], queries: list[str], calls: int
) -> None:
    requery = Requery(ChatQueries(caller(server), fallback=Plain()), lambda question, answer: [], Plain())
    attempt = {"attempt": 1, "answer": "They were 12.", "verdicts": [FAILED], "confidence": 0.1, "read": read}
    state = State(question="q", attempts=[cast(Attempt, attempt)])
    assert requery(state, Context().resolved(), Notes())["queries"] == queries
    assert len(server.chats) == calls


@pytest.mark.parametrize(
    "messages",
    [
        TALK,
        [("human", TALK[0]["content"]), ("ai", TALK[1]["content"])],
        [HumanMessage(TALK[0]["content"]), AIMessage(TALK[1]["content"])],
        [{"type": "human", "content": [{"type": "text", "text": TALK[0]["content"]}]}, AIMessage(TALK[1]["content"])],
    ],
)
@pytest.mark.parametrize("reply", ['{"question": "What was revenue in 2022?"}', "What was revenue in 2022?"])
def test_a_follow_up_is_made_to_stand_alone(server: OllamaServer, messages: list[object], reply: str) -> None:
    server.play(reply)
    notes = Notes()
    assert Contextualizer(caller(server))("and in 2022?", messages, notes).question == "What was revenue in 2022?"
    assert "Person: What was revenue in 2023?\nAssistant: 383 billion [1]." in server.chats[0].prompt
    assert notes.calls == 1


def test_a_model_writes_the_queries_of_the_first_correction_alone_and_none_twice(server: OllamaServer) -> None:
    requery = Requery(ChatQueries(caller(server)), lambda question, answer: [], Plain())
    state, notes, seen = State(question="What were net sales?"), Notes(), []
    for number in (1, 2):
        done = {"attempt": number, "answer": "They were 12.", "verdicts": [FAILED], "confidence": 0.1}
        state.attempts.append(cast(Attempt, done | {"queries": seen[-1] if seen else []}))
        seen.append(requery(state, Context().resolved(), notes)["queries"])
    assert seen == [["net sales 2023", "revenue 2023"], ["What were net sales? Sales were $390 billion"]]
    assert (len(server.chats), notes.calls, notes.models["query_writer"]) == (1, 1, Plain.name)


@pytest.mark.parametrize("who", ["the model that declined", "the model that judged"])
def test_what_a_model_said_to_search_for_is_searched_without_another_call(server: OllamaServer, who: str) -> None:
    requery = Requery(ChatQueries(caller(server)), lambda question, answer: [], Plain())
    said = ["loan period", "how long a tool may be kept", "keep tool"]
    attempt: dict[str, Any] = {"attempt": 1, "answer": IDK, "confidence": 0.0, "queries": ["keep a tool"]}
    if who == "the model that judged":
        attempt["read"] = {"judged": {"answers": "part", "open": "how long", "search": said}}
    state = State(question="how long can i keep a tool", attempts=[cast(Attempt, attempt)])
    state.search = said if who == "the model that declined" else []
    assert requery(state, Context().resolved(), Notes())["queries"] == said[:2]  # the third was searched already
    assert server.chats == []
