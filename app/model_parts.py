"""The models of a graph and what they are asked with, built from settings."""

from typing import TYPE_CHECKING, Any

from cragraph.lazy import part
from cragraph.settings import Settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    from cragraph.models.chat import ChatCaller
    from cragraph.prompts.load import Prompts
    from cragraph.protocols import Judge


class Models:
    """The models of a graph, built when they are first needed: from the settings, unless the caller brought them."""

    def __init__(
        self,
        settings: Settings,
        *,
        chat_model: "BaseChatModel | None" = None,
        embeddings: "Embeddings | None" = None,
        store: Any = None,
        reranker: Any = None,
        judge: "Judge | None" = None,
    ) -> None:
        self.settings = settings
        self._given = {
            "chat_model": chat_model,
            "embeddings": embeddings,
            "store": store,
            "reranker": reranker,
            "judge": judge,
        }

    @part
    def chat(self) -> "ChatCaller | None":
        """The chat model that writes and judges, or None."""
        return self._caller(self.settings.model, self._given["chat_model"])

    @part
    def judging_chat(self) -> "ChatCaller | None":
        """The chat model that judges."""
        if self.settings.judge_model is None:
            return self.chat
        return self._caller(self.settings.judge_model, None)

    @part
    def embeddings(self) -> "Embeddings":
        """The embedding model, with a cache so that a text of a run is embedded once."""
        given: Embeddings | None = self._given["embeddings"]
        if given is not None:
            return given
        spec = self.settings.embeddings
        if spec == "embedded":
            from cragraph.models.encoder import EmbeddedEncoder

            return EmbeddedEncoder(threads=self.settings.threads)
        from cragraph.models.embeddings import OllamaEncoder

        return OllamaEncoder(spec, base_url=self.settings.ollama.base_url, timeout_s=self.settings.timeout_s)

    @part
    def cached_embeddings(self) -> "Embeddings":
        """The embedding model behind a bounded cache, shared by judges, signals and search."""
        from cragraph.models.cache import CachedEmbeddings

        return CachedEmbeddings(self.embeddings)

    @part
    def prompts(self) -> "Prompts":
        """The prompts, a person's own in place of the built-in ones."""
        from cragraph.prompts.load import Prompts

        return Prompts(self.settings.prompts)

    def _caller(self, spec: str | None, model: "BaseChatModel | None") -> "ChatCaller | None":
        if spec is None and model is None:
            return None
        from cragraph.models.chat import ChatCaller, chat_model

        ollama = self.settings.ollama
        if model is None:
            assert spec is not None
            model = chat_model(
                spec,
                base_url=ollama.base_url,
                num_ctx=ollama.num_ctx,
                num_predict=ollama.num_predict,
                keep_alive=ollama.keep_alive,
                seed=ollama.seed,
                timeout_s=self.settings.timeout_s,
            )
            return ChatCaller(model, name=spec, timeout_s=self.settings.timeout_s, gate=self.gate)
        return ChatCaller(model, timeout_s=self.settings.timeout_s, gate=self.gate)

    @part
    def gate(self) -> Any:
        """What bounds the model calls that run at the same time."""
        from cragraph.models.chat import Gate

        return Gate(self.settings.max_concurrency)
