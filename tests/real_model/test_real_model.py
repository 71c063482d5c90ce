"""A real small model behind a server of one's own: `make test-model MODEL_SERVER=http://127.0.0.1:11434`.

It answers badly; what is tested is that all it does is read, bounded and said. OPENAI_SERVER is the address of one that
speaks OpenAI's protocol, such as llama.cpp's http://127.0.0.1:8080/v1.
"""

import os

import pytest

from cragraph import Context, create_graph, load_settings

SERVER = os.environ.get("MODEL_SERVER", "")
MODEL = os.environ.get("MODEL", "ollama:smollm2:135m")
OPENAI = os.environ.get("OPENAI_SERVER", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.enable_socket,
    pytest.mark.timeout(900),
]

PASSAGES = [
    "The Freedonia bridge is 412 metres long. It was opened in 1931 by the mayor.",
    "The tower stands in Paris. It was built in 1889 by a company of engineers.",
]


@pytest.mark.skipif(not SERVER, reason="no real model: set MODEL_SERVER to its address, and MODEL to its name")
@pytest.mark.parametrize("question", ["How long is the Freedonia bridge?", "Who built the moon?"])
def test_a_run_ends_with_a_response_whose_every_verdict_was_read(question: str) -> None:
    settings = load_settings(store=None, model=MODEL, base_url=SERVER, timeout_s=600, judge="llm")
    response = (
        create_graph(settings)
        .compile()
        .invoke(
            {"question": question, "passages": PASSAGES},
            context=Context(show_claims=True, max_crag_attempts=1, on_low_confidence="flag"),
        )
    )
    assert response["answer"]
    assert len(response["answer"]) < 3000
    assert not any(echo in response["answer"] for echo in ("<<", "Code:", "Faults in it"))
    assert not any("could not be read" in sentence for sentence in response["degraded"]), response["degraded"]
    assert response["llm_calls"] <= 6


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
