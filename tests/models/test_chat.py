"""Chat and embedding models by name."""

import sys

import pytest

from cragraph.errors import ModelError, ModelNotFoundError, ModelUnavailableError, SettingsError
from cragraph.models.embeddings import ServerEncoder
from cragraph.models.servers import chat_model, ollama_url
from tests.support.cases import cases
from tests.support.ollama import OllamaServer


@pytest.mark.parametrize(("given", "url"), cases("models/chat", "ollama host is read"))
def test_ollama_host_is_read_in_every_shape_that_ollama_accepts(
    given: str | None, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    assert ollama_url(given) == url
    if given is not None:
        monkeypatch.setenv("OLLAMA_HOST", given)
        assert ollama_url() == url


def test_a_port_that_is_no_number_is_a_clear_error() -> None:
    with pytest.raises(ModelError, match="wanted host:port"):
        ollama_url("box:port")


@pytest.mark.parametrize("spec", ["llama3.2", "ollama:", ":x", ""])
def test_a_name_without_provider_or_model_says_what_is_wanted(spec: str) -> None:
    with pytest.raises(SettingsError, match=r"wanted 'ollama:<model>'"):
        chat_model(spec)


@pytest.mark.server
@pytest.mark.enable_socket
class TestOverTheServer:
    def test_every_option_reaches_the_server(self) -> None:
        with OllamaServer("ok") as server:
            model = chat_model("ollama:llama3.2", base_url=server.url, num_ctx=2048, num_predict=99)
            model.invoke("hi")
            request = server.chats[0]
        assert request.options == {"num_ctx": 2048, "num_predict": 99, "temperature": 0.0, "seed": 0}
        assert (request.body["keep_alive"], request.body["think"]) == (600, False)

    def test_ollama_host_is_honoured(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with OllamaServer("ok") as server:
            monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://"))
            assert chat_model("ollama:llama3.2").invoke("hi").content == "ok"

    def test_embeddings_come_in_order_and_in_batches(self) -> None:
        texts = [f"text number {n}" for n in range(130)]
        with OllamaServer() as server:
            encoder = ServerEncoder("ollama:nomic-embed-text", base_url=server.url)
            vectors = encoder.embed_documents(texts)
            assert [len(r.body["input"]) for r in server.requests] == [64, 64, 2]
            assert encoder.embed_query(texts[100]) == vectors[100]
        assert encoder.name == "ollama:nomic-embed-text"

    def test_an_embedding_model_that_is_not_pulled_says_what_to_pull(self) -> None:
        with OllamaServer() as server, pytest.raises(ModelNotFoundError, match="ollama pull absent"):
            ServerEncoder("ollama:absent", base_url=server.url).embed_query("x")

    def test_an_embedding_server_that_is_down_says_how_to_start_it(self) -> None:
        with OllamaServer() as server:
            url = server.url
        with pytest.raises(ModelUnavailableError, match="ollama serve"):
            ServerEncoder("ollama:nomic-embed-text", base_url=url).embed_query("x")


def test_another_provider_without_its_package_names_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_mistralai", None)  # whatever is installed here
    with pytest.raises(ModelError, match=r"pip install langchain-mistralai"):
        chat_model("mistralai:large")
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(ModelError, match=r"pip install langchain langchain-openai"):
        chat_model("openai:gpt-5")
