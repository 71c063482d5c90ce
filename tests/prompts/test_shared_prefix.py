"""The server reads the passages once: every call of a run on them begins with the same words."""

import os

import pytest

from cragraph import create_graph, load_settings
from tests.support.ollama import OllamaServer, by_fields

TRUE = "The tower is 300 metres tall."
PASSAGES = [TRUE, "The tower stands in Paris. It was built in 1889 by a company of engineers."]


@pytest.mark.enable_socket
@pytest.mark.server
def test_writing_judging_and_correcting_share_all_up_to_the_last_passage() -> None:
    row = {"n": 1, "claim": "It is 330 metres tall", "status": "UNSUPPORTED", "evidence": "", "passage": 0}
    with OllamaServer(by_fields({"": "It is 330 metres tall [1].", "claims": {"claims": [row]}})) as server:
        own = {"model": "ollama:llama3.2", "ollama_host": server.url, "judge": "llm", "extractive_fallback": False}
        settings = load_settings(store=None, **own)
        create_graph(settings).compile().invoke({"question": "How tall is the tower?", "passages": PASSAGES})
        calls = [chat.prompt for chat in server.chats if PASSAGES[1] in chat.prompt]
        assert len(calls) >= 3
        assert PASSAGES[1] in os.path.commonprefix(calls)  # noqa: RUF071 (letter by letter is what is wanted)
