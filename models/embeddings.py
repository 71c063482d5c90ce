"""LangChain embeddings: the embedded encoder, ``ollama:<model>`` on one's own server, any ``provider:<model>``."""

from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from langchain_core.embeddings import Embeddings

from cragraph.errors import ModelError, SettingsError
from cragraph.models.encoder import Encoder
from cragraph.models.servers import KEEP_SECONDS, Target, client_options, ollama_url, own_server, retried, translate

if TYPE_CHECKING:
    from langchain_ollama import OllamaEmbeddings

Vectors = TypeVar("Vectors")

BATCH = 64
"""Texts a request: large enough to keep the server busy, small enough to report progress and to try again."""


class EmbeddedEncoder(Encoder, Embeddings):
    """The embedded encoder where LangChain wants its own class."""


class OllamaEncoder(Embeddings):
    """An embedding model of an Ollama server, with a `name` that a store can remember.

    Errors are ours: the server not running, the model not pulled. The client is made at first use.
    """

    def __init__(
        self,
        spec: str,
        *,
        base_url: str | None = None,
        timeout_s: float = 120.0,
    ) -> None:
        provider, _, model = spec.partition(":")
        if provider != "ollama" or not model:
            raise SettingsError(
                f"the embedding model came as {spec!r}; wanted 'ollama:<model>', such as ollama:nomic-embed-text."
            )
        self.name = spec
        self.model = model
        self.base_url = ollama_url(base_url)
        self.timeout_s = timeout_s

    @cached_property
    def _client(self) -> "OllamaEmbeddings":
        from langchain_ollama import OllamaEmbeddings

        return OllamaEmbeddings(
            model=self.model,
            base_url=self.base_url,
            keep_alive=KEEP_SECONDS,
            client_kwargs=client_options(self.base_url, self.timeout_s),
        )

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, in order."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            vectors += retried(partial(self._embedded, batch))
            got = len(vectors) - start
            if got != len(batch):
                raise ModelError(f"{self.name} gave {got} vectors for {len(batch)} texts; wanted one each.")
        return vectors

    def _embedded(self, batch: list[str]) -> list[list[float]]:
        try:
            return self._client.embed_documents(batch)
        except Exception as error:
            raise translate(error, Target(self.name, self.base_url, ollama=True), self.timeout_s) from error

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self.embed_documents([text])[0]


class ProviderEncoder(Embeddings):
    """Any provider's embedding model, with a `name` that a store can remember; the client is made at first use."""

    def __init__(self, spec: str, *, base_url: str | None = None) -> None:
        provider, _, model = spec.partition(":")
        if not provider or not model:
            raise SettingsError(
                f"the embedding model came as {spec!r}; wanted 'embedded', 'ollama:<model>' or 'provider:<model>'."
            )
        self.name, self._provider, self._base_url = spec, provider, base_url

    @cached_property
    def _client(self) -> Embeddings:
        try:
            build = import_module("langchain.embeddings").init_embeddings
            # A server that is not OpenAI's wants texts, not the numbers that OpenAI's own tokenizer makes of them.
            plain = {"check_embedding_ctx_length": False} if self._base_url and self._provider == "openai" else {}
            own = {k: v for k, v in own_server(self._provider, self._base_url).items() if k != "stream_usage"}
            client: Embeddings = build(self.name, **own, **plain)
        except Exception as error:  # each provider says in its own way what it lacks
            raise ModelError(
                f"the embedding model {self.name!r} cannot be built ({error}): run `pip install langchain "
                f"langchain-{self._provider.replace('_', '-')}` and set what it asks for."
            ) from error
        return client

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text, in order."""
        return self._called(lambda: self._client.embed_documents(texts))

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query."""
        return self._called(lambda: self._client.embed_query(text))

    def _called(self, call: Callable[[], Vectors]) -> Vectors:
        try:
            return call()
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"the embedding model {self.name!r} failed: {error}.") from error
