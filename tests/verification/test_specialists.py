"""Models that were made to judge, and which judge `auto` takes: their own prompt forms, and what stands in for them."""

import logging
from typing import Any

import pytest

from cragraph.build import Parts
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import Settings
from cragraph.verification.result import Verification
from tests.support.fixtures import served
from tests.support.ollama import ModelInfo, OllamaServer, Request

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

PASSAGES = as_passages(["Net sales were $383 billion in 2023.", "The plant in Cork was opened by Mary Byrne."])
TRUE, FALSE = "Mary Byrne opened the plant in Cork.", "Net sales were $390 billion in 2023."
MODELS = ("bespoke-minicheck", "granite3-guardian:2b", "llama3.2")


server = served("Yes", models=MODELS)


def verified(server: OllamaServer, judge: str, answer: str = TRUE, **settings: Any) -> Verification:
    given = Settings(store=None, ollama_host=server.url, judge=judge, **settings)  # type: ignore[arg-type]
    return Parts(given).verifier("", answer, PASSAGES, Notes(), judge=judge)


def test_minicheck_gets_document_and_claim_and_yes_is_support(server: OllamaServer) -> None:
    found = verified(server, "ollama:bespoke-minicheck")
    assert (found.judge, found.claims[0]["verdict"], found.claims[0]["support"]) == (
        "ollama:bespoke-minicheck",
        "supported",
        1.0,
    )
    [asked] = server.chats
    document = "\n\n".join(passage["text"] for passage in PASSAGES)
    assert asked.messages == [{"role": "user", "content": f"Document: {document}\nClaim: {TRUE}"}]
    assert asked.options["temperature"] == 0.0


def test_a_server_that_is_gone_leaves_judging_to_the_encoder_and_the_log_says_so(
    server: OllamaServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.stop()
    with caplog.at_level(logging.WARNING):
        found = verified(server, "ollama:bespoke-minicheck")
    assert found.judge == "encoder"
    assert "cannot be reached" in found.degraded[0]
    assert found.degraded[0] in caplog.text


# -- which judge `auto` takes ----------------------------------------------------------------------------------


def rows(request: Request) -> dict[str, Any]:
    return {"claims": [{"n": 1, "status": "SUPPORTED", "evidence": "opened by Mary Byrne", "passage": 2}]}


@pytest.mark.parametrize(
    ("size", "judge"), [("1.2B", "encoder"), ("494.03M", "encoder"), ("3.2B", "llm"), ("70B", "llm")]
)
def test_a_model_too_small_to_judge_leaves_that_to_the_encoder(size: str, judge: str) -> None:
    with OllamaServer(rows, models={"tiny": ModelInfo(parameter_size=size)}) as server:
        found = verified(server, "auto", model="ollama:tiny")
        assert found.judge == judge
        assert len(server.chats) == (judge == "llm")
        assert not found.degraded
        assert verified(server, "llm", model="ollama:tiny").judge == "llm"
