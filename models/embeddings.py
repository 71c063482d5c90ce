"""LangChain embeddings: the embedded encoder, ``ollama:<model>`` on one's own server, any ``provider:<model>``."""

from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

from langchain_core.embeddings import Embeddings

from cragraph.errors import InputError, ModelError, SettingsError
from cragraph.models.encoder import Encoder
from cragraph.models.servers import KEEP_SECONDS, Target, client_options, ollama_url, own_server, run, translate, tried

BATCH = 64  # texts per request: large enough to keep the server busy, small enough to report progress and to try again


class EmbeddedEncoder(Encoder, Embeddings):
    """The embedded encoder where LangChain wants its own class."""


class ServerEncoder(Embeddings):
    """The embedding model of a server, with a `name` that a store can remember; its client is made at first use."""

    def __init__(self, spec: str, *, base_url: str | None = None, timeout_s: float = 120.0) -> None:
        self.provider, _, self.model = spec.partition(":")
        if not self.provider or not self.model:
            raise SettingsError(
                f"the embedding model came as {spec!r}; wanted 'embedded', 'ollama:<model>' or 'provider:<model>'."
            )
        self.name, self.timeout_s = spec, timeout_s
        ollama = self.provider == "ollama"
        self.target = Target(spec, ollama_url(base_url) if ollama else base_url or "", ollama)

    @cached_property
    def _client(self) -> Embeddings:
        url = self.target.url
        if self.target.ollama:
            from langchain_ollama import OllamaEmbeddings

            options = client_options(url, self.timeout_s)
            return OllamaEmbeddings(model=self.model, base_url=url, keep_alive=KEEP_SECONDS, client_kwargs=options)
        try:
            build = import_module("langchain.embeddings").init_embeddings
            # A server that is not OpenAI's wants texts, not the numbers that OpenAI's own tokenizer makes of them.
            client: Embeddings = build(self.name, **own_server(self.provider, url, check_embedding_ctx_length=False))
        except Exception as error:  # each provider says in its own way what it lacks
            raise ModelError(
                f"the embedding model {self.name!r} cannot be built ({error}): run `pip install langchain "
                f"langchain-{self.provider.replace('_', '-')}` and set what it asks for."
            ) from error
        return client

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text, in order."""
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            batch = texts[start : start + BATCH]
            made = self._called("aembed_documents", batch)
            if len(made) != len(batch):
                raise ModelError(f"{self.name} gave {len(made)} vectors for {len(batch)} texts; wanted one each.")
            vectors += made
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return list(self._called("aembed_query", text))

    def _called(self, method: str, given: Any) -> Any:
        call = getattr(self._client, method)

        async def once() -> Any:
            try:
                return await call(given)
            except Exception as error:
                raise translate(error, self.target, self.timeout_s) from error

        return run(tried(once))


class AdaptedEmbeddings(Embeddings):
    """Another library's embedding model as LangChain's."""

    def __init__(self, embed: Callable[[list[str]], Any], name: str) -> None:
        self.embed, self.name = embed, name

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text."""
        return [[float(value) for value in vector] for vector in self.embed(texts)]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        return self.embed_documents([text])[0]


def as_embeddings(model: Any) -> Embeddings:
    """An embedding model by its methods: LangChain's, LlamaIndex's or sentence-transformers'; else InputError."""
    if isinstance(model, Embeddings) or callable(getattr(model, "embed_documents", None)):
        return model  # type: ignore[no-any-return]
    for method in ("get_text_embedding_batch", "encode"):
        if callable(getattr(model, method, None)):
            return AdaptedEmbeddings(getattr(model, method), type(model).__name__)
    raise InputError(
        f"the embedding model is a {type(model).__name__} without embed_documents, get_text_embedding_batch or encode; "
        "wanted an embedding model of LangChain, LlamaIndex or sentence-transformers: or leave it out for the "
        "embedded one."
    )
