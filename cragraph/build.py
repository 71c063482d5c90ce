"""Builds the parts of a graph from settings: the only place that chooses implementations.

`loop.py` joins them. This module does not import LangGraph, so that listing documents or verifying an answer does not
wait for it.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Unpack, cast

import numpy as np

from cragraph.answers.answered import ReaderScorer as AnswerReader
from cragraph.answers.answered import WhetherReader
from cragraph.answers.candidates import MOST_WINDOWS
from cragraph.answers.chat_answerer import ChatGenerator, room_of, sent
from cragraph.answers.excerpts import BUDGET
from cragraph.answers.extractive import ExtractiveGenerator
from cragraph.answers.ranking import LIKELIEST, AnswerRanker
from cragraph.choices import CHAT_MODEL, JUDGES, SPECIALIST
from cragraph.errors import SettingsError, StoreMissingError
from cragraph.models.cache import CachedEmbeddings
from cragraph.models.chat import ChatCaller, Gate
from cragraph.models.embeddings import named_embeddings
from cragraph.models.encoder import Encoder
from cragraph.models.grounding import GroundingModel
from cragraph.models.reader import QuotationReader, Reader
from cragraph.models.servers import chat_model
from cragraph.prompts import Prompts
from cragraph.protocols import (
    CallerParts,
    ClaimExtractor,
    Embeddings,
    Generator,
    Judge,
    QueryWriter,
    Reranker,
    Retriever,
)
from cragraph.search.questions import (
    ChatQueries,
    Contextualizer,
    MultiQuery,
    TargetedQueries,
    Unwritten,
    unanswered_parts,
)
from cragraph.search.rerankers import (
    CompressorReranker,
    LexicalReranker,
    LLMReranker,
    NearestReranker,
    NoReranker,
    named_reranker,
)
from cragraph.search.retriever import ForeignRetriever, SearchRetriever, SourceWeights, load_retriever
from cragraph.settings import Settings, loaded
from cragraph.store import Store, open_store
from cragraph.store.chroma import is_named, open_chroma
from cragraph.store.records import unit
from cragraph.store.vectorstore import LangChainStore
from cragraph.turns import FollowUps, Turn
from cragraph.types import Passage
from cragraph.verification.claims import SentenceExtractor
from cragraph.verification.judges import Judges
from cragraph.verification.judges.classifiers import NLIJudge, NLIModel, SpecialistJudge, load_nli
from cragraph.verification.judges.embedded import EmbeddingJudge, EncoderJudge, LexicalJudge
from cragraph.verification.judges.llm import LLMClaims, LLMJudge, LLMScorer, LLMScores
from cragraph.verification.verifier import Verifier, VerifierOptions

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    once = cached_property
else:

    class once(cached_property):
        """A cached property that is computed once, even if several threads need it at the same moment."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            with _LOCK:
                return super().__get__(instance, owner)


_LOCK: Final = RLock()

logger = logging.getLogger(__name__)

FETCHED: Final = {"llm": 10}
KEPT: Final = {"llm": 3}
"""Passages fetched and kept, by reranker; 30 and 5 for rerankers without a model call per passage."""

WHOLE_TABLE: Final = 40  # rows at most of a table that a capable model gets whole


_NAMED: Final = ("chat_model", "embeddings", "retriever", "reranker", "judge")
_SETTING: Final = {"chat_model": "model"}
_WANTED: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "chat_model": (("ainvoke", "bind"), "a LangChain chat model, or a name such as 'ollama:llama3.2'"),
    "embeddings": (("embed_query",), "LangChain embeddings, or a name such as 'ollama:nomic-embed-text'"),
    "store": (
        ("similarity_search", "dense", "__fspath__", "casefold"),
        "a folder, a name such as 'chroma:FOLDER', a LangChain VectorStore, or a store that is open",
    ),
    "retriever": (
        ("invoke", "similarity_search", "__call__"),
        "a LangChain BaseRetriever or VectorStore, its 'module:name', or a part of the protocol Retriever",
    ),
    "reranker": (
        ("compress_documents", "__call__"),
        "a LangChain BaseDocumentCompressor, a name, or a part of the protocol Reranker",
    ),
    "judge": (("__call__",), "a name, or a part of the protocol Judge"),
    "generator": (("__call__",), "a part of the protocol Generator"),
    "query_writer": (("__call__",), "a part of the protocol QueryWriter"),
}
"""For each part of a caller: the methods of which it needs one, and the wanted kind in words."""


