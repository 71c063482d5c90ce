"""Every part of a graph, built from settings: the only place that chooses implementations."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cragraph.errors import SettingsError, StoreError
from cragraph.lazy import part
from cragraph.protocols import ClaimExtractor, Generator, Judge, QueryWriter, Reranker, Retriever
from cragraph.settings import Settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    from cragraph.models.chat_call import ChatCaller
    from cragraph.prompts.load import Prompts
    from cragraph.retrieval.store import Store
    from cragraph.verification.engine import Verifier
    from cragraph.verification.signals import AlignmentScorer, ConsistencyScorer


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
        from cragraph.retrieval.search import SearchRetriever, SourceWeights

        store = self.store
        if store is None:
            raise StoreError("There is no store to search: set CRAG_STORE, or give `passages` with the question.")
        weights = SourceWeights(self.settings.source_weights)
        if self.chat is None or not self.settings.multi_query:
            return SearchRetriever(store, mode=self.settings.search, weights=weights)
        from cragraph.retrieval.search.llm_queries import MultiQuery

        rewrite = MultiQuery(self.chat, self.prompts)
        return SearchRetriever(store, mode=self.settings.search, weights=weights, expand=rewrite)

    @part
    def reranker(self) -> Reranker:
        """What orders the passages."""
        from cragraph.retrieval.rerankers import LexicalReranker, NoReranker
        from cragraph.retrieval.rerankers.compressor import CompressorReranker

        given: Any = self._given["reranker"]
        if given is not None:
            own: Reranker = CompressorReranker(given) if hasattr(given, "compress_documents") else given
            return own
        if self.settings.reranker == "none":
            return NoReranker()
        if self.settings.reranker == "llm":
            from cragraph.retrieval.rerankers.llm import LLMReranker

            if self.chat is None:
                raise SettingsError(
                    "The reranker llm needs a chat model: set CRAG_MODEL or pass --model ollama:<model>."
                )
            return LLMReranker(self.chat, self.prompts, self.settings.max_concurrency)
        return LexicalReranker()

    @part
    def query_writer(self) -> QueryWriter:
        """What writes targeted queries: the chat model, or without one the embedded writer."""
        from cragraph.retrieval.search.queries import TargetedQueries

        if self.chat is None:
            return TargetedQueries()
        from cragraph.retrieval.search.llm_queries import ChatQueries

        return ChatQueries(self.chat, self.prompts, fallback=TargetedQueries())

    @part
    def contextualize(self) -> Any:
        """What makes a follow-up question stand alone; None without a chat model."""
        if self.chat is None:
            return None
        from cragraph.retrieval.search.llm_queries import Contextualizer

        return Contextualizer(self.chat, self.prompts)

    def available(self) -> int:
        """How many passages the store holds."""
        return self.store.count() if self.store is not None else 0

    def unanswered(self, question: str, answer: str) -> list[str]:
        """Parts of a question that an answer does not address."""
        from cragraph.retrieval.search.unanswered import unanswered_parts

        return unanswered_parts(question, answer, self.cached_embeddings)

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
        from cragraph.models.grounding import GroundingModel
        from cragraph.verification.judges.embedding import EmbeddingJudge
        from cragraph.verification.judges.encoder import EncoderJudge
        from cragraph.verification.judges.lexical import LexicalJudge

        own: Judge | None = self._given["judge"]
        judges: dict[str, Judge] = {
            "lexical": LexicalJudge(),
            "embedding": EmbeddingJudge(self.cached_embeddings),
            "encoder": EncoderJudge(GroundingModel(threads=self.settings.threads)),
        }
        best = "embedding"
        if self.settings.nli_model is not None:
            from cragraph.verification.judges.nli import NLIJudge

            judges["nli"] = NLIJudge(self.settings.nli_model)
        if self.judging_chat is not None:
            from cragraph.verification.judges.cascade import CascadeJudge
            from cragraph.verification.judges.llm import LLMJudge

            judges["llm"] = LLMJudge(self.judging_chat, self.prompts)
            judges["cascade"] = CascadeJudge(judges[best], judges["llm"], self.settings.verification.cascade_band)
            best = "llm"
        if own is not None:
            judges["custom"] = own
            best = "custom"
        return judges | {"auto": judges[best]}

    @part
    def extractor(self) -> ClaimExtractor:
        """What finds the claims of an answer for a judge that does not find them itself."""
        if self.settings.verification.claims == "sentences":
            from cragraph.verification.claims import SentenceExtractor

            return SentenceExtractor()
        if self.judging_chat is None:
            raise SettingsError("Claims by llm need a chat model: set CRAG_MODEL or pass --model ollama:<model>.")
        from cragraph.verification.llm_claims import LLMClaims

        return LLMClaims(self.judging_chat, self.prompts)

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
            extractor=self.extractor,
            spare_extractor=SentenceExtractor(),
            embeddings=self.cached_embeddings,
            alignment=self._alignment(),
            consistency=self._consistency(),
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

    def _alignment(self) -> "AlignmentScorer | None":
        """What scores alignment for the policies that need it: the judging chat model; None: keyword overlap."""
        if self.judging_chat is None:
            return None
        from cragraph.verification.llm_scores import LLMAlignment, LLMScores

        return LLMAlignment(LLMScores(self.judging_chat, self.prompts))

    def _consistency(self) -> "ConsistencyScorer | None":
        """What scores consistency for the policies that need it, likewise."""
        if self.judging_chat is None:
            return None
        from cragraph.verification.llm_scores import LLMConsistency, LLMScores

        return LLMConsistency(LLMScores(self.judging_chat, self.prompts))

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
