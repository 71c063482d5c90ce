"""The text around passages, through the whole graph: embedded, and with a chat model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from pydantic import Field

from cragraph.api import create_graph
from cragraph.build import Parts
from cragraph.errors import SettingsError
from cragraph.run import Assistant
from cragraph.settings import Settings, load_settings

TEXT = """# The harbour of Elsfleth

The cranes of the harbour of Elsfleth were built in Bremen by a small company.

Each of them lifts forty tonnes and runs on rails.

Behind them stands a warehouse of red brick that holds coffee and cotton from overseas.
"""
LIFTS = "Each of them lifts forty tonnes and runs on rails"


class Recording(GenericFakeChatModel):
    """Answers as told and keeps what it was asked."""

    asked: list[str] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.asked.append("\n".join(str(message.content) for message in messages))
        return super()._generate(messages, *args, **kwargs)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "harbour.md").write_text(TEXT)
    made = load_settings(store=str(tmp_path / "store"), chunk_size=90, chunk_overlap=0, top_k=1, min_chunks=1)
    Assistant(made).ingest([tmp_path / "harbour.md"])
    return made


def asked(settings: Settings, question: str, chat_model: Any = None, **context: Any) -> dict[str, Any]:
    graph = create_graph(settings, chat_model=chat_model).compile()
    response: dict[str, Any] = graph.invoke(
        {"question": question}, context={"judge": "lexical", "policy": "claims", **context}
    )
    return response


def exact(settings: Settings, response: dict[str, Any]) -> Sequence[str]:
    """The texts of the chunks that are cited, each checked against the store and the evidence against the chunk."""
    with Parts(settings).store as store:
        for citation in response["citations"]:
            [chunk] = store.get([citation["chunk_id"]])
            assert (citation["text"], citation["start_index"]) == (chunk["text"], chunk["start_index"])
            assert citation["quote"] in chunk["text"]
        for claim in response["verification"]["claims"]:
            evidence = claim["evidence"]
            [chunk] = store.get([evidence["chunk_id"]])
            assert chunk["text"][evidence["start"] : evidence["end"]] == evidence["quote"]
    return [citation["text"] for citation in response["citations"]]


def test_the_embedded_answer_may_stand_beside_the_passage_and_is_cited_where_it_stands(settings: Settings) -> None:
    question = "How many tonnes do the cranes of the harbour of Elsfleth built in Bremen lift?"
    alone = asked(settings, question, show_claims=True, max_crag_attempts=0)
    assert "forty" not in alone["answer"]
    wide = asked(settings, question, show_claims=True, passage_window=1)
    assert "forty tonnes" in wide["answer"]
    assert any(LIFTS in text for text in exact(settings, wide))
    assert wide["degraded"] == []


def test_a_chat_model_reads_the_text_around_and_is_judged_by_it(settings: Settings) -> None:
    question = "Where were the cranes of the harbour of Elsfleth built?"
    model = Recording(messages=iter([AIMessage(f"{LIFTS} [1].")]))
    quoting_nothing = settings.model_copy(update={"extractive_fallback": False})
    response = asked(quoting_nothing, question, model, show_claims=True, passage_window=1)
    assert LIFTS in model.asked[0]
    assert response["confidence"] == 1.0
    assert any(LIFTS in text for text in exact(settings, response))


@pytest.mark.parametrize(("value", "window"), [("2", 2), ("section", "section")])
def test_the_window_is_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str, window: int | str
) -> None:
    monkeypatch.setenv("CRAG_PASSAGE_WINDOW", value)
    assert load_settings().passage_window == window


@pytest.mark.parametrize("value", [-1, 11, "page", True, 1.5])
def test_a_window_that_does_not_exist_is_refused(value: int | str) -> None:
    with pytest.raises(SettingsError, match=r"^argument: passage_window came as .*0 to 10, or section\.$"):
        load_settings(passage_window=value)
