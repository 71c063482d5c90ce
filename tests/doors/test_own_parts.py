"""Parts of a caller's own: objects or names at every entry, refused by name where they are none, typed, and fakes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from cragraph import (
    chat_with_verification,
    corrective_rag_loop,
    create_chat,
    create_graph,
    create_verifier,
    load_settings,
    verify_and_correct,
    verify_response,
)
from cragraph.errors import SettingsError
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.testing import FakeGenerator, FakeJudge, FakeQueryWriter, FakeReranker, FakeRetriever
from tests.support.ollama import OllamaServer

SEA = "The sea is salt because rivers carry minerals into it."
QUESTION = "Why is the sea salt?"
ASKED = {"question": QUESTION, "passages": [SEA]}
DOCUMENTS = [Document(page_content=SEA, metadata={"source": "sea.md"})]


def vector_store() -> InMemoryVectorStore:
    return InMemoryVectorStore.from_documents(DOCUMENTS, EmbeddedEncoder())


@pytest.mark.parametrize(
    ("part", "given", "message"),
    [
        (
            "chat_model",
            7,
            "chat_model came as a int; wanted a LangChain chat model, or a name such as 'ollama:llama3.2'",
        ),
        ("chat_model", GenericFakeChatModel, "chat_model came as the class GenericFakeChatModel; wanted"),
        ("chat_model", "llama", "provider"),
        ("embeddings", [1.0], "embeddings came as a list; wanted LangChain embeddings"),
        ("store", 7, "store came as a int; wanted a folder, a name such as 'chroma:FOLDER', a LangChain VectorStore"),
        ("retriever", [1], "retriever came as a list; wanted a LangChain BaseRetriever or VectorStore"),
        ("retriever", "no_such_module:x", "give module:name"),
        ("reranker", 7, "reranker came as a int; wanted a LangChain BaseDocumentCompressor"),
        ("reranker", "bset", "reranker came as 'bset'"),
        ("judge", 7, "judge came as a int; wanted a name, or a part of the protocol Judge"),
        ("judge", "lexcal", "judge came as 'lexcal'"),
        ("generator", "x", "generator came as a str; wanted a part of the protocol Generator"),
        ("jugde", FakeJudge({}), "There is no part 'jugde': give chat_model"),
    ],
)
@pytest.mark.parametrize("make", [create_graph, create_chat, create_verifier])
def test_a_part_that_is_none_is_refused_by_name_before_any_question(
    make: Any, part: str, given: Any, message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        make(load_settings(store=None), **{part: given})


def test_settings_are_an_object_a_dictionary_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("store: ''\nconfidence_threshold: 0.99\n")
    for settings in (
        {"store": None, "confidence_threshold": 0.99},
        tmp_path / "mine.yaml",
        str(tmp_path / "mine.yaml"),
    ):
        decision = create_graph(settings).compile().invoke(ASKED)["decision"]
        assert decision
        assert decision["threshold"] == 0.99
    assert load_settings(store=tmp_path).store == str(tmp_path)
    with pytest.raises(SettingsError, match="did you mean confidence_threshold"):
        create_graph({"confidence_treshold": 0.9})
    with pytest.raises(SettingsError, match="cannot be read"):
        create_graph(tmp_path / "none.yaml")
    with pytest.raises(SettingsError, match="came as a int"):
        create_graph(7)  # type: ignore[arg-type]


@pytest.mark.enable_socket
@pytest.mark.server
def test_a_chat_model_may_be_a_name_at_every_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    with OllamaServer("The sea is salt because rivers carry minerals into it [1].") as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        response = (
            create_graph({"store": None, "extractive_fallback": False}, chat_model="ollama:llama3.2")
            .compile()
            .invoke(ASKED)
        )
        assert response["models"]["generator"] == "ollama:llama3.2"
        asked = len(server.chats)
        verify_and_correct(QUESTION, "The sea is sweet.", [SEA], chat_model="ollama:llama3.2")
        assert len(server.chats) > asked


async def test_every_entry_searches_a_retriever_or_a_store_that_is_given() -> None:
    for own in ({"store": vector_store()}, {"retriever": vector_store().as_retriever()}):
        corrected = verify_and_correct(QUESTION, "The sea is salt because of whales.", [], **own)
        assert "rivers" in corrected.final_response
        wrong = verify_response(QUESTION, "The sea is salt because of whales.", "Whales sing.")
        assert (
            "rivers"
            in corrective_rag_loop(QUESTION, "The sea is salt because of whales.", wrong, [], **own).final_response
        )
    chatted = await chat_with_verification(QUESTION, "mine", retriever=vector_store().as_retriever())
    assert "rivers" in chatted["content"]


class Later(BaseRetriever):
    """A retriever that searches asynchronously alone, in the event loop that it was made in."""

    loops: list[Any] = []  # noqa: RUF012 (pydantic copies it)

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        raise NotImplementedError("asynchronous alone")

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        import asyncio

        self.loops.append(asyncio.get_running_loop())
        return DOCUMENTS


async def test_a_retriever_that_is_asynchronous_alone_answers_in_the_loop_of_the_caller() -> None:
    import asyncio

    later = Later()
    graph = create_graph(load_settings(store=None), retriever=later).compile()
    assert SEA in (await graph.ainvoke({"question": QUESTION}))["answer"]
    assert set(later.loops) == {asyncio.get_running_loop()}
    assert SEA in (await asyncio.to_thread(graph.invoke, {"question": QUESTION}))["answer"]


def test_fakes_are_parts_like_any_other_and_remember() -> None:
    generator = FakeGenerator(["It is blue. [1]", f"{SEA} [1]"])
    judge, writer = FakeJudge({"salt": 1.0}), FakeQueryWriter()
    retriever, reranker = FakeRetriever({"sea": ["Blue is a colour."], "blue": [SEA]}), FakeReranker()
    parts: dict[str, Any] = {"judge": judge, "query_writer": writer, "retriever": retriever, "reranker": reranker}
    graph = create_graph({"store": None, "min_chunks": 1}, generator=generator, **parts).compile()
    response = graph.invoke({"question": "What is the sea like?"})
    assert response["answer"] == f"{SEA} [1]"
    assert response["models"] | {"generator": "fake", "judge": "fake"} == response["models"]
    assert [brief.question for brief in generator.history] == ["What is the sea like?"] * 2
    assert writer.history == [("It is blue.",)]
    assert retriever.history == [("What is the sea like?",), ("It is blue.",)]
    assert SEA in " ".join(judge.asked)


TYPED = """
from langchain_chroma import Chroma
from langchain_core.language_models import BaseChatModel
from langchain_ollama import ChatOllama
from cragraph import Context, Response, create_graph
from cragraph.testing import FakeGenerator, FakeJudge, FakeQueryWriter, FakeReranker, FakeRetriever

