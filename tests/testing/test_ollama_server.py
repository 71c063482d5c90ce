"""The test server must behave as Ollama does, or tests over it prove nothing."""

from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from threading import Event

import httpx
import pytest
from langchain_ollama import ChatOllama

from tests.support.ollama import OllamaServer, Reply, Request, by_fields, by_pattern

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}, "label": {"type": "string", "enum": ["a", "b"]}},
    "required": ["score", "label"],
}


def chat(server: OllamaServer, **options: object) -> ChatOllama:
    return ChatOllama(
        model="llama3.2",
        base_url=server.url,
        client_kwargs={"limits": httpx.Limits(max_keepalive_connections=0)},
        **options,
    )


def post(server: OllamaServer, path: str, **body: object) -> httpx.Response:
    return httpx.post(server.url + path, json=body, timeout=300)


def test_the_real_client_reads_an_answer_and_its_counts() -> None:
    with OllamaServer("Paris [1].") as server:
        message = chat(server).invoke("What is the capital of France?")
    assert message.content == "Paris [1]."
    assert message.response_metadata["done_reason"] == "stop"
    assert message.usage_metadata is not None
    assert message.usage_metadata["input_tokens"] > 5


def test_a_prompt_beyond_num_ctx_loses_its_beginning_silently() -> None:
    prompt = "filler " * 10 + "RULES " + "filler " * 3000 + "QUESTION"
    with OllamaServer("fine") as server:
        assert chat(server, num_ctx=512).invoke(prompt).content == "fine"
        request = server.chats[0]
    assert request.truncated
    assert request.prompt_tokens <= 512
    assert "QUESTION" in request.seen
    assert "RULES" not in request.seen


def test_scripts_can_go_by_order_by_pattern_and_by_schema() -> None:
    with OllamaServer(["first", "second"]) as server:
        assert [chat(server).invoke("hi").content for _ in range(2)] == ["first", "second"]
        assert post(server, "/api/chat", model="llama3.2", messages=[]).status_code == 500
        server.play(by_pattern({"capital": "Paris", ".": "no idea"}))
        assert [chat(server).invoke(q).content for q in ("the capital?", "else")] == ["Paris", "no idea"]
        server.play(by_fields({"score": '{"score": 1}', "": "prose"}))
        assert [chat(server, format=f).invoke("x").content for f in (SCHEMA, None)] == ['{"score": 1}', "prose"]


def test_requests_beyond_max_parallel_wait_and_beyond_the_queue_are_refused() -> None:
    enough = Event()

    def held(request: Request) -> Reply:
        enough.wait(60)
        return Reply("x")

    with OllamaServer(held, max_parallel=2, max_queue=2) as server, ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(post, server, "/api/chat", model="llama3.2", messages=[], stream=False) for _ in range(6)]
        try:
            refused = [done.result().status_code for done in islice(as_completed(asked, timeout=60), 2)]
        finally:
            enough.set()
        assert refused == [503, 503]
        assert sorted(done.result().status_code for done in asked) == [200, 200, 200, 200, 503, 503]
    assert server.peak == 2


def test_a_server_dies_and_returns_on_the_same_port() -> None:
    with OllamaServer("back") as server:
        url = server.url
        server.stop()
        with pytest.raises(httpx.ConnectError):
            chat(server).invoke("hi")
        server.start()
        assert (server.url, chat(server).invoke("hi").content) == (url, "back")
