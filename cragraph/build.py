"""Builds the parts of a graph from settings and joins them: the only place that chooses implementations.

What is slow to import is named by its package, which imports it then: verifying an answer loads no database.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

import cragraph
from cragraph import choices
from cragraph import store as stores
from cragraph.choices import Part
from cragraph.errors import SettingsError, StoreMissingError
from cragraph.graph.steps import Act
from cragraph.lazy import once
from cragraph.nodes.compute import Compute
from cragraph.nodes.finalize import Finalize, Ways
from cragraph.nodes.generate import Generate
from cragraph.nodes.requery import Requery
from cragraph.nodes.rerank import Rerank
from cragraph.nodes.retrieve import Retrieve
from cragraph.nodes.review import Review
from cragraph.nodes.verify import Verify
from cragraph.protocols import Embeddings, Generator, Judge, QueryWriter, Reranker, Retriever
from cragraph.search import SearchRetriever, rerankers, unanswered_parts
from cragraph.search.neighbours import Neighbours
from cragraph.settings import Settings, context_schema
from cragraph.store.records import unit
from cragraph.types import Passage
from cragraph.verification.signals import SignalOptions
from cragraph.verification.signals.wording import UNCERTAINTY_PHRASES
from cragraph.verification.verifier import Verifier, VerifierOptions

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph import StateGraph

    import cragraph.graph.build
    from cragraph.answers.answered import WhetherReader
    from cragraph.answers.ranking import AnswerRanker
    from cragraph.models.cache import CachedEmbeddings
    from cragraph.models.chat import ChatCaller, Gate
    from cragraph.models.grounding import GroundingModel
    from cragraph.models.reader import Reader
    from cragraph.prompts.load import Prompts
    from cragraph.search.rerankers.encoder import ReaderScorer
    from cragraph.search.retriever import SourceWeights
    from cragraph.store import Collections, Store
    from cragraph.verification.judges.llm import LLMJudge

logger = logging.getLogger(__name__)

FETCHED: Final = {"llm": 10}
KEPT: Final = {"llm": 3}
"""Passages fetched and kept, by reranker; 30 and 5 for those that cost no model call per passage."""


def only(home: str, given: Callable[["Parts"], Any] = lambda parts: ()) -> Any:
    """A part that has no alternative: its module and class, and what its constructor is given."""
    return once(Part(home, given).build)


class Parts:
    """Every part of a graph, built once, when it is first needed: from the settings, unless the caller brought it.

    `own` are the caller's: `chat_model`, `embeddings`, `store`, `retriever`, `reranker` and `judge` of `create_graph`.
    """

    def __init__(self, settings: Settings, *, ways: Ways = Ways(), **own: Any) -> None:  # noqa: B008  (frozen)
        self.settings, self.ways = settings, ways
        self.own = {name: part for name, part in own.items() if part is not None}
        self._judges: dict[str, Judge | None] = {}

    def part(self, table: Mapping[str, Part], name: str, wanted: str = "") -> Any:
        """The part of that name; None where what it wants is not there, or SettingsError where it is `wanted`."""
        part = table[name].build(self)
        if part is None and wanted:
            raise SettingsError(f"The {wanted} {name} needs {table[name].wants}.")
        return part

    def with_chat(self, table: Mapping[str, Part]) -> Any:
        """The part that a chat model plays; the embedded one where there is none."""
        return self.part(table, "chat") or self.part(table, "embedded")

    # -- models ------------------------------------------------------------------------------------------------

    gate: "once[Gate]" = only("models.chat:Gate", lambda p: (p.settings.max_concurrency, p.settings.calls_per_minute))
    """What bounds the model calls that run at the same time."""
    cached_embeddings: "once[CachedEmbeddings]" = only("models.cache:CachedEmbeddings", lambda p: (p.embeddings,))
    """The embedding model behind a bounded cache, shared by judges, signals and search."""
    grounding: "once[GroundingModel]" = only(
        "models.grounding:GroundingModel", lambda p: {"threads": p.settings.threads}
    )
    """The network that judges whether a text is supported."""
    reader: "once[Reader]" = only("models.reader:Reader", lambda p: {"threads": p.settings.threads})
    reader_scorer: "once[ReaderScorer]" = only("search.rerankers.encoder:ReaderScorer", lambda p: (p.reader,))
    """The same network as a scorer of questions and passages."""
    whether: "once[WhetherReader]" = only("answers.answered:WhetherReader", lambda p: (p.ranker,))
    """What the passages say to a question that asks for a yes or a no."""
    prompts: "once[Prompts]" = only("prompts.load:Prompts", lambda p: (p.settings.prompts,))
    """The prompts, a person's own in place of the built-in ones."""
    source_weights: "once[SourceWeights]" = only(
        "search.retriever:SourceWeights", lambda p: (p.settings.source_weights,)
    )
    """How far sources are relied on."""

    @once
    def chat(self) -> "ChatCaller | None":
        """The chat model that writes and judges, or None."""
        own = self.own.get("chat_model")
        return self._caller(None if own else self.settings.model, own)

    @once
    def judging_chat(self) -> "ChatCaller | None":
        """The chat model that judges."""
        own = self.settings.judge_model
        return self._caller(own) if own else self.chat

    def _caller(self, spec: str | None, model: "BaseChatModel | None" = None) -> "ChatCaller | None":
        chosen = self.settings
        if spec is not None:
            url = chosen.base_url or (chosen.ollama_host if spec.startswith("ollama:") else None)
            lengths = {"num_ctx": chosen.num_ctx, "num_predict": chosen.num_predict}
            model = cragraph.models.servers.chat_model(spec, base_url=url, timeout_s=chosen.timeout_s, **lengths)
        if model is None:
            return None
        caller: ChatCaller = cragraph.models.chat.ChatCaller(
            model, spec or "", timeout_s=chosen.timeout_s, gate=self.gate
        )
        return caller

    @once
    def embeddings(self) -> Embeddings:
        """The embedding model."""
        spec, chosen = self.settings.embeddings, self.settings
        model: Embeddings | None = self.own.get("embeddings")
        if model is None and spec == "embedded":
            model = cragraph.models.encoder.Encoder(threads=chosen.threads)
        elif model is None:
            url = chosen.ollama_host if spec.startswith("ollama:") else chosen.base_url
            model = cragraph.models.embeddings.named_embeddings(spec, base_url=url, timeout_s=chosen.timeout_s)
        return cast(Embeddings, model)

    @once
    def nli_model(self) -> Any:
        """The classifier of the nli judge, None where none is set."""
        if self.settings.nli_model is None:
            return None
        loaded = cragraph.verification.judges.nli.load_nli(self.settings.nli_model)
        return replace(loaded, threads=self.settings.threads or 0)

    # -- retrieval ---------------------------------------------------------------------------------------------

    @property
    def encodes(self) -> bool:
        """Whether the embedded encoder embeds: its cosines are known, and cost little."""
        return self.settings.embeddings == "embedded" and "embeddings" not in self.own

    @property
    def foreign(self) -> bool:
        """Whether a LangChain retriever is searched instead of a store."""
        return "retriever" in self.own or self.settings.retriever is not None

    @once
    def store(self) -> "Store | Collections":
        """The store, opened. Raises StoreError where there is none, or where it was never filled."""
        target = self.own.get("store", self.settings.store)
        if isinstance(target, stores.Store | stores.Collections):
            return target
        if not target:
            raise StoreMissingError("There is no store: set CRAG_STORE or pass --store, then `cragraph ingest PATH`.")
        return stores.open_collections(target, self.embeddings, create=False)

    @property
    def collections(self) -> "Collections":
        """The store as its collections; raises SettingsError for a store that the caller opened as one of them."""
        if isinstance(store := self.store, stores.Collections):
            return store
        raise SettingsError("A store that was opened by itself has no collections: give its folder or its URL instead.")

    def store_to_fill(self) -> "Collections":
        """The settings' store, made where there is none."""
        return stores.open_collections(self.settings.store or None, self.embeddings)

    @once
    def retriever(self) -> Retriever:
        """What finds passages in the store."""
        if self.foreign:
            foreign = cragraph.search.foreign
            own = self.own.get("retriever")
            source = foreign.load_retriever(self.settings.retriever or "") if own is None else own
            theirs: Retriever = foreign.ForeignRetriever(source, self.settings.timeout_s, self.expander)
            return theirs
        more = {"expand": self.expander} if self.expander else {}
        return SearchRetriever(cast("Store", self.store), weights=self.source_weights, **more)

    @once
    def expander(self) -> Any:
        """What writes further queries for a question, where that was asked for; None where it was not."""
        if not self.settings.multi_query:
            return None
        if self.chat is None:
            return cragraph.search.questions.Unwritten()
        return cragraph.search.llm_queries.MultiQuery(self.chat, self.prompts)

    @once
    def reranker(self) -> Reranker:
        """What orders the passages."""
        given: Any = self.own.get("reranker")
        if hasattr(given, "compress_documents"):
            return rerankers.CompressorReranker(given)
        if given is not None:
            return cast(Reranker, given)
        best = "nearest" if self.encodes and not self.foreign else "lexical"
        name = best if self.settings.reranker == "auto" else self.settings.reranker
        if name not in choices.RERANKERS:
            return rerankers.named_reranker(name)
        return cast(Reranker, self.part(choices.RERANKERS, name, "reranker"))

    def neighbours(self, *arguments: Any) -> Any:
        """The chunks around passages, from the store."""
        return Neighbours(cast("Store", self.store))(*arguments)

    def excerpts(self, question: str, passages: Sequence[Passage]) -> list[Passage]:
        """What of the passages a chat model is sent with a question: the same in every call on them."""
        writing = cragraph.answers.chat_answerer
        room = writing.BUDGET if self.judging_chat is None else writing.room_of(self.judging_chat)
        return [one.passage for one in writing.sent(question, passages, self.ranker, room)]

    @once
    def compute(self) -> Compute | None:
        """What answers from all rows of a stored table; None where no store is searched."""
        if self.foreign or not ("store" in self.own or self.settings.store):
            return None
        stored = cragraph.tables.StoredTables(lambda: cast("Store", self.store), self.settings.max_file_chunks)
        return Compute(stored, self.sources, self.near, self.part(choices.QUERY_MODELS, "chat"))

    def sources(self) -> list[str]:
        """The names of all that can be searched."""
        return [document.source for document in self.store.documents()]

    def near(self, word: str, others: Sequence[str]) -> list[float]:
        """How near a word is in meaning to each of some others; 0 where the embedding model fails."""
        try:
            first, *rest = unit(np.asarray(self.cached_embeddings.embed_documents([word, *others]), dtype=np.float32))
        except Exception as error:  # the model may be the caller's own
            logger.warning("the embedding model failed (%s): words are compared as they are written", error)
            return [0.0] * len(others)
        return [float(first @ other) for other in rest]

    def unanswered(self, question: str, answer: str) -> list[str]:
        """Parts of a question that an answer does not address."""
        try:
            return unanswered_parts(question, answer, self.cached_embeddings)
        except Exception as error:  # the model may be the caller's own, and what is left out is said beside the answer
            logger.warning("the embedding model failed (%s): what the answer leaves out is told by names", error)
            return unanswered_parts(question, answer, None)

    # -- generation and verification ---------------------------------------------------------------------------

    @once
    def ranker(self) -> "AnswerRanker":
        """What reads question and passages together, for the generator and the verifier alike."""
        ranking = cragraph.answers.ranking
        read = {"read": ranking.LIKELIEST} if self.encodes else {}
        made: AnswerRanker = ranking.AnswerRanker(self.reader, self.cached_embeddings, **read)
        return made

    generator: "once[Generator]" = once(lambda parts: parts.with_chat(choices.GENERATORS))  # what writes answers
    quoting: "once[Generator | None]" = once(
        lambda parts: (
            parts.part(choices.GENERATORS, "embedded")
            if parts.chat is not None and parts.settings.extractive_fallback
            else None
        )
    )  # what quotes the passages where a chat model's answer is not accepted

    query_writer: "once[QueryWriter]" = once(
        lambda parts: parts.with_chat(choices.QUERY_WRITERS)
    )  # what writes targeted queries

    @once
    def judges(self) -> Mapping[str, Judge]:
        """Every judge that can run here, by name; `auto` is the caller's, else an entailment model, else the encoder.

        Beside `auto` a chat model judges where there is one (`Verifier.model`).
        """
        known = {name: judge for name in choices.JUDGES if (judge := self.judge(name)) is not None}
        judges = choices.Judges(known, self.settings)
        if "judge" in self.own:
            judges["custom"] = judges["auto"] = self.own["judge"]
            return judges
        judges["auto"] = judges.get("nli") or judges["encoder"]
        return judges

    def judge(self, name: str) -> Judge | None:
        """One judge of the table, None where what it wants is not there."""
        if name not in self._judges:
            self._judges[name] = self.part(choices.JUDGES, name)
        return self._judges[name]

    @once
    def verifier(self) -> Verifier:
        """What judges an answer and measures it; a judge that fails is stood in for by the embedded ones."""
        chosen = self.settings
        scorers: dict[str, Any] = {"source_weight": self.source_weights} if chosen.source_weights else {}
        if self.judging_chat is not None:
            chat, title = cragraph.verification.chat_checks, self.judging_chat.title
            scores = chat.LLMScores(self.judging_chat, self.prompts, self.excerpts)
            scorers |= {name: chat.LLMScorer(getattr(scores, name), title) for name in ("alignment", "consistency")}
        return Verifier(
            judges=self.judges,
            fallback=("encoder", "embedding", "lexical"),
            extractor=self.part(choices.CLAIM_EXTRACTORS, chosen.claim_extractor, "claim extractor"),
            embeddings=self.cached_embeddings,
            **scorers,
            scorer=cragraph.answers.answered.ReaderScorer(self.ranker),
            model=cast("LLMJudge | None", self.judge("llm")),
            contradicts=lambda pairs: [reading.contradicted for reading in self.grounding.score(pairs)],
            options=VerifierOptions(
                calibration=chosen.calibration,
                weights=self.weights,
                signals=SignalOptions(
                    uncertainty_phrases=(*UNCERTAINTY_PHRASES, *chosen.uncertainty_phrases),
                    identifier_fields=chosen.identifier_fields,
                    attribution_threshold=chosen.attribution_threshold,
                ),
            ),
        )

    @property
    def weights(self) -> Mapping[str, Mapping[str, float]]:
        """The weights of the policies, where the settings change them."""
        own = self.settings.reliability_weights
        return {"reliability": own} if own else {}