def ask(model: BaseChatModel) -> Response:
    graph = create_graph(
        {"store": None}, chat_model=model, store="chroma:kept", judge=FakeJudge({}), generator=FakeGenerator([]),
        query_writer=FakeQueryWriter(), reranker=FakeReranker(), retriever=FakeRetriever({}),
    )
    return graph.compile().invoke({"question": "?"})

async def told(question: str) -> str:
    graph = create_graph({"judge": "encoder"}, store=Chroma("notes"), chat_model=ChatOllama(model="llama3.2")).compile()
    async for update in graph.astream({"question": question}, context=Context(mode="low"), stream_mode="updates"):
        print(update)
    response = await graph.ainvoke({"question": question}, context={"mode": "high"})
    decision = response["decision"]
    sources = [citation["metadata"].get("source") for citation in response["citations"]]
    checked, cited = response["verification"], response["citations"][0]["metadata"]["year"]
    last = response["attempts"][-1]["decision"]
    told = f"{checked['claims_supported']} of {checked['claims_checked']}, {cited}" if checked and last else ""
    return f"{response['answer']} {told} {sources} {decision['outcome'] if decision else response['stopped']}"
"""


@pytest.mark.slow
def test_a_type_checker_reads_the_parts_and_the_response(tmp_path: Path) -> None:
    def checked(code: str) -> str:
        (tmp_path / "app.py").write_text(code)
        command = [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--cache-dir",
            ".mypy_cache/apps",
            str(tmp_path / "app.py"),
        ]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    assert "Success" in checked(TYPED)
    wrong = checked(TYPED + '\n\ndef first(response: Response) -> None:\n    print(response["citatons"])\n')
    assert 'has no key "citatons"' in wrong
    assert "Did you mean" in wrong
    assert 'has no key "citatons"' in checked(TYPED.replace('"?"})', '"?"})["citatons"]'))
    for name in ("outcome", "claims_supported", "claims_checked"):
        assert f'has no key "{name}s"' in checked(TYPED.replace(f"['{name}']", f"['{name}s']"))
    assert "Argument" in checked(TYPED.replace("generator=FakeGenerator([])", "generator=7"))
