"""The replaceable parts by name: adding one is a file with its class, and a line here.

A part is named by its module and class, so that this table loads none of them. `build.py` builds them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from cragraph import plugins

CHAT_MODEL: Final = "a chat model: set CRAG_MODEL or pass --model ollama:<model>"


@dataclass(frozen=True)
class Part:
    """Where a part's class is, what its constructor is given, and what has to be there for it.

    `given` reads the constructor's arguments (in order, or by name) from a `build.Parts`; where one that it needs is
    None, the part is not available, and `wants` says what would make it so.
    """

    home: str
    given: Callable[[Any], tuple[Any, ...] | dict[str, Any]] = lambda parts: ()
    wants: str = ""

    def build(self, parts: Any) -> Any:
        """The part, or None where what it wants is not there."""
        given = self.given(parts)
        named = given if isinstance(given, dict) else {}
        values = () if named else tuple(given)
        if self.wants and any(value is None for value in (*values, *named.values())):
            return None
        module, _, name = self.home.partition(":")
        return getattr(import_module(f"cragraph.{module}"), name)(*values, **named)


JUDGES: Final[Mapping[str, Part]] = {
    "lexical": Part("verification.judges.lexical:LexicalJudge"),
    "embedding": Part("verification.judges.embedding:EmbeddingJudge", lambda p: (p.cached_embeddings,)),
    "encoder": Part(
        "verification.judges.encoder:EncoderJudge",
        lambda p: {
            "model": p.grounding,
            "other": p.judge("embedding"),
            "told": p.whether,
            "embeddings": p.cached_embeddings,
        },
    ),
    "nli": Part(
        "verification.judges.nli:NLIJudge",
        lambda p: (p.nli_model,),
        "a model: set CRAG_NLI_MODEL to the folder of an ONNX classifier",
    ),
    "llm": Part(
        "verification.judges.llm:LLMJudge",
        lambda p: {
            "caller": p.judging_chat,
            "prompts": p.prompts,
            "excerpts": p.excerpts,
        },
        CHAT_MODEL,
    ),
    "cascade": Part(
        "verification.judges.cascade:CascadeJudge", lambda p: (p.judge("encoder"), p.judge("llm")), CHAT_MODEL
    ),
}
"""Who judges claims; beside them `ollama:<model>` for a model that was made to judge."""

SPECIALIST: Final = "ollama:"  # the prefix of the names of such models


class Judges(dict[str, Any]):
    """Judges by name; one for a model ``ollama:<model>`` is made when it is first asked for."""

    def __init__(self, known: Mapping[str, Any], settings: Any) -> None:
        super().__init__(known)
        self._settings = settings

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or str(name).startswith(SPECIALIST)

    def __missing__(self, name: str) -> Any:
        if not name.startswith(SPECIALIST):
            raise KeyError(name)
        chosen, model = self._settings, name.removeprefix(SPECIALIST)
        given = (model, chosen.ollama_host, chosen.timeout_s, chosen.num_ctx, chosen.max_concurrency)
        made = Part("verification.judges.specialist:SpecialistJudge", lambda _: given).build(None)
        return self.setdefault(name, made)


ENCODER_SHARE: Final = 0.2
"""The weight of the reader beside the lexical reranker: it was trained to answer, not to find."""

RERANKERS: Final[Mapping[str, Part]] = {
    "none": Part("search.rerankers:NoReranker"),
    "lexical": Part("search.rerankers.lexical:LexicalReranker"),
    "nearest": Part("search.rerankers.nearest:NearestReranker", lambda p: (p.cached_embeddings,)),
    "encoder": Part(
        "search.rerankers.encoder:EncoderReranker",
        lambda p: (p.reader_scorer, ENCODER_SHARE, p.part(RERANKERS, "lexical")),
    ),
    "llm": Part(
        "search.rerankers.llm:LLMReranker", lambda p: (p.chat, p.prompts, p.settings.max_concurrency), CHAT_MODEL
    ),
}
"""What orders the passages; `auto` is nearest with the embedded encoder, whose cosines it weighs, else lexical."""

COMPRESSORS: Final[Mapping[str, tuple[str, str, str]]] = {
    "flashrank": ("langchain_community.document_compressors", "FlashrankRerank", "langchain-community flashrank"),
    "cohere": ("langchain_cohere", "CohereRerank", "langchain-cohere"),
    "cross-encoder": (
        "langchain_community.cross_encoders",
        "HuggingFaceCrossEncoder",
        "langchain-community sentence-transformers",
    ),
}
"""Rerankers of other libraries through LangChain: module, class, and the packages to install."""

COMPRESSORS_NAMED: Final = ("flashrank", "flashrank:<model>", "cross-encoder:<model>", "cohere:<model>")


def is_compressor(spec: str) -> bool:
    """Whether a name, a model's after a colon, is one of these or of a package that is installed."""
    name = spec.partition(":")[0]
    return name in COMPRESSORS or name in plugins.brought("rerankers")


GENERATORS: Final[Mapping[str, Part]] = {
    "embedded": Part("answers.extractive:ExtractiveGenerator", lambda p: (p.ranker,)),
    "chat": Part(
        "answers.chat_answerer:ChatGenerator",
        lambda p: {"caller": p.chat, "prompts": p.prompts, "ranker": p.ranker},
        CHAT_MODEL,
    ),
}
"""What writes answers: chat where there is a chat model."""

QUERY_WRITERS: Final[Mapping[str, Part]] = {
    "embedded": Part("search.questions:TargetedQueries"),
    "chat": Part(
        "search.llm_queries:ChatQueries",
        lambda p: {
            "caller": p.chat,
            "prompts": p.prompts,
            "fallback": p.part(QUERY_WRITERS, "embedded"),
            "excerpts": p.excerpts,
        },
        CHAT_MODEL,
    ),
}
"""What writes the targeted queries of a correction, likewise."""

CONTEXTUALIZERS: Final[Mapping[str, Part]] = {
    "embedded": Part("answers.followups:FollowUps"),
    "chat": Part(
        "search.llm_queries:Contextualizer",
        lambda p: (p.chat, p.prompts, p.part(CONTEXTUALIZERS, "embedded")),
        CHAT_MODEL,
    ),
}
"""What makes a follow-up question stand alone, likewise."""

QUERY_MODELS: Final[Mapping[str, Part]] = {
    "chat": Part("tables.written:QueryModel", lambda p: (p.chat, p.prompts), CHAT_MODEL),
}
"""What writes a query for a table where the words of a question leave it open."""

CLAIM_EXTRACTORS: Final[Mapping[str, Part]] = {
    "sentences": Part("verification.claims:SentenceExtractor"),
    "llm": Part("verification.chat_checks:LLMClaims", lambda p: (p.judging_chat, p.prompts), CHAT_MODEL),
}
"""What finds the claims of an answer for a judge that does not find them itself."""
