"""What people do with the store outside a run: fill it, search it, list it, empty it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cragraph.factory import RERANKED_FROM
from cragraph.parts import Parts
from cragraph.protocols import Notes
from cragraph.settings import Settings

if TYPE_CHECKING:
    from cragraph.retrieval.ingest import IngestReport
    from cragraph.retrieval.store import Store

Progress = Callable[[Any], None]

MB = 1024 * 1024
"""Bytes of a megabyte, as `max_file_mb` counts them."""


def open_for_writing(settings: Settings) -> "Store":
    """The settings' store, made where there is none."""
    from cragraph.retrieval.store import open_store

    return open_store(settings.store or None, Parts(settings).embeddings, collection=settings.collection)


def ingest_paths(
    settings: Settings,
    paths: Sequence[Path],
    *,
    prune: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> "IngestReport":
    """Read files and folders into the store."""
    from cragraph.retrieval.ingest import ingest

    store = open_for_writing(settings)
    return ingest(paths, store, prune=prune, dry_run=dry_run, progress=progress, **_reading(settings))


def watch_paths(settings: Settings, paths: Sequence[Path], *, prune: bool = True) -> "Iterator[IngestReport]":
    """Follow files and folders: a report for the first ingest, then one for every change."""
    from cragraph.retrieval.ingest import watch

    return watch(paths, open_for_writing(settings), prune=prune, **_reading(settings))


def forget_path(settings: Settings, path: str) -> list[str]:
    """Take a document, or all below a folder, out of the store; returns what was removed."""
    from cragraph.retrieval.ingest import forget

    return forget(opened(settings), path)


def _reading(settings: Settings) -> dict[str, Any]:
    from cragraph.retrieval.ingest import SplitOptions

    sizes = settings.ingest
    return {
        "split_options": SplitOptions(sizes.chunk_size, sizes.chunk_overlap),
        "max_bytes": int(sizes.max_file_mb * MB),
    }


def opened(settings: Settings) -> "Store":
    """The settings' store; raises StoreError where there is none yet."""
    from cragraph.errors import StoreError

    store = Parts(settings).store
    if store is None:
        raise StoreError("There is no store: set CRAG_STORE or pass --store, then `cragraph ingest PATH`.")
    return store


def search_passages(settings: Settings, query: str, k: int) -> list[dict[str, Any]]:
    """The best passages for a query, after reranking, each with its scores by stage."""
    parts, notes = Parts(settings), Notes()
    found = parts.retriever([query], max(k, settings.candidates or RERANKED_FROM), notes, where=settings.where)
    return [
        dict(passage) | {"scores": passage["metadata"].get("scores", {}) | {"rerank": passage["rerank_score"]}}
        for passage in parts.reranker(query, found, notes)[:k]
    ]


def store_health(settings: Settings) -> str:
    """What the store holds, in a few words; raises StoreError with what to do where it cannot be used."""
    store = opened(settings)
    try:
        documents = store.documents()
        return f"{settings.store}: {len(documents)} documents, {store.count()} chunks"
    finally:
        store.close()
