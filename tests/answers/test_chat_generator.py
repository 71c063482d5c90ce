"""The generator with a chat model, over the real client and protocol."""

from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph

from cragraph.answers.chat_answerer import ChatGenerator, tidy
from cragraph.errors import ModelError
from cragraph.models.chat import ChatCaller
from cragraph.models.servers import chat_model
from cragraph.passages import as_passages
from cragraph.prompts import Prompts
from cragraph.protocols import Brief, Notes
from cragraph.types import IDK, Verdict
from tests.support.cases import cases
from tests.support.fixtures import served
from tests.support.ollama import OllamaServer, Reply

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

PASSAGES = as_passages(["Net sales were $383 billion in 2023.", "The company was founded in 1976."])
QUESTION = "What were net sales in 2023?"


server = served("Net sales were $383 billion [1].")


def generator(
    server: OllamaServer, model: str = "llama3.2", prompts: Prompts | None = None, **options: Any
) -> ChatGenerator:
    name = f"ollama:{model}"
    caller = ChatCaller(chat_model(name, base_url=server.url, **options), name, backoff_s=0.01)
    return ChatGenerator(caller, prompts or Prompts())


def failed(text: str, correction: str = "") -> Verdict:
    verdict = Verdict(
        text=text, start=0, end=len(text), type="factual", verdict="contradicted", support=0.0, contradiction=1.0,
        evidence=None, reasoning="The passages say 1976.", judge="llm",
    )  # fmt: skip
    return {**verdict, "correction": correction} if correction else verdict


def test_a_correction_sees_the_answer_so_far_what_failed_in_it_and_why(server: OllamaServer) -> None:
    brief = Brief(
        QUESTION, PASSAGES, previous="Founded in 1977 [2].", failed=[failed("Founded in 1977", "Founded in 1976.")]
    )
    generator(server)(brief, Notes())
    prompt = server.chats[0].prompt
    assert "Founded in 1977 [2]." in prompt
    assert '- "Founded in 1977" is contradicted; reason: The passages say 1976; correction: Founded in 1976.' in prompt


def test_without_passages_it_abstains_without_a_call(server: OllamaServer) -> None:
    assert generator(server)(Brief(QUESTION, []), Notes()) == IDK
    assert server.chats == []


@pytest.mark.parametrize("empty", ["", "<think>hmm</think>", " \n "])
def test_two_empty_answers_are_a_clear_error(server: OllamaServer, empty: str) -> None:
    server.play(empty)
    with pytest.raises(ModelError, match=r"wrote an empty answer twice"):
        generator(server)(Brief(QUESTION, PASSAGES), Notes())


def test_the_prompt_never_exceeds_num_ctx_and_the_lowest_ranked_passages_go_first(server: OllamaServer) -> None:
    many = as_passages([f"Passage {n} says this and that. " * 20 for n in range(12)])
    notes = Notes()
    generator(server, num_ctx=2048, num_predict=256)(Brief(QUESTION, many), notes)
    request = server.chats[0]
    assert not request.truncated
    assert request.prompt_tokens + 256 <= 2048
    assert "Passage 0" in request.seen
    assert "Passage 11" not in request.seen
    assert "lowest ranked, were left out of the generate prompt" in notes.sentences[0]


@pytest.mark.parametrize(("written", "answer"), cases("answers/chat_generator", "citations come out"))
def test_citations_come_out_in_one_shape_whatever_a_small_model_wrote(written: str, answer: str) -> None:
    assert tidy(written) == answer


class Words(TypedDict):
    answer: str


@pytest.mark.parametrize("reply", ["one two three", Reply("one two three", cut=1)])
def test_tokens_reach_the_message_stream_of_a_graph_one_by_one(server: OllamaServer, reply: Any) -> None:
    server.play(reply)
    write = generator(server)

    def node(state: Words) -> Words:
        return {"answer": write(Brief(QUESTION, PASSAGES), Notes())}

    graph = StateGraph(Words).add_node("generate", node).add_edge(START, "generate").compile()
    pieces = [chunk.content for chunk, _ in graph.stream({"answer": ""}, stream_mode="messages")]  # type: ignore[union-attr]
    assert [p for p in pieces if p] == ["one", " two", " three"]
