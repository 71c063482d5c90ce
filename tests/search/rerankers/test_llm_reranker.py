"""The reranker with a chat model: one call a passage, in parallel, and never worse than what came in."""

import re
from typing import Any

import pytest

from cragraph.models.chat import ChatCaller, Gate
from cragraph.models.servers import chat_model
from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.search.rerankers import LLMReranker
from cragraph.types import Passage
from tests.support.fixtures import served
from tests.support.ollama import OllamaServer, Request

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]


def passages(count: int = 4) -> list[Passage]:
    return as_passages([{"text": f"Text {n}.", "retrieval_score": 0.5 - n / 100} for n in range(count)])


def by_number(scores: dict[int, Any]) -> Any:
    def play(request: Request) -> Any:
        found = re.search(r"Text (\d+)", request.prompt)
        assert found is not None
        return scores[int(found[1])]

    return play


server = served({"score": 0.5}, max_parallel=16)


def reranker(server: OllamaServer, **options: Any) -> LLMReranker:
    model = chat_model("ollama:llama3.2", base_url=server.url)
    return LLMReranker(ChatCaller(model, timeout_s=5, backoff_s=0.01, gate=Gate(16)), **options)


def ranked(found: list[Passage]) -> list[tuple[str, float | None]]:
    return [(p["text"], p["rerank_score"]) for p in found]


def test_every_passage_is_scored_by_a_call_of_its_own_and_the_best_comes_first(server: OllamaServer) -> None:
    server.play(by_number({0: {"score": 0.1}, 1: {"score": 0.9}, 2: "Score: 7/10", 3: '{"score": "30"}'}))
    notes = Notes()
    found = reranker(server)("q", given := passages(), notes)
    assert ranked(found) == [("Text 1.", 0.9), ("Text 2.", 0.7), ("Text 3.", 0.3), ("Text 0.", 0.1)]
    assert notes.calls == 4
    assert notes.sentences == []
    assert all(p["rerank_score"] is None for p in given)
    assert all(r.options["temperature"] == 0.0 for r in server.chats)


def test_a_passage_without_a_readable_score_keeps_the_one_it_had_and_it_is_said(server: OllamaServer) -> None:
    server.play(by_number({0: {"score": 0.2}, 1: "no idea at all", 2: {"score": 0.3}, 3: {"score": 0.4}}))
    notes = Notes()
    found = reranker(server)("q", passages(), notes)
    assert ranked(found)[0] == ("Text 1.", 0.49)
    assert notes.sentences[-1] == "1 of 4 passages kept the score they had, as llama3.2 gave none."
