"""Scores of a whole answer by a chat model."""

from collections.abc import Iterator

import pytest

from cragraph import load_settings
from cragraph.build import Parts
from cragraph.errors import ModelError
from cragraph.models.chat import ChatCaller
from cragraph.models.servers import chat_model
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.verification.chat_checks import LLMScorer, LLMScores
from tests.support.ollama import ModelInfo, OllamaServer

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]

PASSAGES = as_passages([f"Passage number {n}." for n in range(1, 9)])


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer({"reasoning": "r", "score": 0.85}) as running:
        yield running


def scores(server: OllamaServer) -> LLMScores:
    return LLMScores(ChatCaller(chat_model("ollama:llama3.2", base_url=server.url), backoff_s=0.01))


def test_alignment_is_scored_over_the_top_five_passages(server: OllamaServer) -> None:
    notes = Notes()
    assert LLMScorer(scores(server).alignment, "model")("q?", "a", PASSAGES, notes) == 0.85
    assert "Passage number 5." in server.chats[0].prompt
    assert "Passage number 6." not in server.chats[0].prompt
    assert notes.calls == 1


@pytest.mark.parametrize(
    ("reply", "score"), [("0.4", 0.4), ("4/10", 0.4), ('{"score": 40}', 0.4), ('{"score": -3}', 0.0)]
)
def test_consistency_is_read_on_any_scale(server: OllamaServer, reply: str, score: float) -> None:
    server.play(reply)
    assert scores(server).consistency("It rose. It fell.", ["It rose."], Notes()) == pytest.approx(score)
    assert "- It rose." in server.chats[0].prompt


@pytest.mark.parametrize("reply", ['{"score": NaN}', "fine", ""])
def test_a_score_that_cannot_be_read_raises(server: OllamaServer, reply: str) -> None:
    server.play(reply)
    with pytest.raises(ModelError):
        scores(server).alignment("q", "a", PASSAGES, Notes())


@pytest.mark.parametrize(("size", "asked"), [("1.5B", 0), ("8.0B", 1), ("", 1)])
def test_a_small_models_score_is_measured_instead_and_that_is_said(size: str, asked: int) -> None:
    answer = "The shop opens at nine."
    with OllamaServer({"score": 0.3}, models={"llama3.2": ModelInfo(parameter_size=size)}) as server:
        settings = load_settings(store=None, model="ollama:llama3.2", ollama_host=server.url, judge="encoder")
        checked = Parts(settings).verifier(
            "When does it open?", answer, as_passages([answer]), notes := Notes(), judge="encoder", policy="weighted"
        )
    assert len(server.chats) == asked
    assert (checked.signals["alignment"] == 0.3) is bool(asked)
    told = "its verdicts say too little (by the size of the model)" in " ".join(notes.sentences)
    assert told is not bool(asked)
