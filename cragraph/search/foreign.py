"""Retrievers from elsewhere: any LangChain retriever or vector store, in place of our own store."""

import inspect
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from contextvars import copy_context
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Final

from cragraph.errors import SettingsError, StoreError
from cragraph.passages import as_passage
from cragraph.protocols import Notes, remaining
from cragraph.search.fusion import distinct_queries, fuse
from cragraph.store.filters import Where, fits
from cragraph.types import Passage

PAUSE_S: Final = 0.5  # seconds before a search that failed is tried again
UNSCORED: Final = "The retriever {} gives no relevance in 0..1, so its passages are reranked without one."
UNFILTERED: Final = (
    "The retriever {} did not take the filter ({}), so its passages were filtered afterwards and may be few."
)


@dataclass(frozen=True)
class ForeignRetriever:
    """Searches a LangChain `BaseRetriever` or `VectorStore`, all queries side by side.

    A filter is passed on as `filter=`; where that is refused, the passages are filtered afterwards. Relevance scores
    are kept (a negative cosine as 0); those above 1 mean something that only their maker knows and are not used. A
    search that fails is tried once more; `timeout_s` bounds it. The further queries that `expand` finds in a question
    are searched as well.
    """

    source: Any
    timeout_s: float = 120.0
    expand: Callable[[str, Notes], list[str]] | None = None

    def __post_init__(self) -> None:
        if not (hasattr(self.source, "invoke") or hasattr(self.source, "similarity_search")):
            raise SettingsError(
                f"The retriever came as a {type(self.source).__name__}; wanted a LangChain BaseRetriever or "
                "VectorStore: pass one."
            )

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.source).__name__

    def __call__(self, queries: Sequence[str], k: int, notes: Notes, *, where: Where = None) -> list[Passage]:
        """At most `k` passages, best first; raises StoreError where a search fails."""
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
        merged = fused(rankings)[:k]
        if merged and all(passage["retrieval_score"] is None for passage in merged):
            notes.degraded(UNSCORED.format(self.name))
        return merged

    def _tried(self, query: str, k: int, where: Where, notes: Notes, again: bool = True) -> list[Passage]:
        try:
            return self._found(query, k, where, notes)
        except Exception as error:  # whatever another's client raises
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
        """What the source finds, with its relevance where it is a vector store that has one."""
        if not hasattr(self.source, "similarity_search"):
            own = options | ({"k": k} if hasattr(self.source, "vectorstore") else {})
            return [read(document, index) for index, document in enumerate(self.source.invoke(query, **own))]
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Relevance scores must be", UserWarning)
                pairs = self.source.similarity_search_with_relevance_scores(query, k, **options)
        except NotImplementedError:
            pairs = [(document, None) for document in self.source.similarity_search(query, k, **options)]
        known = all(score is not None and -1.001 <= score <= 1.001 for _, score in pairs)
        return [
            read(document, index, min(max(float(score), 0.0), 1.0) if known else None)
            for index, (document, score) in enumerate(pairs)
        ]


def read(document: Any, index: int, score: float | None = None) -> Passage:
    """A LangChain document as a passage: `id`, `source`, `page` and `start_index` under their usual names."""
    metadata = dict(document.metadata or {})
    if "page_label" in metadata and str(metadata["page_label"]).isdigit():
        metadata["page"] = int(metadata["page_label"])  # beside it, LangChain's PDF loaders count `page` from 0
    elif isinstance(metadata.get("page"), int) and "total_pages" in metadata:
        metadata["page"] += 1
    if isinstance(metadata.get("page"), str):
        metadata["page"] = int(metadata["page"]) if metadata["page"].isdigit() else None
    name = getattr(document, "id", None) or metadata.get("chunk_id") or metadata.get("id") or metadata.get("_id")
    if score is None:
        scores = (metadata.get(key) for key in ("relevance_score", "score"))
        score = next((s for s in scores if isinstance(s, float) and 0.0 <= s <= 1.0), None)
    known = {"chunk_id": str(name)} if name else {}
    return as_passage({**metadata, **known, "text": document.page_content, "retrieval_score": score}, index)


def fused(rankings: Sequence[Sequence[Passage]]) -> list[Passage]:
    """One ranking of several, by reciprocal ranks; a passage that several found keeps its best score."""
    if len(rankings) == 1:
        return list(rankings[0])
    ascending = sorted(chain(*rankings), key=lambda passage: passage["retrieval_score"] or 0.0)
    kept = {passage["chunk_id"]: passage for passage in ascending}
    return [kept[name] for name in fuse(([(p["chunk_id"], 0.0) for p in ranking], 1.0) for ranking in rankings)]


def load_retriever(spec: str, *arguments: Any) -> Any:
    """The object that ``module:name`` names, or what the function there returns of as many `arguments` as it takes."""
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
