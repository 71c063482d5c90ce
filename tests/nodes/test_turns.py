"""Turns of a conversation: what asks nothing of the documents, what points back, what doubts."""

from typing import Any

import pytest

from cragraph import create_graph, load_settings
from cragraph.errors import InputError
from cragraph.turns import SMALL_TALK
from tests.support.fixtures import served
from tests.support.ollama import ModelInfo, OllamaServer

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

PASSAGES = [
    {"text": "The tool library opens at 10:00 on Saturdays.", "source": "hours.md"},
    {"text": "Ana Brito has led the tool library since 2021. Before her it was Piet Maas.", "source": "people.md"},
]
SAYS = "The tool library opens at 10:00 on Saturdays. [1]"


server = served(models={"llama3.2": ModelInfo(parameter_size="8.0B")})


def ask(said: str, messages: Any = (), model: OllamaServer | None = None, **given: Any) -> dict[str, Any]:
    own = {"model": "ollama:llama3.2", "ollama_host": model.url} if model else {}
    graph = create_graph(load_settings(store=None, **own)).compile()
    found: dict[str, Any] = graph.invoke({"question": said, **given, **({"messages": [*messages]} if messages else {})})
    return found


def talk(answer: dict[str, Any], question: str) -> list[dict[str, Any]]:
    told = {name: answer[name] for name in ("citations", "asked")}
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer["answer"], **told}]


@pytest.mark.parametrize(
    "said",
    [
        "hello",
        "Hi there!",
        "Morning!",
        "Hello, is anybody there?",
        "Thanks!",
        "ok, thank you very much",
        "Danke schön",
        "Merci, that's all.",
        "bye",
    ],
)
def test_a_greeting_or_thanks_gets_a_line_at_once_and_no_search(said: str) -> None:
    found = ask(said)
    assert found["answer"].endswith(".")
    assert (found["abstained"], found["citations"], found["llm_calls"]) == (False, [], 0)
    assert found["stopped"] == "The turn asks nothing of the documents."


def test_the_first_question_after_a_greeting_is_not_read_in_its_light(server: OllamaServer) -> None:
    server.play([SAYS, {}])
    found = ask("When does the tool library open?", talk(ask("Hello!"), "Hello!"), server, passages=PASSAGES)
    assert "10:00" in found["answer"]
    assert not any("Last turn:" in request.prompt for request in server.chats)


def test_what_is_about_the_talk_is_answered_from_it_alone_with_its_citations(server: OllamaServer) -> None:
    first = ask("When does the tool library open?", passages=PASSAGES)
    server.play([{"kind": "talk", "question": "-", "reply": "Samstags um 10:00 Uhr. [1]"}])
    found = ask("Say that in German", talk(first, "When does the tool library open?"), server)
    assert found["answer"] == "Samstags um 10:00 Uhr. [1]"
    assert [c["number"] for c in found["citations"]] == [1]
    assert found["llm_calls"] == 1


def test_a_figure_that_nobody_said_is_no_reply_about_the_talk(server: OllamaServer) -> None:
    first = ask("When does the tool library open?", passages=PASSAGES)
    server.play(
        [{"kind": "talk", "question": "-", "reply": "It opens at 09:00. [1]"}, "At 10:00 on Saturdays. [1]", {}]
    )
    found = ask("Say that shorter", talk(first, "When does the tool library open?"), server, passages=PASSAGES)
    assert "09:00" not in found["answer"]
    assert any("nobody had said 09" in note for note in found["degraded"])


def test_a_follow_up_begins_with_the_passages_that_the_answer_before_cited(server: OllamaServer) -> None:
    asked = "Who leads the tool library?"
    first = ask(asked, passages=PASSAGES)
    cited = [citation["chunk_id"] for citation in first["citations"]]
    server.play(
        [
            {"kind": "follow-up", "question": "Who led the tool library before Ana Brito?", "reply": ""},
            "Before her it was Piet Maas. [1]",
            {"claims": [{"n": 1, "evidence": ["Before her it was Piet Maas."], "status": "SUPPORTED"},
                        {"n": 2, "evidence": [], "status": "UNSUPPORTED"}], "answers": "ALL"},
        ]
    )  # fmt: skip
    found = ask("And who was it before her?", talk(first, asked), server)
    assert found["asked"] == "Who led the tool library before Ana Brito?"
    assert "Piet Maas" in found["answer"]
    assert found["citations"][0]["chunk_id"] == cited[0]


def test_small_talk_that_opens_a_conversation_is_told_by_the_model_and_answered_by_a_line(server: OllamaServer) -> None:
    server.play([{"kind": "greeting", "question": "", "reply": "The library is closed on Mondays."}])
    found = ask("Hello, what a lovely day it is!", model=server)
    assert (found["answer"], found["abstained"], found["llm_calls"]) == (SMALL_TALK, False, 1)


def test_a_doubt_that_says_more_is_a_question_of_its_own(server: OllamaServer) -> None:
    asked = "When does the tool library open?"
    first = ask(asked, passages=PASSAGES)
    both = "Does the tool library open at 10:00 on Saturdays, or at nine as the poster says?"
    server.play([{"kind": "doubt", "question": both, "reply": ""}, "It opens at 10:00 on Saturdays. [1]", {}])
    found = ask("The poster says nine.", talk(first, asked), server)
    assert found["asked"] == both
    assert found["answer"].startswith("It opens at 10:00")


@pytest.mark.parametrize(
    ("before", "begins"), [(SAYS, "Yes."), ("The tool library opens at 11:00 on Sundays. [1]", "")]
)
def test_a_doubt_holds_the_answer_before_against_its_passages(before: str, begins: str) -> None:
    asked = "When does the tool library open?"
    first = ask(asked, passages=PASSAGES)
    found = ask("Are you sure?", talk({**first, "answer": before}, asked))
    if begins:
        assert found["answer"].startswith(begins)
        assert found["accepted"]
    else:
        assert found["abstained"] or found["answer"].startswith(("No.", "I am not sure."))


@pytest.mark.parametrize("citations", [5, ["x"], [{"number": "z"}, {"number": 1}], [{"number": 1, "metadata": "x"}]])
def test_citations_of_a_message_that_are_none_are_told(citations: Any) -> None:
    messages = [
        {"role": "user", "content": "When?"},
        {"role": "assistant", "content": "At ten.", "citations": citations},
    ]
    with pytest.raises(InputError, match="The citations of a message came with"):
        ask("Are you sure?", messages, passages=PASSAGES)
