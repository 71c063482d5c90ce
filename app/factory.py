"""The one place that builds parts and joins them into graphs."""

from typing import TYPE_CHECKING, Any

from cragraph.errors import ModelUnavailableError
from cragraph.lazy import part
from cragraph.protocols import Judge, QueryWriter, Reranker, Retriever
from cragraph.settings import Settings
from langgraph.types import RetryPolicy

if TYPE_CHECKING:
    from cragraph.models.chat_call import ChatCaller
    from cragraph.prompts.load import Prompts
    from cragraph.retrieval.store import Store
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

RETRY = RetryPolicy(max_attempts=3, initial_interval=0.5, retry_on=ModelUnavailableError)
"""Transient faults of a model server are tried again, with backoff; everything else is not."""

MERGED_K, RERANKED_K = 5, 3
"""Passages kept of merged rankings, and by a chat model that scores each passage."""


class Parts:
    """Every part of a graph, built when it is first needed: from the settings, unless the caller brought it."""

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

    # -- models ------------------------------------------------------------------------------------------------

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
        if self._given["embeddings"] is not None:
            return self._given["embeddings"]
        spec = self.settings.embeddings
        if spec == "embedded":
            from cragraph.models.encoder import EmbeddedEncoder

            return EmbeddedEncoder(threads=self.settings.threads)
        from cragraph.models.embeddings import OllamaEncoder

        return OllamaEncoder(spec, base_url=self.settings.ollama.base_url, timeout_s=self.settings.timeout_s)

    @part
    def cached_embeddings(self) -> "Embeddings":
        """The embedding model behind a bounded cache, shared by judges, signals and search."""
        from cragraph.verification.cache import CachedEmbeddings

        return CachedEmbeddings(self.embeddings)

    @part
    def prompts(self) -> "Prompts":
        """The prompts, a person's own in place of the built-in ones."""
        from cragraph.prompts.load import Prompts

        return Prompts(self.settings.prompts)

    # -- retrieval ---------------------------------------------------------------------------------------------

    @part
    def store(self) -> "Store | None":
        """The store, opened; None where there is none. Raises StoreError where it was never filled."""
        from cragraph.retrieval.store import Store, open_store

        given = self._given["store"]
        if isinstance(given, Store):
            return given
        target = given if given is not None else self.settings.store
        if not target:
            return None
        return open_store(target, self.embeddings, collection=self.settings.collection, create=False)

    @part
    def retriever(self) -> Retriever:
        """What finds passages in the store."""
        from cragraph.retrieval.search import SearchRetriever

        return SearchRetriever(
            self.store, mode=self.settings.search, weights=self.settings.source_weights, rewriter=self._rewriter()
        )

    @part
    def reranker(self) -> Reranker:
        """What orders the passages."""
        from cragraph.retrieval.rerankers import CompressorReranker, LexicalReranker, NoReranker

        given = self._given["reranker"]
        if given is not None:
            return CompressorReranker(given) if hasattr(given, "compress_documents") else given
        if self.settings.reranker == "none":
            return NoReranker()
        if self.settings.reranker == "llm":
            from cragraph.retrieval.rerankers.llm import LLMReranker

            return LLMReranker(self._needed("reranker: llm"), self.prompts, self.settings.max_concurrency)
        return LexicalReranker()

    @part
    def query_writer(self) -> QueryWriter:
        """What writes targeted queries: the chat model, or without one the embedded writer."""
        from cragraph.retrieval.search import TargetedQueries

        if self.chat is None:
            return TargetedQueries()
        from cragraph.retrieval.search.llm_queries import ChatQueries

        return ChatQueries(self.chat, self.prompts, fallback=TargetedQueries())

    # -- generation and verification ---------------------------------------------------------------------------

    @part
    def generator(self) -> Generator:
        """What writes answers: the chat model, or without one the extractive generator."""
        if self.chat is None:
            from cragraph.generation.extractive import ExtractiveGenerator

            return ExtractiveGenerator(self.cached_embeddings)
        from cragraph.generation.chat import ChatGenerator

        # The graph retries a node whose model was unreachable; a second layer here would multiply the waiting.
        return ChatGenerator(replace(self.chat, retries=0), self.prompts)

    @part
    def judges(self) -> Mapping[str, Judge]:
        """Every judge that can run here, by name; `auto` is the best of them."""
        from cragraph.verification.judges import CascadeJudge, EmbeddingJudge, LexicalJudge, NLIJudge

        own: Judge | None = self._given["judge"]
        judges: dict[str, Judge] = {"lexical": LexicalJudge(), "embedding": EmbeddingJudge(self.cached_embeddings)}
        best = "embedding"
        if self.settings.nli_model is not None:
            judges["nli"] = NLIJudge(self.settings.nli_model)
        if self.judging_chat is not None:
            from cragraph.verification.judges.llm import LLMJudge

            judges["llm"] = LLMJudge(self.judging_chat, self.prompts)
            judges["cascade"] = CascadeJudge(judges[best], judges["llm"], self.settings.verification.cascade_band)
            best = "llm"
        if own is not None:
            judges["custom"] = own
            best = "custom"
        return judges | {"auto": judges[best]}

    @part
    def verifier(self) -> "Verifier":
        """What judges an answer and measures it; a judge that fails is stood in for by the embedded ones."""
        from cragraph.verification.claims import SentenceExtractor
        from cragraph.verification.engine import Verifier, VerifierOptions
        from cragraph.verification.signals import SignalOptions
        from cragraph.verification.signals.material import UNCERTAINTY_PHRASES

        chosen = self.settings.verification
        weights = {"reliability": chosen.reliability_weights} if chosen.reliability_weights else {}
        return Verifier(
            judges=self.judges,
            fallback=("embedding", "lexical"),
            extractor=SentenceExtractor(),
            embeddings=self.cached_embeddings,
            options=VerifierOptions(
                threshold=self.settings.confidence_threshold,
                weights=weights,
                signals=SignalOptions(
                    uncertainty_phrases=(*UNCERTAINTY_PHRASES, *chosen.uncertainty_phrases),
                    identifier_fields=chosen.identifier_fields,
                ),
            ),
        )

    # -- helpers -----------------------------------------------------------------------------------------------

    def _caller(self, spec: str | None, model: "BaseChatModel | None") -> "ChatCaller | None":
        if spec is None and model is None:
            return None
        from cragraph.models.chat import chat_model
        from cragraph.models.chat_call import ChatCaller

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
        from cragraph.models.pump import Gate

        return Gate(self.settings.max_concurrency)