@dataclass(frozen=True)
class LazySearch:
    """The retriever of some parts; the store is opened by the first search, so that a graph starts without one."""

    parts: Parts

    @property
    def name(self) -> str:
        """The retriever's name."""
        return str(self.parts.retriever.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Search."""
        return self.parts.retriever(*args, **kwargs)


def graph_of(parts: Parts) -> "StateGraph[Any, Any, Any, Any]":
    """The corrective loop of some parts, uncompiled."""
    graph, defaults = cragraph.graph.build, parts.settings.context()
    nodes = {name: graph.step(name, act, defaults) for name, act in acts_of(parts).items()}
    form = context_schema(parts.settings)
    return graph.build_graph(**nodes, defaults=defaults, context_schema=form, rescue=graph.rescue)


def acts_of(parts: Parts) -> dict[str, Act]:
    """What the seven nodes of the loop do."""
    settings, kept = parts.settings, KEPT.get(parts.settings.reranker, 5)
    stored = not parts.foreign
    search = LazySearch(parts) if parts.foreign or "store" in parts.own or settings.store else None
    verify = Verify(parts.verifier, parts.quoting, parts.compute, parts.chat)
    log = partial(cragraph.metrics.log_run, settings.metrics_log) if settings.metrics_log is not None else None
    return {
        "retrieve": Retrieve(
            search,
            (lambda: parts.store.count()) if stored else None,
            parts.with_chat(choices.CONTEXTUALIZERS),
            FETCHED.get(settings.reranker, 30),
            parts.sources if stored else None,
        ),
        "rerank": Rerank(
            parts.reranker,
            5 if settings.multi_query else kept,
            parts.neighbours if search and stored else None,
            lambda: parts.chat is not None and parts.chat.worth.capable,
        ),
        "generate": Generate(parts.generator, parts.compute, verify.quotation_first, parts.quoting),
        "verify": verify,
        "requery": Requery(parts.query_writer, parts.unanswered, parts.part(choices.QUERY_WRITERS, "embedded")),
        "review": Review(),
        "finalize": Finalize(parts.unanswered, log, parts.weights, parts.ways),
    }
