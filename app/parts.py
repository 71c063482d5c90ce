"""Every part of a graph, built from settings: the only place that chooses implementations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from cragraph.errors import SettingsError, StoreError
from cragraph.lazy import part
from cragraph.model_parts import Models
from cragraph.protocols import ClaimExtractor, Generator, Judge, Notes, QueryWriter, Reranker, Retriever

if TYPE_CHECKING:
    from cragraph.retrieval.search.neighbours import Size
    from cragraph.retrieval.store import Store
    from cragraph.types import Passage
    from cragraph.verification.signals import AlignmentScorer, ConsistencyScorer
    from cragraph.verification.sources import SourceWeight
    from cragraph.verification.verifier import Verifier


ENCODER_SHARE: Final = 0.2
"""The grounding model's say beside the lexical reranker's: it was not trained to find, only to check."""


class Parts(Models):
    """Every part of a graph, built when it is first needed: from the settings, unless the caller brought it."""

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
        if self.settings.reranker == "encoder":
            from cragraph.models.grounding import GroundingModel
            from cragraph.retrieval.rerankers.encoder import EncoderReranker, GroundingScorer

            scorer = GroundingScorer(GroundingModel(threads=self.settings.threads))
            return EncoderReranker(scorer, ENCODER_SHARE, LexicalReranker())
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

    def neighbours(
        self, passages: "Sequence[Passage]", size: "Size", where: Mapping[str, Any] | None, notes: Notes
    ) -> "list[Passage]":
        """The passages with the chunks around each, from the store."""
        from cragraph.retrieval.search.neighbours import Neighbours

        return Neighbours(self.store)(passages, size, where, notes)

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
        embedding = EmbeddingJudge(self.cached_embeddings)
        judges: dict[str, Judge] = {
            "lexical": LexicalJudge(),
            "embedding": embedding,
            "encoder": EncoderJudge(GroundingModel(threads=self.settings.threads), embedding),
        }
        best = "encoder"
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
        from cragraph.verification.chat import LLMClaims

        return LLMClaims(self.judging_chat, self.prompts)

    @part
    def verifier(self) -> "Verifier":
        """What judges an answer and measures it; a judge that fails is stood in for by the embedded ones."""
        from cragraph.verification.claims import SentenceExtractor
        from cragraph.verification.signals import SignalOptions
        from cragraph.verification.signals.material import UNCERTAINTY_PHRASES
        from cragraph.verification.verifier import Verifier, VerifierOptions

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
            source_weight=self._source_weight(),
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

    def _source_weight(self) -> "SourceWeight | None":
        """How far sources are relied on; None where all are, so that verifying alone loads no search."""
        if not self.settings.source_weights:
            return None
        from cragraph.retrieval.search.weights import SourceWeights

        return SourceWeights(self.settings.source_weights)

    def _alignment(self) -> "AlignmentScorer | None":
        """What scores alignment for the policies that need it: the judging chat model; None: keyword overlap."""
        if self.judging_chat is None:
            return None
        from cragraph.verification.chat import LLMAlignment, LLMScores

        return LLMAlignment(LLMScores(self.judging_chat, self.prompts))

    def _consistency(self) -> "ConsistencyScorer | None":
        """What scores consistency for the policies that need it, likewise."""
        if self.judging_chat is None:
            return None
        from cragraph.verification.chat import LLMConsistency, LLMScores

        return LLMConsistency(LLMScores(self.judging_chat, self.prompts))
