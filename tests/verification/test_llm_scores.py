"""Scores of a whole answer by a chat model."""

import pytest

from cragraph import load_settings
from cragraph.build import Parts
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from tests.support.fixtures import served
from tests.support.ollama import ModelInfo, OllamaServer

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]


server = served({"reasoning": "r", "score": 0.85})


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
