"""Follow files and folders: ingest whenever they change."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Final

from cragraph.retrieval.documents import MAX_BYTES, Found, discover
from cragraph.retrieval.store import Store
from cragraph.retrieval.store.ingest import IngestReport, OnProgress, Paths, ingest, roots_of
from cragraph.retrieval.store.reading import SplitOptions

INTERVAL: Final = 1.0
"""Seconds between looks. Looking asks the file system for sizes and times only; it works on every system and share."""

_Sight = dict[str, tuple[int, int]]


def watch(
    paths: Paths,
    store: Store,
    *,
    split_options: SplitOptions | None = None,
    prune: bool = True,
    progress: OnProgress | None = None,
    max_bytes: int | None = MAX_BYTES,
    interval: float = INTERVAL,
    stop: Event | None = None,
) -> Iterator[IngestReport]:
    """A report for the first ingest, then one for every change, until `stop` is set or the caller ends the loop.

    Files that are still being written are left until they have been still for one interval. A root that disappears for
    a while is waited for. The store is locked only while something is ingested.
    """
    roots = roots_of(paths)
    stop = stop or Event()
    seen: _Sight | None = None
    last: _Sight = {}
    while not stop.is_set():
        sight = _look(roots, max_bytes)
        if seen is None or (sight != seen and sight == last):
            there = [root for root in roots if root.exists()] if seen is not None else roots
            report = ingest(
                there, store, split_options=split_options, prune=prune, progress=progress, max_bytes=max_bytes
            )
            if seen is None or report.did_anything or report.failed:
                yield report
            seen = sight
        last = sight
        stop.wait(interval)


def _look(roots: list[Path], max_bytes: int | None) -> _Sight:
    sight: _Sight = {}
    for item in discover([root for root in roots if root.exists()], max_bytes=max_bytes):
        if isinstance(item, Found):
            try:
                status = item.path.stat()
            except OSError:
                continue
            sight[str(item.path)] = (status.st_size, status.st_mtime_ns)
    return sight
