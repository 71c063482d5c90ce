"""The test server must behave as Ollama does, or tests over it prove nothing."""

import json
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from threading import Event

import httpx
import pytest
from langchain_ollama import ChatOllama, OllamaEmbeddings

from tests.support.ollama import ModelInfo, OllamaServer, Reply, Request, by_fields, by_pattern

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


async def test_the_real_async_client_streams_token_by_token() -> None:
    with OllamaServer("one two three") as server:
        pieces = [chunk.content async for chunk in chat(server).astream("hi")]
    assert [p for p in pieces if p] == ["one", " two", " three"]


def test_without_streaming_one_json_object_comes() -> None:
    with OllamaServer("whole") as server:
        body = post(server, "/api/chat", model="llama3.2", messages=[], stream=False).json()
    assert (body["message"]["content"], body["done"]) == ("whole", True)


@pytest.mark.parametrize("cut", [1, 2, 3, 7])
def test_a_stream_cut_at_any_byte_is_read_whole_even_inside_a_character(cut: int) -> None:
    with OllamaServer(Reply("naïve 日本 😀 ok", cut=cut)) as server:
        assert chat(server).invoke("hi").content == "naïve 日本 😀 ok"


def test_every_request_is_remembered_with_what_was_asked_of_the_model() -> None:
    with OllamaServer("x") as server:
        chat(server, num_ctx=999, seed=3, temperature=0.5, keep_alive="1h", format="json").invoke(
            [("human", "hi there")]
        )
        request = server.chats[0]
    assert request.options == {"num_ctx": 999, "seed": 3, "temperature": 0.5}
    assert (request.format, request.body["keep_alive"], request.prompt) == ("json", "1h", "hi there")


def test_a_mapping_is_conformed_to_the_schema_as_constrained_decoding_does() -> None:
    with OllamaServer({"score": 0.5, "chatter": "x"}) as server:
        content = chat(server, format=SCHEMA).invoke("rate").content
    assert json.loads(str(content)) == {"score": 0.5, "label": "a"}


def test_text_is_sent_as_it_is_so_that_a_model_can_ignore_the_schema() -> None:
    with OllamaServer("I would say 5.") as server:
        assert chat(server, format=SCHEMA).invoke("rate").content == "I would say 5."


def test_num_predict_cuts_the_answer_and_says_length() -> None:
    with OllamaServer("a b c d e f") as server:
        message = chat(server, num_predict=3).invoke("hi")
    assert (message.content, message.response_metadata["done_reason"]) == ("a b c", "length")


def test_a_prompt_beyond_num_ctx_loses_its_beginning_silently() -> None:
    prompt = "filler " * 10 + "RULES " + "filler " * 3000 + "QUESTION"
    with OllamaServer("fine") as server:
        assert chat(server, num_ctx=512).invoke(prompt).content == "fine"
        request = server.chats[0]
    assert request.truncated
    assert request.prompt_tokens <= 512
    assert "QUESTION" in request.seen
    assert "RULES" not in request.seen


def test_old_messages_go_before_the_system_message_does() -> None:
    messages = [("system", "RULES"), ("human", "old " * 600), ("ai", "older " * 600), ("human", "QUESTION")]
    with OllamaServer("fine") as server:
        chat(server, num_ctx=256).invoke(messages)
        seen = server.chats[0].seen
    assert "RULES" in seen
    assert "QUESTION" in seen
    assert "old" not in seen


@pytest.mark.parametrize(
    ("think", "content", "thought"),
    [(False, "done", None), (True, "done", "hmm"), (None, "<think>\nhmm\n</think>\n\ndone", None)],
)
def test_thinking_goes_where_the_think_field_says(think: bool | None, content: str, thought: str | None) -> None:
    models = {"llama3.2": ModelInfo(capabilities=("completion", "thinking"))}
    with OllamaServer(Reply("done", thinking="hmm"), models=models) as server:
        message = chat(server, reasoning=think).invoke("hi")
    assert message.content == content
    assert message.additional_kwargs.get("reasoning_content") == thought


