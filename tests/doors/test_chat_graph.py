"""The whole graph over a real server that speaks Ollama's protocol."""

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_ollama import ChatOllama, OllamaEmbeddings

from cragraph.api import create_graph
from cragraph.errors import ModelNotFoundError, ModelUnavailableError
from cragraph.settings import Settings
from cragraph.verification.claims import split_claims
from tests.support.fixtures import served
from tests.support.ollama import OllamaServer, Reply, Request, by_fields

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

QUESTION = "What were net sales in 2023, and when was the company founded?"
PASSAGES = ["Net sales were $383 billion in 2023, down 3%.", "The company was founded in 1976 in Cupertino."]
SALES, FOUNDED = "Net sales were $383 billion in 2023", "The company was founded in 1976"
WRONG_SALES, WRONG_FOUNDED = "Net sales were $390 billion in 2023", "The company was founded in 1980"
RIGHT = f"{SALES} [1]. {FOUNDED} [2]."
HALF = f"{SALES} [1]. {WRONG_FOUNDED} [2]."
UNCITED = f"{SALES} [1]. {WRONG_FOUNDED}."
"""The same, without the citation that does not hold."""
WRONG = f"{WRONG_SALES} [1]. {WRONG_FOUNDED} [2]."
QUOTES = {SALES: (SALES, 1), FOUNDED: ("founded in 1976", 2)}
QUERIES = {"queries": ["net sales 2023", "year of foundation"]}


def judged(claims: str) -> dict[str, Any]:
    """What a sound judge says of the numbered sentences of one of the answers above."""
    rows = []
    for number, claim in re.findall(r"^(\d+)\. (.*)", claims, re.MULTILINE):
        quote, passage = QUOTES.get(claim, ("", 0))
        status = "SUPPORTED" if quote else "UNSUPPORTED"
        rows.append({"n": int(number), "status": status, "evidence": quote, "passage": passage, "reasoning": "r"})
    return {"claims": rows}


def numbered(answer: str) -> str:
    return "\n".join(f"{number}. {claim['text']}" for number, claim in enumerate(split_claims(answer), start=1))


def sound_judge(request: Request) -> dict[str, Any]:
    return judged(request.prompt.rpartition("<<claims")[2])


def script(answers: Any, judge: Any = sound_judge) -> Any:
    return by_fields({"": answers, "claims": judge, "queries": QUERIES, "question": {"question": QUESTION}})


server = served(script(RIGHT))


def graph(server: OllamaServer, **settings: Any) -> Any:
    alone = {"extractive_fallback": False, "judge": "llm"}  # what the model does by itself, and each of its calls
    given = {"model": "ollama:llama3.2", "store": None, "ollama_host": server.url} | alone | settings
    return create_graph(Settings(**given)).compile()


