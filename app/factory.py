"""Join parts into graphs."""

from typing import TYPE_CHECKING, Any

from langgraph.graph import StateGraph
from langgraph.types import RetryPolicy

from cragraph.graph.build import build_graph, build_verifier
from cragraph.lazy import Late
from cragraph.models.chat import is_transient
from cragraph.nodes.finalize import Finalize
from cragraph.nodes.generate import Generate
from cragraph.nodes.requery import Requery
from cragraph.nodes.rerank import Rerank
from cragraph.nodes.retrieve import Retrieve
from cragraph.nodes.step import Act, rescue, step
from cragraph.nodes.verify import Check, Verify
from cragraph.parts import Parts
from cragraph.protocols import Judge
from cragraph.settings import Settings, context_schema, load_settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    from cragraph.verification.verifier import Verifier

RETRY = RetryPolicy(max_attempts=3, initial_interval=0.5, retry_on=is_transient)
"""Transient faults of a model server are tried again, with backoff; everything else is not."""

MERGED_K, RERANKED_K = 5, 3
"""Passages kept of merged rankings, and by a chat model that scores each passage."""

RERANKED_FROM, SCORED_FROM = 30, 10
"""Passages fetched for a reranker that costs nothing, and for one that costs a model call a passage."""


def create_graph(
    settings: Settings | None = None,
    *,
    chat_model: "BaseChatModel | None" = None,
    embeddings: "Embeddings | None" = None,
    store: Any = None,
    reranker: Any = None,
    judge: "Judge | None" = None,
) -> StateGraph[Any, Any, Any, Any]:
    """The corrective loop, uncompiled: compile it with the checkpointer of your choice, or none.

    Without settings, they are loaded from the environment and `cragraph.yaml`. `chat_model` is any LangChain chat
    model; `embeddings` any LangChain embeddings; `store` a folder, a server URL or an opened `Store`; `reranker` a
    part of the reranker protocol or a LangChain `BaseDocumentCompressor`; `judge` a part of the judge protocol.
    """
    settings = settings or load_settings()
    parts = Parts(settings, chat_model=chat_model, embeddings=embeddings, store=store, reranker=reranker, judge=judge)
    searches = store is not None or bool(settings.store)
    retriever = Late(lambda: parts.retriever) if searches else None
    kept, fetched = (RERANKED_K, SCORED_FROM) if settings.reranker == "llm" else (MERGED_K, RERANKED_FROM)
    acts: dict[str, Act[Any]] = {
        "retrieve": Retrieve(retriever, parts.available, parts.contextualize, fetched),
        "rerank": Rerank(parts.reranker, kept, parts.neighbours if searches else None),
        "generate": Generate(parts.generator),
        "verify": Verify(parts.verifier),
        "requery": Requery(parts.query_writer, parts.unanswered),
        "finalize": Finalize(parts.unanswered, metrics_logger(settings)),
    }
    defaults = settings.context()
    return build_graph(
        **{name: step(name, act, defaults) for name, act in acts.items()},
        defaults=defaults,
        context_schema=context_schema(settings),
        retry=RETRY,
        rescue=rescue,
    )


def create_verifier(
    settings: Settings | None = None,
    *,
    chat_model: "BaseChatModel | None" = None,
    embeddings: "Embeddings | None" = None,
    judge: "Judge | None" = None,
) -> StateGraph[Any, Any, Any, Any]:
    """A graph that verifies a given answer against given passages, uncompiled."""
    settings = settings or load_settings()
    check = Check(make_verifier(settings, chat_model=chat_model, embeddings=embeddings, judge=judge))
    return build_verifier(
        check=step("verify", check, settings.context()), context_schema=context_schema(settings), retry=RETRY
    )


def make_verifier(settings: Settings, **own: Any) -> "Verifier":
    """The verifier of some settings, with the caller's own chat model, embeddings or judge."""
    return Parts(settings, **own).verifier


def metrics_logger(settings: Settings) -> Any:
    """What appends one line a run to the metrics log; None where none is kept."""
    if settings.metrics_log is None:
        return None
    from functools import partial

    from cragraph.metrics_log import log_run

    return partial(log_run, settings.metrics_log)


def drawn(name: str) -> Any:
    """A graph's drawing: `crag` or `verify`."""
    settings = Settings.model_construct()
    graphs = {"crag": create_graph, "verify": create_verifier}
    return graphs[name](settings).compile().get_graph()
