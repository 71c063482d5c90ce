"""Any LangChain retriever in place of a store."""

import asyncio
import inspect
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Final

from cragraph.errors import SettingsError, StoreError
from cragraph.protocols import CALLERS_LOOP, Notes, remaining
from cragraph.search.retriever import distinct_queries, fuse
from cragraph.store.filters import Where, fits
from cragraph.store.vectorstore import read
from cragraph.types import Passage

PAUSE_S: Final = 0.5  # seconds before a search that failed is tried again
UNFILTERED: Final = (
    "The retriever {} did not take the filter ({}), so its passages were filtered afterwards and may be few."
)


@dataclass(frozen=True)
class ForeignRetriever:
    """Searches a LangChain `BaseRetriever`, all queries side by side.

    A filter is passed on as `filter=`; if that is refused, the passages are filtered afterwards. A search that fails is
    tried once more; `timeout_s` bounds it. The further queries that `expand` finds in a question are searched as well.
    """

    source: Any
    timeout_s: float = 120.0
    expand: Callable[[str, Notes], list[str]] | None = None

    def __post_init__(self) -> None:
        if not hasattr(self.source, "invoke"):
            raise SettingsError(
                f"The retriever came as a {type(self.source).__name__}; wanted a LangChain BaseRetriever or "
                "VectorStore: pass one."
            )

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.source).__name__

    def __call__(self, queries: Sequence[str], k: int, notes: Notes, *, where: Where = None) -> list[Passage]:
        """At most `k` passages, best first. Raises StoreError if a search fails."""
        more = [other for query in queries for other in self.expand(query, notes)] if self.expand else []
        distinct = distinct_queries([*queries, *more], k)
        left = remaining()
        seconds = self.timeout_s if left is None else min(left, self.timeout_s)
        pool = ThreadPoolExecutor(min(len(distinct), 8), "cragraph-search")
        try:
            runs = [pool.submit(copy_context().run, self._tried, query, k, where, notes) for query in distinct]
            until = time.monotonic() + seconds
            rankings = [run.result(max(0.0, until - time.monotonic())) for run in runs]
        except LateError:
            raise StoreError(
                f"The retriever {self.name} took longer than {seconds:.0f} s: raise CRAG_TIMEOUT_S or the deadline."
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return fused(rankings)[:k]

    def _tried(self, query: str, k: int, where: Where, notes: Notes, again: bool = True) -> list[Passage]:
        try:
            return self._found(query, k, where, notes)
        except Exception as error:  # any error of a foreign client
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            if not again:
                raise StoreError(f"The retriever {self.name} failed: {reason}. Check that it answers.") from error
        notes.degraded(f"The retriever {self.name} failed and was asked again: {reason}.")
        time.sleep(PAUSE_S)
        return self._tried(query, k, where, notes, again=False)

    def _found(self, query: str, k: int, where: Where, notes: Notes) -> list[Passage]:
        if not where:
            return self._searched(query, k)
        refused = "it knows no filters"
        # LangChain drops what a retriever's signature does not name.
        search = getattr(self.source, "_get_relevant_documents", None)
        named = {} if search is None else inspect.signature(search).parameters
        if search is None or "filter" in named or any(p.kind is p.VAR_KEYWORD for p in named.values()):
            try:
                return self._searched(query, k, filter=dict(where))
            except Exception as error:
                refused = type(error).__name__
        passages = [passage for passage in self._searched(query, 4 * k) if fits(passage, where)]
        notes.degraded(UNFILTERED.format(self.name, refused))
        return passages[:k]

    def _searched(self, query: str, k: int, **options: Any) -> list[Passage]:
        own = options | ({"k": k} if hasattr(self.source, "vectorstore") else {})
        try:
            found = self.source.invoke(query, **own)
        except NotImplementedError:  # it has only an asynchronous search
            found = waited(partial(self.source.ainvoke, query, **own))
        return [read(document, index) for index, document in enumerate(found)]


def waited(call: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """Run a coroutine in the graph's event loop, if any, and return its result."""
    loop = CALLERS_LOOP.get()
    if loop is not None and loop.is_running():
        return asyncio.run_coroutine_threadsafe(call(), loop).result(remaining())
    return asyncio.run(call())


def fused(rankings: Sequence[Sequence[Passage]]) -> list[Passage]:
    """Several rankings fused by reciprocal ranks; a passage in several of them keeps its best score."""
    if len(rankings) == 1:
        return list(rankings[0])
    ascending = sorted(chain(*rankings), key=lambda passage: passage["retrieval_score"] or 0.0)
    kept = {passage["chunk_id"]: passage for passage in ascending}
    return [kept[name] for name in fuse(([(p["chunk_id"], 0.0) for p in ranking], 1.0) for ranking in rankings)]


def load_retriever(spec: str, *arguments: Any) -> Any:
    """The object named ``module:name``; a function is called with as many `arguments` as it takes."""
    module, _, name = spec.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        retriever: Any = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(
            f"The retriever {spec!r} cannot be imported ({error}): give module:name, such as search:retriever."
        ) from error
    if isinstance(retriever, Callable) and not hasattr(retriever, "invoke"):  # type: ignore[arg-type]
        retriever = retriever(*arguments[: len(inspect.signature(retriever).parameters)])
    return retriever
