"""Models that were made to judge, and which judge `auto` takes: their own prompt forms, and what stands in for them."""

import logging
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cragraph.build import Parts
from cragraph.errors import ModelError, SettingsError
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import Settings
from cragraph.verification.claims import split_claims
from cragraph.verification.judges.specialist import SpecialistJudge
from cragraph.verification.result import Verification
from tests.support.ollama import ModelInfo, OllamaServer, Reply, Request

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

PASSAGES = as_passages(["Net sales were $383 billion in 2023.", "The plant in Cork was opened by Mary Byrne."])
TRUE, FALSE = "Mary Byrne opened the plant in Cork.", "Net sales were $390 billion in 2023."
MODELS = ("bespoke-minicheck", "granite3-guardian:2b", "llama3.2")


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer("Yes", models=MODELS) as running:
        yield running


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


def test_guardian_gets_context_and_response_and_no_is_support(server: OllamaServer) -> None:
    server.play(["No", "Yes", "<think></think>\n<score> no </score>"])
    labels = [verified(server, "ollama:granite3-guardian:2b").claims[0]["verdict"] for _ in range(3)]
    assert labels == ["supported", "unsupported", "supported"]
    roles = [message["role"] for message in server.chats[0].messages]
    assert (roles, server.chats[0].messages[0]["content"]) == (["system", "user", "assistant"], "groundedness")


def test_log_probabilities_become_the_support(server: OllamaServer) -> None:
    top = [{"token": " Yes", "logprob": math.log(0.6)}, {"token": "No", "logprob": math.log(0.2)}]
    server.play(Reply("Yes", logprobs=[{"token": "Yes", "logprob": math.log(0.6), "top_logprobs": top}]))
    assert verified(server, "ollama:bespoke-minicheck").claims[0]["support"] == pytest.approx(0.75)


def test_a_figure_that_is_nowhere_is_not_supported_whatever_the_model_says(server: OllamaServer) -> None:
    [claim] = verified(server, "ollama:bespoke-minicheck", FALSE).claims
    assert claim["verdict"] == "contradicted"
    assert "$383 billion in the passage, $390 billion in the claim" in claim["reasoning"]


def test_what_is_neither_yes_nor_no_is_left_to_the_encoder(server: OllamaServer) -> None:
    server.play("I am not sure.")
    found = verified(server, "ollama:bespoke-minicheck")
    assert found.claims[0]["judge"] == "encoder"
    assert "Judge 'ollama:bespoke-minicheck' left 1 claims unjudged; 'encoder' took over." in found.degraded


def test_a_server_that_is_gone_leaves_judging_to_the_encoder_and_the_log_says_so(
    server: OllamaServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.stop()
    with caplog.at_level(logging.WARNING):
        found = verified(server, "ollama:bespoke-minicheck")
    assert found.judge == "encoder"
    assert "cannot be reached" in found.degraded[0]
    assert found.degraded[0] in caplog.text


def test_a_server_that_talks_nonsense_raises(server: OllamaServer) -> None:
    server.play(Reply(status=500, error="broken"))
    with pytest.raises(ModelError):
        SpecialistJudge("bespoke-minicheck", server.url)(split_claims(TRUE), PASSAGES, Notes())


def test_a_chat_model_is_no_specialist(server: OllamaServer) -> None:
    with pytest.raises(SettingsError, match=r"CRAG_JUDGE_MODEL=ollama:llama3\.2"):
        verified(server, "ollama:llama3.2")


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


def test_an_entailment_model_comes_first_and_the_chat_model_second(
    server: OllamaServer, build: Callable[..., Path]
) -> None:
    settings: dict[str, Any] = {"store": None, "ollama_host": server.url, "nli_model": build()}
    for model in (None, "ollama:llama3.2"):
        parts = Parts(Settings(**settings, model=model))
        assert parts.judges["auto"].name == "nli"
        assert (parts.verifier.model is not None) is (model is not None)
    assert Parts(Settings(store=None)).judges["auto"].name == "encoder"


def test_cascade_is_another_name_for_auto_and_wants_a_chat_model(server: OllamaServer) -> None:
    server.play(rows)
    judges = Parts(Settings(store=None, ollama_host=server.url, model="ollama:llama3.2")).judges
    assert judges["cascade"] is judges["auto"]
    assert verified(server, "cascade", model="ollama:llama3.2").judge == "llm"
    with pytest.raises(SettingsError, match="'cascade' needs a chat model"):
        verified(server, "cascade")