def ask(server: OllamaServer, context: Mapping[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
    given = {"question": QUESTION, "passages": PASSAGES}
    response: dict[str, Any] = graph(server, **settings).invoke(given, context=context or {})
    return response


def kinds(requests: Sequence[Request]) -> list[str]:
    """Each call by what it asked for: prose, claims or queries."""
    return [request.fields[0] if request.fields else "prose" for request in requests]


# -- all goes well ---------------------------------------------------------------------------------------------


def test_an_answer_that_the_embedded_reading_finds_firm_takes_one_call(server: OllamaServer) -> None:
    response = ask(server, judge="auto")
    assert (response["answer"], response["decision"]["outcome"], response["is_grounded"]) == (RIGHT, "accepted", True)
    assert (response["llm_calls"], kinds(server.chats)) == (1, ["prose"])
    assert (response["models"]["judge"], response["degraded"]) == ("encoder", [])


async def test_the_async_form_gives_the_same(server: OllamaServer) -> None:
    response = await graph(server).ainvoke({"question": QUESTION, "passages": PASSAGES})
    assert (response["answer"], response["llm_calls"]) == (RIGHT, 2)


def test_the_streamed_form_shows_the_decided_answer_word_by_word_no_draft_and_no_word_of_the_judge(
    server: OllamaServer,
) -> None:
    server.play(script([WRONG, HALF, RIGHT]))
    given = {"question": QUESTION, "passages": PASSAGES}
    streamed: list[AIMessageChunk] = []
    state: dict[str, Any] = {}
    for mode, part in graph(server).stream(given, stream_mode=["messages", "values"]):
        if mode == "values":
            state = part
            continue
        message, metadata = part
        assert metadata["langgraph_node"] == "finalize"
        streamed.append(message)
    assert state["degraded"] == []  # a correction that stopped says why
    assert [attempt["answer"] for attempt in state["attempts"]] == [WRONG, HALF, RIGHT]
    assert sum(streamed[1:], streamed[0]).content == state["answer"] == RIGHT
    assert len(streamed) >= len(RIGHT.split())
    assert len({chunk.id for chunk in streamed}) == 1
    assert [chunk.chunk_position for chunk in streamed] == [None] * (len(streamed) - 1) + ["last"]
    assert kinds(server.chats).count("claims") == 3


def test_where_nobody_verifies_the_draft_is_streamed_as_the_model_writes_it(server: OllamaServer) -> None:
    given = {"question": QUESTION, "passages": PASSAGES}
    stream = graph(server).stream(given, context={"verify": False}, stream_mode="messages")
    parts = [(metadata["langgraph_node"], message.text) for message, metadata in stream]
    assert {node for node, _ in parts} == {"generate"}
    assert "".join(text for _, text in parts) == RIGHT
    assert len(parts) > 10


def test_a_server_that_cannot_be_reached_is_said_once_and_with_what_to_do() -> None:
    gone, given = "http://127.0.0.1:9", {"question": QUESTION, "passages": PASSAGES}
    told = f"he Ollama server at {gone} cannot be reached: run `ollama serve`, or set OLLAMA_HOST."
    own = ChatOllama(model="llama3.2", base_url=gone)
    found = create_graph({"store": None, "judge": "encoder"}, chat_model=own).compile().invoke(given)
    assert found["degraded"] == [f"T{told} The passages are quoted instead."]
    store = InMemoryVectorStore(OllamaEmbeddings(model="nomic-embed-text", base_url=gone))
    store.store = {"1": {"id": "1", "text": "Sales fell.", "vector": [1.0], "metadata": {}}}
    with pytest.raises(ModelUnavailableError) as caught:
        create_graph({}, store=store).compile().invoke({"question": QUESTION})
    assert str(caught.value) == f"t{told}"


def test_two_corrections_take_two_calls_each_as_the_judge_says_what_to_search_for(server: OllamaServer) -> None:
    server.play(script([WRONG, HALF, RIGHT]))
    response = ask(server)
    assert (response["answer"], response["decision"]["outcome"]) == (RIGHT, "accepted")
    first, second, third = (attempt["confidence"] for attempt in response["attempts"])
    assert first < second <= 0.4 < third
    assert [attempt["decision"]["outcome"] for attempt in response["attempts"]] == ["refused", "refused", "accepted"]
    assert (response["llm_calls"], len(server.chats)) == (6, 6)
    assert kinds(server.chats) == ["prose", "claims"] * 3
    correction = server.chats[2].prompt
    assert WRONG in correction
    assert f'"{WRONG_SALES}" is unsupported' in correction


def test_a_follow_up_is_understood_from_the_conversation_by_one_call_more(server: OllamaServer) -> None:
    talk = [
        {"role": "user", "content": "What were net sales in 2022?"},
        {"role": "assistant", "content": "394 billion."},
    ]
    response = graph(server).invoke({"question": "and in 2023?", "passages": PASSAGES, "messages": talk})
    assert (response["question"], response["answer"]) == ("and in 2023?", RIGHT)
    assert (response["llm_calls"], kinds(server.chats)) == (3, ["question", "prose", "claims"])
    assert f"Question: {QUESTION}" in server.chats[1].prompt


def test_the_environment_names_the_model_and_its_server(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_MODEL", "ollama:llama3.2")
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    monkeypatch.setenv("CRAG_EXTRACTIVE_FALLBACK", "false")
    response = create_graph(Settings(store=None)).compile().invoke({"question": QUESTION, "passages": PASSAGES})
    assert (response["answer"], response["llm_calls"]) == (RIGHT, 1)
    assert [request.model for request in server.chats] == ["llama3.2"]


# -- things go wrong -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", ["", "It all looks fine!", '{"claims": []}', '{"claims": [{"claim": "NaN"}]}'])
def test_a_judge_that_cannot_be_read_is_replaced_by_the_embedded_one_and_it_is_said(
    server: OllamaServer, reply: str
) -> None:
    server.play(script(RIGHT, reply))
    response = ask(server)
    assert response["answer"] == RIGHT
    assert response["models"]["judge"] != "llm"
    assert any("Judge 'llm' failed" in s or "Judge 'auto' failed" in s for s in response["degraded"])
    assert response["llm_calls"] <= 3


def test_a_server_that_dies_during_a_correction_leaves_the_best_answer_so_far(server: OllamaServer) -> None:
    def die(request: Request) -> str:
        if "This answer was checked" not in request.prompt:
            return HALF
        threading.Thread(target=server.stop).start()
        server.stopping.wait(5)
        return RIGHT

    server.play(script(die))
    response = ask(server, {"on_low_confidence": "flag"})
    assert response["answer"] == UNCITED
    assert any("The correction stopped in generate" in sentence for sentence in response["degraded"])


def test_a_model_that_is_not_pulled_is_one_clear_error(server: OllamaServer) -> None:
    with pytest.raises(ModelNotFoundError, match="ollama pull absent"):
        ask(server, model="ollama:absent")
    assert len(server.chats) == 1


def test_the_deadline_ends_the_loop_with_the_best_answer_so_far(server: OllamaServer) -> None:
    server.play(script([HALF, Reply(fault="stall")]))
    response = ask(server, {"deadline_s": 15, "on_low_confidence": "flag"}, timeout_s=600)
    assert response["answer"] == UNCITED
    assert any("deadline" in sentence for sentence in response["degraded"])


# -- many at once ----------------------------------------------------------------------------------------------


def test_many_questions_at_once_never_mix_and_never_exceed_the_bound() -> None:
    def answer(request: Request) -> str:
        number = request.prompt.rpartition("Question: ")[2].split("item ")[1].split("?")[0]
        return f"Item {number} costs {number} euro [1]."

    def judge(request: Request) -> dict[str, Any]:
        text = request.prompt.rpartition("<<claims")[2]
        number = text.split("Item ")[1].split(" ")[0]
        claim = f"Item {number} costs {number} euro"
        return {"claims": [{"n": 1, "status": "SUPPORTED", "evidence": claim, "passage": 1, "reasoning": ""}]}

    with OllamaServer(by_fields({"": answer, "claims": judge}), max_parallel=16) as server:
        one = graph(server, max_concurrency=4)
        inputs = [{"question": f"What costs item {n}?", "passages": [f"Item {n} costs {n} euro."]} for n in range(32)]
        responses = one.batch(inputs, config={"max_concurrency": 32})
        assert server.peak <= 4
    assert [r["answer"] for r in responses] == [f"Item {n} costs {n} euro [1]." for n in range(32)]
    assert {r["llm_calls"] for r in responses} == {2}
    assert all(r["degraded"] == [] for r in responses)
