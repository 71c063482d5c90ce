"""The one place that builds parts and joins them into graphs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from langgraph.graph import StateGraph
from langgraph.types import RetryPolicy

from cragraph.errors import InputError, ModelUnavailableError, SettingsError
from cragraph.graph.build import build_graph, build_verifier
from cragraph.nodes.finalize import Finalize
from cragraph.nodes.generate import Generate
from cragraph.nodes.requery import Requery
from cragraph.nodes.rerank import Rerank
from cragraph.nodes.retrieve import Retrieve
from cragraph.nodes.step import rescue, step
from cragraph.nodes.verify import Check, Verify
from cragraph.protocols import Generator, Judge, Notes, QueryWriter, Reranker, Retriever
from cragraph.settings import Settings, context_schema, load_settings
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

    from cragraph.retrieval.store import Store
    from cragraph.verification.engine import Verifier

PartT = TypeVar("PartT")

RETRY = RetryPolicy(max_attempts=3, initial_interval=0.5, retry_on=ModelUnavailableError)
"""Transient faults of a model server are tried again; everything else is not."""


class Lazy(Generic[PartT]):
    """A part that is built once, when it is first needed, by whichever thread comes first."""

    def __init__(self, build: Callable[[], PartT]) -> None:
        self._build: Callable[[], PartT] | None = build
        self._lock = Lock()

    def __call__(self) -> PartT:
        """The part."""
        if self._build is not None:
            with self._lock:
                if self._build is not None:
                    self._part = self._build()
                    self._build = None
        return self._part
