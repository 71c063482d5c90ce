"""Joins the parts of `build.py` into the corrective loop."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from cragraph.answers.later import LaterSearch
from cragraph.answers.quotations import SecondReading
from cragraph.build import FETCHED, KEPT, WHOLE_TABLE, Parts
from cragraph.graph.build import Act, LoopGraph, build_graph, rescue, speak, step
from cragraph.log import log_run
from cragraph.nodes.compute import Compute
from cragraph.nodes.finalize import Finalize, Ways
from cragraph.nodes.generate import Generate
from cragraph.nodes.requery import Requery
from cragraph.nodes.rerank import CAPABLE_K, Rerank
from cragraph.nodes.retrieve import Retrieve
from cragraph.nodes.review import Review
from cragraph.nodes.verify import Verify
from cragraph.search.questions import TargetedQueries
from cragraph.settings import context_schema
from cragraph.tables import StoredTables
from cragraph.tables.written import QueryModel
from cragraph.types import Passage


@dataclass(frozen=True)
class LazySearch:
    """The retriever of some parts; the first search opens the store, so that a graph can be built without a store."""

    parts: Parts

    @property
    def name(self) -> str:
        """The retriever's name."""
        return self.parts.retriever.name

    def __call__(self, *given: Any, **more: Any) -> list[Passage]:
        """Search."""
        return self.parts.retriever(*given, **more)


def graph_of(parts: Parts, ways: Ways = Ways(), **joined: Any) -> LoopGraph:  # noqa: B008  (frozen)
    """The corrective loop of some parts, uncompiled; `joined` are `inputs` and `doubt_in_text` of `build_graph`."""
    defaults = parts.settings.context()
    nodes: dict[str, Any] = {name: step(name, act, defaults) for name, act in acts_of(parts, ways).items()}
    form = context_schema(parts.settings)
    return build_graph(**nodes, defaults=defaults, context_schema=form, rescue=rescue, **joined)


def acts_of(parts: Parts, ways: Ways = Ways()) -> dict[str, Act]:  # noqa: B008  (frozen)
    """The acts of the loop's seven nodes."""
    settings, stored = parts.settings, not parts.foreign
    searched = parts.foreign or "store" in parts.own or bool(settings.store)
    kept = 5 if settings.multi_query else KEPT.get(settings.reranker, 5)
    compute = computing(parts) if searched and stored else None
    later = LaterSearch(
        LazySearch(parts), lambda: parts.ranker.embeddings, lambda read: parts.quotation_reader.supersedes(read)
    )
    sources = parts.sources if stored else None
    verify = Verify(
        parts.verifier,
        parts.quoting,
        compute,
        parts.chat,
        SecondReading(lambda: parts.scorer, lambda read: parts.quotation_reader.answers(read)),
        later if searched else None,
        sources,
    )

    def capable() -> bool:
        return parts.chat is not None and parts.chat.worth.capable

    return {
        "retrieve": Retrieve(
            LazySearch(parts) if searched else None,
            (lambda: parts.store.count()) if stored else None,
            parts.contextualizer,
            FETCHED.get(settings.reranker, 30),
            sources,
        ),
        "rerank": Rerank(
            parts.reranker,
            kept,
            kept if settings.multi_query else CAPABLE_K,
            capable,
            parts.rows_of if searched and stored else None,
            None if settings.multi_query else lambda question, passages: parts.ranker(question, passages).answered,
        ),
        "generate": Generate(parts.generator, compute, verify.quotation_first, parts.quoting),
        "verify": verify,
        "requery": Requery(
            parts.query_writer,
            parts.unanswered,
            None if "query_writer" in parts.own else TargetedQueries(),
            searched,
            capable,
        ),
        "review": Review(),
        "finalize": Finalize(
            parts.unanswered,
            partial(log_run, settings.metrics_log) if settings.metrics_log is not None else None,
            parts.weights,
            ways,
            speak,
        ),
    }


def computing(parts: Parts) -> Compute:
    """The part that computes answers over all rows of a stored table."""
    stored = StoredTables(lambda: parts.store, parts.settings.limits.chunks)
    chat = parts.chat
    written = None if chat is None else QueryModel(chat, parts.prompts)
    return Compute(stored, parts.sources, parts.near, written, WHOLE_TABLE)