def test_a_model_that_cannot_think_refuses_to() -> None:
    with OllamaServer("x") as server:
        answer = post(server, "/api/chat", model="llama3.2", messages=[], think=True)
    assert (answer.status_code, answer.json()) == (400, {"error": '"llama3.2" does not support thinking'})


@pytest.mark.parametrize("path", ["/api/chat", "/api/embed", "/api/show"])
def test_a_model_that_is_not_pulled_is_a_404_in_ollamas_words(path: str) -> None:
    with OllamaServer() as server:
        answer = post(server, path, model="absent", messages=[], input="x")
    assert (answer.status_code, answer.json()) == (404, {"error": "model 'absent' not found"})


def test_version_tags_and_show_answer() -> None:
    with OllamaServer(models={"llama3.2": ModelInfo(context_length=4096)}) as server:
        assert "version" in httpx.get(server.url + "/api/version").json()
        assert [m["name"] for m in httpx.get(server.url + "/api/tags").json()["models"]] == ["llama3.2:latest"]
        shown = post(server, "/api/show", model="llama3.2:latest").json()
    assert shown["model_info"]["llama.context_length"] == 4096


def test_the_real_embeddings_client_gets_the_same_unit_vector_for_the_same_text() -> None:
    with OllamaServer() as server:
        client = OllamaEmbeddings(
            model="nomic-embed-text",
            base_url=server.url,
            client_kwargs={"limits": httpx.Limits(max_keepalive_connections=0)},
        )
        one, two, other = client.embed_documents(["red apple", "red apple", "blue sky"])
    assert one == two
    assert sum(x * y for x, y in zip(one, other, strict=True)) < sum(x * x for x in one) == pytest.approx(1.0)


def test_scripts_can_go_by_order_by_pattern_and_by_schema() -> None:
    with OllamaServer(["first", "second"]) as server:
        assert [chat(server).invoke("hi").content for _ in range(2)] == ["first", "second"]
        assert post(server, "/api/chat", model="llama3.2", messages=[]).status_code == 500
        server.play(by_pattern({"capital": "Paris", ".": "no idea"}))
        assert [chat(server).invoke(q).content for q in ("the capital?", "else")] == ["Paris", "no idea"]
        server.play(by_fields({"score": '{"score": 1}', "": "prose"}))
        assert [chat(server, format=f).invoke("x").content for f in (SCHEMA, None)] == ['{"score": 1}', "prose"]


def test_speeds_are_simulated_for_prompt_and_answer() -> None:
    with OllamaServer("a b c d e f g h i j", tokens_per_s=100, ms_per_prompt_token=5) as server:
        begun = time.monotonic()
        chat(server).invoke("one two three four")
        taken = time.monotonic() - begun
        tokens = server.chats[0].prompt_tokens
    assert taken >= tokens * 0.005 + 0.1


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


def test_a_caller_that_hangs_up_is_noticed() -> None:
    with OllamaServer(Reply("la ", fault="endless")) as server:
        stream = chat(server).stream("hi")
        assert next(stream).content
        stream.close()
        while not server.chats[0].broken:
            time.sleep(0.01)


def test_a_server_dies_and_returns_on_the_same_port() -> None:
    with OllamaServer("back") as server:
        url = server.url
        server.stop()
        with pytest.raises(httpx.ConnectError):
            chat(server).invoke("hi")
        server.start()
        assert (server.url, chat(server).invoke("hi").content) == (url, "back")


def test_dying_breaks_the_streams_that_are_open() -> None:
    with OllamaServer(Reply("la ", fault="endless"), tokens_per_s=50) as server:
        stream = chat(server).stream("hi")
        next(stream)
        server.stop()
        with pytest.raises(httpx.TransportError):
            list(stream)
