"""A real model behind a server of one's own: `make test-model`, by default Qwen2.5-Coder 0.5B on this machine's Ollama.

    make test-model MODEL_SERVER=http://127.0.0.1:11435 MODEL=ollama:qwen2.5-coder:1.5b

A small one answers badly; what is tested of any is that all it does is read, bounded and said, and of one that follows
instructions that plain facts come out right. OPENAI_SERVER is the address of a server that speaks OpenAI's protocol,
such as llama.cpp's http://127.0.0.1:8080/v1.
"""

import json
import os
import urllib.request
from functools import cache
from typing import Any

import pytest

from cragraph import Context, create_graph, load_settings
from cragraph.answers.chat_answerer import EXAMPLE
from cragraph.types import IDK

SERVER = os.environ.get("MODEL_SERVER", "")
MODEL = os.environ.get("MODEL", "") or "ollama:qwen2.5-coder:0.5b"
OPENAI = os.environ.get("OPENAI_SERVER", "")
FOLLOWS = "qwen" in MODEL  # whether it mostly does what it is told

pytestmark = [
    pytest.mark.slow,
    pytest.mark.enable_socket,
    pytest.mark.timeout(900),
]

PASSAGES = [
    "The Freedonia bridge is 412 metres long. It was opened in 1931 by the mayor.",
    "The tower stands in Paris. It was built in 1889 by a company of engineers.",
    "Dogs are not allowed in the reading room. The library closes at six on Saturdays.",
]
FACTS = [
    ("How long is the Freedonia bridge?", "412"),
    ("When was the tower in Paris built?", "1889"),
    ("When does the library close on Saturdays?", "six"),
]


@cache
def missing() -> str:
    """Why no test with the model can run; empty where it is there."""
    if not SERVER:
        return "no real model: run `make test-model`, or set MODEL_SERVER to a server's address and MODEL to its model"
    try:
        with urllib.request.urlopen(f"{SERVER}/api/tags", timeout=5) as reply:
            names = [row["name"] for row in json.load(reply)["models"]]
    except (OSError, ValueError, KeyError) as error:
        return f"no server of Ollama's protocol at {SERVER} ({error})"
    wanted = MODEL.removeprefix("ollama:")
    return "" if {wanted, f"{wanted}:latest"} & {*names} else f"{SERVER} has no {wanted}; it has {', '.join(names)}"


@pytest.fixture
def model() -> str:
    if why := missing():
        pytest.skip(why)
    return MODEL


def asked(model: str, question: str, *, judge: str = "auto", **options: Any) -> dict[str, Any]:
    # Where a small model is used, what can be quoted is, before it is asked; here it is the model that is tested.
    chosen = {"model": model, "base_url": SERVER, "timeout_s": 600, "judge": judge, "extractive_fallback": False}
    settings = load_settings(store=None, **chosen)
    given = {"question": question, "passages": PASSAGES}
    context = Context(show_claims=True, on_low_confidence="flag", **options)
    response: dict[str, Any] = create_graph(settings).compile().invoke(given, context=context)
    return response


@pytest.mark.parametrize("question", ["How long is the Freedonia bridge?", "Who built the moon?"])
def test_a_run_ends_with_a_response_whose_every_verdict_was_read(model: str, question: str) -> None:
    response = asked(model, question, judge="llm", max_crag_attempts=1)
    assert response["answer"]
    assert len(response["answer"]) < 3000
    assert not any(echo in response["answer"] for echo in ("<<", "Code:", "Faults in it", EXAMPLE))
    assert not any("could not be read" in sentence for sentence in response["degraded"]), response["degraded"]
    assert response["llm_calls"] <= 6


@pytest.mark.skipif(not FOLLOWS, reason=f"{MODEL} is not expected to do what it is told")
def test_plain_facts_that_are_accepted_are_right_and_cited_in_a_call_or_two(model: str) -> None:
    responses = [(asked(model, question), figure) for question, figure in FACTS]
    taken = [(response, figure) for response, figure in responses if response["accepted"]]
    # A model of half a billion may get one of them wrong; then it must not be accepted, nor cited.
    assert len(taken) >= len(FACTS) - ("0.5b" in MODEL)
    assert all(response["citations"] == [] for response, _ in responses if not response["accepted"])
    for response, figure in taken:
        assert figure in response["answer"]
        assert [citation["number"] for citation in response["citations"]]
        assert response["llm_calls"] <= 2
        assert response["tokens"]["read"] <= 600 * response["llm_calls"]


@pytest.mark.skipif(not FOLLOWS, reason=f"{MODEL} is not expected to do what it is told")
def test_what_no_passage_says_is_not_known(model: str) -> None:
    response = asked(model, "What does a ticket for the opera cost?")
    assert response["answer"] == IDK or not response["accepted"]


@pytest.mark.skipif(not OPENAI, reason="no server of OpenAI's protocol: set OPENAI_SERVER to its address")
@pytest.mark.parametrize("judge", ["encoder", "llm"])
def test_a_server_of_openais_protocol_writes_and_judges_without_a_key(
    judge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("langchain_openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    settings = load_settings(store=None, model="openai:local", base_url=OPENAI, timeout_s=600, judge=judge)
    options = Context(show_claims=True, max_crag_attempts=0, on_low_confidence="flag")
    given = {"question": "How long is the Freedonia bridge?", "passages": PASSAGES}
    response = create_graph(settings).compile().invoke(given, context=options)
    assert 0 < len(response["answer"]) < 3000
    assert response["models"]["generator"] == "openai:local"
    assert response["tokens"]["read"] > 200
    assert response["llm_calls"] <= (2 if judge == "encoder" else 5)
    assert not any("could not be read" in sentence for sentence in response["degraded"]), response["degraded"]
