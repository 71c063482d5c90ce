"""Embeddings by name: embedded, ``ollama:<model>``, LangChain's ``provider:<model>``, fastembed, and packages' own."""

import asyncio
import re
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any, Final

from langchain_core.embeddings import Embeddings

from cragraph.choices import brought
from cragraph.choices import made as made_by_package
from cragraph.errors import InputError, ModelError, SettingsError
from cragraph.models import http
from cragraph.models.encoder import Encoder
from cragraph.models.servers import KEEP_SECONDS, PATIENCE, Target, late, ollama_url, own_server, translate, tried
from cragraph.private import disable_telemetry
from cragraph.protocols import remaining

BATCH = 64  # texts per request: large enough to keep the server busy, small enough to report progress and to try again
HERE: Final = ("huggingface",)  # providers whose models run in this process, without a server
_INSTALL: Final = re.compile(r"pip install (?:-U |-qU )?([\w.\[\]-]+)")


class EmbeddedEncoder(Encoder, Embeddings):
    """The embedded encoder as a LangChain `Embeddings`."""


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
    def client(self) -> Embeddings:
        """LangChain's client. Raises ModelError if it cannot be built."""
        url = self.target.url
        if self.target.ollama:
            options = http.ollama_options(url, self.timeout_s) | {"keep_alive": KEEP_SECONDS}
            ollama: Embeddings = http.langchain_ollama().OllamaEmbeddings(model=self.model, base_url=url, **options)
            return ollama
        try:
            build = import_module("langchain.embeddings").init_embeddings
            # A server that is not OpenAI's wants texts, not the token numbers of OpenAI's tokenizer.
            server: dict[str, Any] = {}
            if self.provider not in HERE:
                server = own_server(self.provider, url, self.timeout_s, check_embedding_ctx_length=False)
            client: Embeddings = build(self.name, **server)
        except ImportError as error:
            raise ModelError(
                f"the embedding model {self.name!r} needs a package that is not installed ({_first_line(error)}): run "
                f"`pip install {wanted_packages(error, self.provider)}`."
            ) from error
        except Exception as error:  # each provider raises its own error for a missing part
            unknown = "not supported" in str(error)
            known = ", ".join(("embedded", "ollama:<model>", "fastembed:<model>", *_providers(), *_plugins()))
            advice = f"there are {known}" if unknown else "correct its name or set what it asks for, such as its key"
            raise ModelError(
                f"the embedding model {self.name!r} cannot be built ({_first_line(error)}): {advice}."
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
        call = getattr(self.client, method)

        async def once() -> Any:
            try:
                whole = PATIENCE * self.timeout_s
                async with asyncio.timeout(whole if (left := remaining()) is None else min(left, whole)):
                    return await call(given)
            except Exception as error:
                if isinstance(error, TimeoutError) and remaining() == 0.0:
                    raise late(self.name) from error
                raise translate(error, self.target, self.timeout_s) from error

        return http.run(tried(once))


class AdaptedEmbeddings(Embeddings):
    """Another library's embedding model as LangChain's; `embed_one` is for questions if they are embedded
    differently."""

    def __init__(
        self, embed: Callable[[list[str]], Any], name: str, embed_one: Callable[[str], Any] | None = None
    ) -> None:
        self.embed, self.name, self.embed_one = embed, name, embed_one

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector per text."""
        return [[float(value) for value in vector] for vector in self.embed(texts)]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text."""
        if self.embed_one is None:
            return self.embed_documents([text])[0]
        return [float(value) for value in self.embed_one(text)]


def named_embeddings(spec: str, *, base_url: str | None = None, timeout_s: float = 120.0) -> Embeddings:
    """The embeddings of a name other than ``embedded``; a store remembers that name.

    Names are ``ollama:<model>``, ``fastembed`` or ``fastembed:<model>``, those of installed packages
    (`cragraph.choices`), and every ``provider:<model>`` of LangChain's `init_embeddings`. The model is built at first
    use. Raises SettingsError for an unknown name, ModelError if a package is missing.
    """
    provider = spec.partition(":")[0]
    disable_telemetry()
    if provider == "fastembed":
        return _fastembed(spec)
    if provider != "ollama" and (own := made_by_package("embeddings", spec)) is not None:
        try:
            model = as_embeddings(own)
        except InputError as error:
            raise SettingsError(f"the embedding model {spec!r} cannot be used: {error}") from error
        return AdaptedEmbeddings(model.embed_documents, spec, model.embed_query)
    return ServerEncoder(spec, base_url=base_url, timeout_s=timeout_s)


def _fastembed(spec: str) -> Embeddings:
    name = spec.partition(":")[2]
    try:
        model = import_module("fastembed").TextEmbedding(**({"model_name": name} if name else {}))
    except ImportError as error:
        raise ModelError(
            f"the embedding model {spec!r} needs a package that is not installed: run `pip install fastembed`."
        ) from error
    except Exception as error:  # an unknown model, or one that cannot be fetched
        raise ModelError(
            f"the embedding model {spec!r} cannot be built ({_first_line(error)}): choose one of "
            "fastembed.TextEmbedding.list_supported_models()."
        ) from error
    # The default model of `fastembed` may change with its version, so the store remembers the full name.
    full = f"fastembed:{name or getattr(model, 'model_name', '')}".rstrip(":")
    return AdaptedEmbeddings(model.embed, full, lambda text: next(iter(model.query_embed(text))))


def wanted_packages(error: Exception, provider: str) -> str:
    """The packages to install after a failed import: those in the error, else the provider's LangChain package."""
    said = _INSTALL.search(str(error))
    if said:
        return said[1]
    missing = getattr(error, "name", None)
    if missing and missing.partition(".")[0] not in ("langchain", f"langchain_{provider}"):
        return str(missing).partition(".")[0].replace("_", "-")
    return f"langchain langchain-{provider.replace('_', '-')}"


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0].rstrip(".")


def _providers() -> list[str]:
    try:
        known = import_module("langchain.embeddings.base")._BUILTIN_PROVIDERS
    except (ImportError, AttributeError):
        return ["openai:<model>"]
    return [f"{name}:<model>" for name in known if name != "ollama"]


def _plugins() -> list[str]:
    return list(brought("embeddings"))


def as_embeddings(model: Any) -> Embeddings:
    """An embedding model with the methods of LangChain, LlamaIndex or sentence-transformers; else InputError."""
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
