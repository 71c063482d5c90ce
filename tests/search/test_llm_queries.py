"""Queries that a chat model writes, and what stands in for them."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from cragraph import Context
from cragraph.graph.state import State
from cragraph.models.chat import ChatCaller
from cragraph.models.servers import chat_model
from cragraph.nodes.requery import Requery
from cragraph.protocols import Notes
from cragraph.search.questions import ChatQueries, Contextualizer
from cragraph.types import IDK, Attempt, Verdict
from tests.support.fixtures import served
from tests.support.ollama import OllamaServer

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

TALK = [{"role": "user", "content": "What was revenue in 2023?"}, {"role": "assistant", "content": "383 billion [1]."}]


class Plain:
    name = "plain"

    def __call__(
        self, question: str, failed: Sequence[Verdict], unanswered: Sequence[str], notes: Notes, passages: object = ()
    ) -> list[str]:
        return [*(f"{question} {verdict['text']}" for verdict in failed), *unanswered]


server = served({"queries": ["net sales 2023", "revenue 2023"]})


def caller(server: OllamaServer) -> ChatCaller:
    return ChatCaller(chat_model("ollama:llama3.2", base_url=server.url), backoff_s=0.01)


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


@pytest.mark.parametrize("who", ["the model that declined", "the model that judged"])
def test_what_a_model_said_to_search_for_is_searched_without_another_call(server: OllamaServer, who: str) -> None:
    requery = Requery(ChatQueries(caller(server)), lambda question, answer: [], Plain())
    said = ["loan period", "how long a tool may be kept", "keep tool"]
    attempt: dict[str, Any] = {
        "attempt": 1,
        "answer": IDK,
        "confidence": 0.0,
        "accepted": False,
        "queries": ["keep a tool"],
    }
    if who == "the model that judged":
        attempt["read"] = {"judged": {"answers": "part", "open": "how long", "search": said}}
    state = State(question="how long can i keep a tool", attempts=[cast(Attempt, attempt)])
    state.search = said if who == "the model that declined" else []
    assert requery(state, Context().resolved(), Notes())["queries"] == said[:2]  # the third was searched already
    assert server.chats == []