def checked_part(name: str, part: Any) -> None:
    """Check a caller's part. Raises SettingsError for an unknown part or one of the wrong kind."""
    if name not in _WANTED:
        raise SettingsError(f"There is no part {name!r}: give {', '.join(_WANTED)}.")
    methods, wanted = _WANTED[name]
    if isinstance(part, type) or not any(hasattr(part, method) for method in methods):
        came = f"the class {part.__name__}" if isinstance(part, type) else f"a {type(part).__name__}"
        raise SettingsError(f"{name} came as {came}; wanted {wanted}.")


class Parts:
    """Every part of a graph, built at first use from the settings, unless the caller brought it.

    `own` are the caller's parts (`protocols.CallerParts`). Raises SettingsError for a part of the wrong kind.
    """

    def __init__(self, settings: Settings, **own: Unpack[CallerParts]) -> None:
        given: dict[str, Any] = {name: part for name, part in own.items() if part is not None}
        named = {_SETTING.get(name, name): given.pop(name) for name in _NAMED if isinstance(given.get(name), str)}
        if named:
            loaded(named, {setting: name for name, setting in _SETTING.items()})  # refuses an unknown name
        self.settings = settings.model_copy(update=named)
        self.own = given
        for name, part in given.items():
            checked_part(name, part)
        if self.settings.retriever and not {"retriever", "store"} & given.keys():
            given["retriever"] = load_retriever(self.settings.retriever)
        if hasattr(given.get("retriever"), "similarity_search"):
            given["store"] = given.pop("retriever")
        if hasattr(given.get("store"), "similarity_search"):
            given["store"] = LangChainStore(given["store"])

    # -- models ------------------------------------------------------------------------------------------------

    @once
    def gate(self) -> Gate:
        """The limit of simultaneous model calls."""
        return Gate(self.settings.max_concurrency, self.settings.calls_per_minute)

    @once
    def chat(self) -> ChatCaller | None:
        """The chat model that writes and judges, or None."""
        own = self.own.get("chat_model")
        return self._caller(None if own else self.settings.model, own)

    @once
    def judging_chat(self) -> ChatCaller | None:
        """The chat model that judges, or None."""
        own = self.settings.judge_model
        return self._caller(own) if own else self.chat

    def _caller(self, spec: str | None, model: "BaseChatModel | None" = None) -> ChatCaller | None:
        chosen = self.settings
        if spec is not None:
            url = chosen.base_url or (chosen.ollama_host if spec.startswith("ollama:") else None)
            model = chat_model(
                spec,
                base_url=url,
                timeout_s=chosen.timeout_s,
                num_ctx=chosen.num_ctx,
                num_predict=chosen.num_predict,
            )
        if model is None:
            return None
        return ChatCaller(model, spec or "", timeout_s=chosen.timeout_s, gate=self.gate)

    @once
    def prompts(self) -> Prompts:
        """The prompts; a user's own replace the built-in ones."""
        return Prompts(self.settings.prompts)

    @once
    def embeddings(self) -> Embeddings:
        """The embedding model."""
        spec, chosen = self.settings.embeddings, self.settings
        if "embeddings" in self.own:
            return cast(Embeddings, self.own["embeddings"])
        if spec == "embedded":
            return Encoder()
        url = chosen.ollama_host if spec.startswith("ollama:") else chosen.base_url
        return named_embeddings(spec, base_url=url, timeout_s=chosen.timeout_s)

    @property
    def encodes(self) -> bool:
        """Whether the embedding model is the embedded encoder, whose cosines are calibrated and cheap."""
        return self.settings.embeddings == "embedded" and "embeddings" not in self.own

    @once
    def cached_embeddings(self) -> CachedEmbeddings:
        """The embedding model behind a bounded cache, shared by judges, signals and search."""
        return CachedEmbeddings(self.embeddings)

    @once
    def grounding(self) -> GroundingModel:
        """The network that judges whether a text is supported."""
        return GroundingModel()

    @once
    def reader(self) -> Reader:
        """The network that reads a question and a text together."""
        return Reader()

    @once
    def quotation_reader(self) -> QuotationReader:
        """The network that reads a quotation with what stands around it, and with later texts."""
        return QuotationReader()

    @once
    def ranker(self) -> AnswerRanker:
        """The ranker that reads question and passages together, shared by generator and verifier."""
        read = LIKELIEST if self.encodes else MOST_WINDOWS
        return AnswerRanker(self.reader, self.cached_embeddings, read=read, rereads=self.quotation_reader.answers)

    @once
    def scorer(self) -> AnswerReader:
        """The reader of answers: does this one answer the question?"""
        return AnswerReader(self.ranker)

    @once
    def whether(self) -> WhetherReader:
        """The reader of yes-or-no questions."""
        return WhetherReader(self.ranker)

    @once
    def nli_model(self) -> NLIModel | None:
        """The classifier of the nli judge, None if none is set."""
        if self.settings.nli_model is None:
            return None
        return load_nli(self.settings.nli_model)

    # -- retrieval ---------------------------------------------------------------------------------------------

    @property
    def foreign(self) -> bool:
        """Whether a LangChain retriever is searched instead of a store."""
        return "retriever" in self.own

    @once
    def store(self) -> Store | LangChainStore:
        """The opened store. Raises StoreError if there is none, or if it was never filled."""
        return self._opened(create=False)

    def _opened(self, *, create: bool) -> Store | LangChainStore:
        """The store of a folder, of a name such as chroma:FOLDER, of a LangChain vector store, or an opened store."""
        target = self.own.get("store", self.settings.store)
        if isinstance(target, Store | LangChainStore):
            return target
        if not target and not create:
            raise StoreMissingError("There is no store: set CRAG_STORE or pass --store, then `cragraph ingest PATH`.")
        if is_named(target):
            return open_chroma(str(target), self.cached_embeddings, create=create)
        return open_store(target or None, self.embeddings, create=create)

    def store_to_fill(self, *, dry_run: bool = False) -> Store | LangChainStore:
        """The store to ingest into, made if missing; with `dry_run` a store in memory if there is none."""
        try:
            return self.store
        except StoreMissingError:
            made = open_store(None, self.embeddings) if dry_run else self._opened(create=True)
            if dry_run or not self.settings.store:
                return made
            made.close()
            return self.store

    @once
    def source_weights(self) -> SourceWeights:
        """The weights of sources."""
        return SourceWeights(self.settings.source_weights)

    @once
    def retriever(self) -> Retriever:
        """The retriever: of the store, or a LangChain retriever."""
        expand = self._expander()
        if self.foreign:
            own: Any = self.own["retriever"]
            return (
                ForeignRetriever(own, self.settings.timeout_s, expand)
                if hasattr(own, "invoke")
                else cast(Retriever, own)
            )
        more = {"expand": expand} if expand else {}
        return SearchRetriever(self.store, weights=self.source_weights, **more)

    def _expander(self) -> Any:
        """The writer of further queries for a question, None if not wanted."""
        if not self.settings.multi_query:
            return None
        return Unwritten() if self.chat is None else MultiQuery(self.chat, self.prompts)

    @once
    def reranker(self) -> Reranker:
        """The reranker."""
        given: Any = self.own.get("reranker")
        if hasattr(given, "compress_documents"):
            return CompressorReranker(given)
        if given is not None:
            return cast(Reranker, given)
        best = "nearest" if self.encodes and not self.foreign else "lexical"
        return self.reranker_named(best if self.settings.reranker == "auto" else self.settings.reranker)

    def reranker_named(self, name: str) -> Reranker:
        """The reranker of that name. Raises SettingsError if it needs a chat model and there is none."""
        if name == "none":
            return NoReranker()
        if name == "lexical":
            return LexicalReranker()
        if name == "nearest":
            return NearestReranker(self.cached_embeddings)
        if name == "llm":
            if self.chat is None:
                raise SettingsError(f"The reranker llm needs {CHAT_MODEL}.")
            return LLMReranker(self.chat, self.prompts, self.settings.max_concurrency)
        return named_reranker(name)

    def rows_of(self, source: str, where: Mapping[str, Any] | None) -> list[Passage]:
        """The rows of a file if it has at most `WHOLE_TABLE` of them, else none."""
        rows = cast(Store, self.store).of_source(source, where, WHOLE_TABLE + 1)
        return rows if len(rows) <= WHOLE_TABLE else []

    def sources(self) -> list[str]:
        """The names of all searchable sources."""
        return [document.source for document in self.store.documents()]

    def near(self, word: str, others: Sequence[str]) -> list[float]:
        """The similarity of a word to each of some others; 0 if the embedding model fails."""
        try:
            first, *rest = unit(np.asarray(self.cached_embeddings.embed_documents([word, *others]), dtype=np.float32))
        except Exception as error:  # the model may be the caller's own
            logger.warning("the embedding model failed (%s): words are compared as they are written", error)
            return [0.0] * len(others)
        return [float(first @ other) for other in rest]

    @property
    def unanswered(self) -> Callable[[str, str], list[str]]:
        """A function that finds the parts of a question that an answer does not address."""
        return partial(unanswered_parts, embeddings=self.cached_embeddings)

    # -- generation --------------------------------------------------------------------------------------------

    @once
    def generator(self) -> Generator:
        """The generator of answers."""
        if "generator" in self.own:
            return cast(Generator, self.own["generator"])
        if self.chat is None:
            return ExtractiveGenerator(self.ranker)
        return ChatGenerator(self.chat, self.prompts, ranker=self.ranker)

    @once
    def quoting(self) -> Generator | None:
        """The generator that quotes the passages if a chat model's answer is not accepted; None without one."""
        quotes = self.chat is not None and "generator" not in self.own and self.settings.extractive_fallback
        return ExtractiveGenerator(self.ranker) if quotes else None

    @once
    def query_writer(self) -> QueryWriter:
        """The writer of a correction's targeted queries."""
        if "query_writer" in self.own:
            return cast(QueryWriter, self.own["query_writer"])
        if self.chat is None:
            return TargetedQueries()
        return ChatQueries(
            self.chat,
            self.prompts,
            fallback=TargetedQueries(),
            excerpts=self.excerpts,
        )

    @once
    def contextualizer(self) -> Callable[[str, Sequence[Any], Any], Turn]:
        """The reader of a conversation's turns."""
        rules = FollowUps()
        return rules if self.chat is None else Contextualizer(self.chat, self.prompts, rules)

    def excerpts(self, question: str, passages: Sequence[Passage]) -> list[Passage]:
        """The excerpts of the passages for a chat model: the same in every call on a question."""
        room = BUDGET if self.judging_chat is None else room_of(self.judging_chat)
        return [one.passage for one in sent(question, passages, self.ranker, room)]

    # -- verification ------------------------------------------------------------------------------------------

    @once
    def judges(self) -> Mapping[str, Judge]:
        """Every available judge, by name; `auto` is the caller's, else an entailment model, else the encoder.

        With `auto`, also called `cascade`, a chat model judges too if there is one (`Verifier.model`).
        """
        judges = Judges(self.judge)
        judges |= {name: judge for name in JUDGES if (judge := self.judge(name)) is not None}
        if "judge" in self.own:
            judges["custom"] = judges["auto"] = self.own["judge"]
            return judges
        judges["auto"] = judges.get("nli") or judges["encoder"]
        if self.judging_chat is not None:
            judges["cascade"] = judges["auto"]
        return judges

    def judge(self, name: str) -> Judge | None:
        """The judge of that name, None if it needs a model that is not set."""
        if name == "lexical":
            return LexicalJudge()
        if name == "embedding":
            return EmbeddingJudge(self.cached_embeddings)
        if name == "encoder":
            return self._encoder_judge
        if name == "nli" and self.nli_model is not None:
            return NLIJudge(self.nli_model)
        if name == "llm" and self.judging_chat is not None:
            return self._llm_judge(self.judging_chat)
        if name.startswith(SPECIALIST):
            chosen, model = self.settings, name.removeprefix(SPECIALIST)
            return SpecialistJudge(model, chosen.ollama_host, chosen.timeout_s, chosen.num_ctx, chosen.max_concurrency)
        return None

    @once
    def _encoder_judge(self) -> EncoderJudge:
        return EncoderJudge(
            model=self.grounding,
            other=EmbeddingJudge(self.cached_embeddings),
            yes_no=self.whether,
            embeddings=self.cached_embeddings,
        )

    def _llm_judge(self, chat: ChatCaller) -> LLMJudge:
        return LLMJudge(chat, self.prompts, excerpts=self.excerpts)

    def claims_by_model(self) -> ClaimExtractor:
        """The extractor of claims by a chat model. Raises SettingsError without a chat model."""
        if self.judging_chat is None:
            raise SettingsError(f"Claims are found by a model with {CHAT_MODEL}.")
        return LLMClaims(self.judging_chat, self.prompts)

    @once
    def verifier(self) -> Verifier:
        """The verifier; the embedded judges are the fallbacks of a judge that fails."""
        chosen = self.settings
        scorers: dict[str, Any] = {"source_weight": self.source_weights} if chosen.source_weights else {}
        if self.judging_chat is not None:
            scores = LLMScores(self.judging_chat, self.prompts, self.excerpts)
            title = self.judging_chat.title
            scorers["alignment"] = LLMScorer(scores.alignment, title)
            scorers["consistency"] = LLMScorer(scores.consistency, title)
        return Verifier(
            judges=self.judges,
            fallback=("encoder", "embedding", "lexical"),
            extractor=SentenceExtractor(),
            embeddings=self.cached_embeddings,
            **scorers,
            scorer=self.scorer,
            model=None if self.judging_chat is None else self._llm_judge(self.judging_chat),
            contradicts=self.contradicts,
            options=VerifierOptions(calibration=chosen.calibration, weights=self.weights),
        )

    def contradicts(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each pair the probability, 0..1, that the first text contradicts the second."""
        return [reading.contradicted for reading in self.grounding.score(pairs)]

    @property
    def weights(self) -> Mapping[str, Mapping[str, float]]:
        """The weights of the policies that the settings change."""
        own = self.settings.reliability_weights
        return {"reliability": own} if own else {}
