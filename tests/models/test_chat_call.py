"""Nothing that a model or its server does may hang, flood or break a run."""

import asyncio
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel

from cragraph.errors import DeadlineError, ModelError, ModelStalledError, ModelUnavailableError
from cragraph.graph.context import Context
from cragraph.models import http
from cragraph.models.chat import ChatCaller, Gate, stop_all_calls
from cragraph.models.servers import chat_model
from cragraph.protocols import Notes, deadline
from cragraph.run import _OPEN, streamed
from tests.support.fixtures import served
from tests.support.ollama import ModelInfo, OllamaServer, Reply

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

ASK = [("system", "Be brief."), ("human", "hi")]


server = served("fine")


def caller(server: OllamaServer, model: str = "llama3.2", num_predict: int = 1024, **limits: Any) -> ChatCaller:
    built = chat_model(f"ollama:{model}", base_url=server.url, num_predict=num_predict, timeout_s=5)
    return ChatCaller(built, f"ollama:{model}", **{"backoff_s": 0.01, "timeout_s": 5.0} | limits)


@pytest.mark.parametrize(
    "fault",
    [
        Reply("a b c", fault="reset", after=1),
        Reply("a b c", fault="garbage", after=1),
        Reply("a b c", fault="unfinished", after=1),
        Reply("a b c", error="llama runner process has terminated", after=1),
        Reply(status=500, error="out of memory"),
        Reply(status=503, error="server busy"),
        Reply(status=429, error="too many requests"),
    ],
    ids=["reset", "garbage", "unfinished", "error in mid-stream", "500", "503", "429"],
)
def test_a_transient_fault_is_tried_again_counted_and_said(server: OllamaServer, fault: Reply) -> None:
    server.play([fault, "fine"])
    notes = Notes()
    assert caller(server)(ASK, notes).text == "fine"
    assert notes.calls == 2
    assert notes.sentences[0].startswith("A call to ollama:llama3.2 was tried again: ")


@pytest.mark.parametrize("after", [0, 2], ids=["before the first token", "in mid-stream"])
def test_a_stall_ends_after_the_timeout_and_is_not_tried_again(server: OllamaServer, after: int) -> None:
    server.play(Reply("a b c", fault="stall", after=after))
    with pytest.raises(ModelStalledError, match=r"sent nothing for 0.3 s"):
        caller(server, timeout_s=0.3)(ASK, Notes())
    assert len(server.chats) == 1


def test_endless_output_is_cut_at_the_character_cap_and_the_server_is_hung_up_on(server: OllamaServer) -> None:
    server.play(Reply("la ", fault="endless"))
    notes = Notes()
    reply = caller(server, num_predict=-1, max_chars=100)(ASK, notes)
    assert (len(reply.text) <= 100, reply.cut) == (True, True)
    assert notes.sentences == ["ollama:llama3.2 wrote more than 100 characters; the rest was cut off."]
    while not server.chats[0].broken:
        time.sleep(0.01)


def test_the_deadline_of_the_run_ends_a_call(server: OllamaServer) -> None:
    server.play(Reply("a", fault="stall"))
    with deadline(0.2), pytest.raises(DeadlineError, match="deadline passed"):
        caller(server, timeout_s=600)(ASK, Notes())


def test_stopping_ends_running_and_waiting_calls_at_once(server: OllamaServer) -> None:
    server.play(Reply("a", fault="stall"))
    gate = Gate(1)
    one = caller(server, gate=gate, timeout_s=600)

    def call() -> str:
        try:
            return one(ASK, Notes()).text
        except ModelError as error:
            return str(error)

    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(call) for _ in range(3)]
        while len(gate._running) < 3 or not server.chats:
            time.sleep(0.01)
        stop_all_calls()
        assert {future.result() for future in futures} == {"the call to ollama:llama3.2 was stopped."}


def test_no_more_calls_begin_in_a_minute_than_were_asked_for(server: OllamaServer) -> None:
    limited, begun = caller(server, gate=Gate(4, per_minute=600)), time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: limited(ASK, Notes()), range(4)))
    assert time.monotonic() - begun >= 0.3


def test_a_forked_child_can_call_too(server: OllamaServer) -> None:
    one = caller(server)
    assert one(ASK, Notes()).text == "fine"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        os._exit(one(ASK, Notes()).text != "fine")
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    ("error", "kind"), [(ConnectionError("gone"), ModelUnavailableError), (KeyError("choices"), ModelError)]
)
def test_what_another_providers_client_raises_becomes_one_of_our_errors(error: Exception, kind: type) -> None:
    class Broken(GenericFakeChatModel):
        def _stream(self, *args: Any, **kwargs: Any) -> Iterator[Any]:
            raise error

    with pytest.raises(kind, match=type(error).__name__):
        ChatCaller(Broken(messages=iter([])), "acme:model", retries=0)(ASK, Notes())


def test_a_reply_in_circles_is_stopped_and_said(server: OllamaServer) -> None:
    server.play(Reply("The same sentence comes once more, and again. ", fault="endless"))
    notes = Notes()
    reply = caller(server, num_predict=-1)(ASK, notes, quiet=False)
    assert (reply.text, reply.cut) == ("The same sentence comes once more, and again.", True)
    assert notes.sentences == ["ollama:llama3.2 repeated itself and was stopped."]


def test_a_prompt_that_the_server_did_not_read_whole_is_said(server: OllamaServer) -> None:
    server.models["llama3.2"] = ModelInfo(context_length=200)
    server.play("Yes.")
    notes = Notes()
    model = chat_model("ollama:llama3.2", base_url=server.url, num_ctx=1024, num_predict=64)
    reply = ChatCaller(model, "ollama:llama3.2")([("human", "seven words of a prompt " * 160)], notes)
    assert reply.unread
    assert re.search(r"read \d+ of about 800 tokens of the prompt", notes.sentences[0])


# -- what is dropped and collected in the thread that calls models ---------------------------------------------


def _in_the_loop(act: Callable[[], Any]) -> Any:
    async def acting() -> Any:
        return act()

    async def nothing() -> None: ...

    http.run(nothing())  # so that there is a loop
    return asyncio.run_coroutine_threadsafe(acting(), http._LOOPS[os.getpid()]).result(60)


def test_a_dropped_run_that_is_collected_in_the_loops_thread_holds_up_no_call(server: OllamaServer) -> None:
    said: list[str] = []

    class Graph:
        """Its stream, closed early, waits for the node that runs, as LangGraph's does."""

        def stream(self, *_: Any, **__: Any) -> Iterator[tuple[str, Any]]:
            try:
                yield "values", {}
            finally:
                with ThreadPoolExecutor(1) as pool:
                    said.append(pool.submit(caller(server), ASK, Notes()).result(timeout=30).text)

    dropped = streamed(Graph(), {}, Context())
    assert next(dropped) == ("state", {})
    _in_the_loop(dropped.close)  # as the collector would
    until = time.monotonic() + 30
    while _OPEN and time.monotonic() < until:
        time.sleep(0.01)
    assert (said, _OPEN) == (["fine"], set())


def test_a_call_that_the_loop_itself_waits_for_is_given_up_and_the_loop_goes_on(
    server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "HELD_UP_S", 0.2)

    def hold_up() -> BaseException | None:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(caller(server), ASK, Notes()).exception(timeout=30)

    assert "held up" in str(_in_the_loop(hold_up))
    assert caller(server)(ASK, Notes()).text == "fine"
