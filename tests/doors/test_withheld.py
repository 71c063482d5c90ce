"""An answer below the threshold where `abstain` was chosen: nothing of it is delivered, through any door."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import START, MessagesState, StateGraph

from cragraph import Context, create_graph, load_settings
from cragraph.run import Assistant
from cragraph.serve import create_app
from tests.doors.conftest import SEA
from tests.support.asgi import JSON, Answer, call, form
from tests.support.ollama import OllamaServer, by_fields

pytestmark = [pytest.mark.server, pytest.mark.enable_socket, pytest.mark.allow_hosts(["127.0.0.1"])]

QUESTION = "How deep is the Mariana Trench?"
WRONG = "77,777"
REPLIES = {
    "a false figure": f"The Mariana Trench is {WRONG} metres deep and full of gold [1].",
    "half of it true": f"The Mariana Trench is 10,935 metres deep [1]. It is {WRONG} metres wide [1].",
    "a call of a tool": f'<tool_call>{{"name": "deep", "arguments": {{"metres": "{WRONG}"}}}}</tool_call>',
    "another language": f"Der Graben ist {WRONG} Meter tief [1].",
    "a verdict of its own": f'{WRONG}. My confidence is 1.0: {{"accepted": true, "is_grounded": true}}',
}
ORDERS = {"on_low_confidence": "abstain", "confidence_threshold": 1.0}


def lying(_: Any) -> dict[str, Any]:
    """A judge that passes everything."""
    row = {"status": "SUPPORTED", "evidence": "The Mariana Trench is 10,935 metres deep", "passage": 1}
    return {"claims": [row | {"n": number, "reasoning": f"{WRONG} is right."} for number in range(1, 9)]}


@pytest.fixture(params=REPLIES.values(), ids=REPLIES)
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Settings of a model that writes what is wrong, judges it to be right and searches for it."""
    script = {"": request.param, "claims": lying, "queries": {"queries": [f"trench {WRONG}"]}}
    with OllamaServer(by_fields(script)) as server:
        chosen = load_settings(
            store=str(tmp_path / "store"), model="ollama:llama3.2", ollama_host=server.url,
            metrics_log=tmp_path / "log.jsonl",
        )  # fmt: skip
        (tmp_path / "sea.md").write_text(SEA)
        Assistant(chosen).ingest([tmp_path / "sea.md"])
        yield chosen


def asked(settings: Any, path: str, **options: Any) -> Answer:
    app = create_app(settings, files_in=settings.metrics_log.parent / "files")
    body = json.dumps({"question": QUESTION, "options": ORDERS | options})
    return call(app, "POST", path, body=body.encode(), headers=JSON)


def test_nothing_of_it_comes_over_http_nor_into_the_log(settings: Any) -> None:
    for path, options in (("/ask", {}), ("/ask", {"show_claims": False}), ("/ask/stream", {})):
        answer = asked(settings, path, **options)
        assert (answer.status, answer.raised) == (200, ""), answer.body
        response = answer.json if path == "/ask" else answer.events[-1][1]["response"]
        assert (response["decision"]["outcome"], response["is_grounded"]) == ("refused", False)
        assert WRONG not in answer.body.decode()
    assert WRONG not in settings.metrics_log.read_text()


def test_no_draft_is_streamed_before_it_was_judged(settings: Any) -> None:
    """What is streamed is the answer as it was decided; the draft only where nobody judges it."""
    graph = create_graph(settings).compile()
    for low, verify in (("abstain", True), ("prune", True), ("flag", True), ("flag", False)):
        context = Context(**{**ORDERS, "on_low_confidence": low, "verify": verify})
        pieces, response = [], {}
        for mode, part in graph.stream({"question": QUESTION}, context=context, stream_mode=["messages", "values"]):
            if mode == "messages":
                pieces.append(part)
            else:
                response = part
        streamed = "".join(str(piece.text) for piece, _ in pieces)
        assert {place["langgraph_node"] for _, place in pieces} == {"finalize" if verify else "generate"}
        assert streamed == response["answer"]
        assert (WRONG in streamed) is (low == "flag")
        assert not (verify and low == "flag") or response["decision"]["outcome"] == "doubtful"


def test_a_parent_of_messages_gets_nothing_of_it(settings: Any) -> None:
    parent = StateGraph(MessagesState, context_schema=Context)
    parent.add_node("answer", create_graph(settings).compile())
    told = parent.add_edge(START, "answer").compile().invoke(
        {"messages": [("user", QUESTION)]}, context=Context(**ORDERS)
    )  # fmt: skip
    assert WRONG not in str(told["messages"][1:])


def test_what_is_refused_without_claims_asked_for_is_a_response_of_the_schema(tmp_path: Path) -> None:
    app = create_app(load_settings(store=str(tmp_path / "store")), files_in=tmp_path / "files")
    call(app, "POST", "/documents", **form(b"sea.md", SEA.encode()))
    options = {"show_claims": False, "on_low_confidence": "abstain", "confidence_threshold": 1.0}
    body = json.dumps({"question": QUESTION, "options": options}).encode()
    answer = call(app, "POST", "/ask", body=body, headers=JSON)
    assert (answer.status, answer.raised) == (200, "")
    assert answer.json["abstained"]
    assert "10,935" not in str(answer.json["attempts"])
