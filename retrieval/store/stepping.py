"""Putting the local index back in step with Chroma, which holds everything it is made from."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from cragraph.retrieval.store.exact import packed
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.ledger import Ledger
from cragraph.retrieval.store.records import Origin, with_context
from cragraph.retrieval.store.vectors import Vectors

_BATCH: Final = 1000


def in_step(vectors: Vectors, index: Index) -> bool:
    """Whether the index follows the last write that Chroma knows of, and misses nothing."""
    return index.stamp("generation") == vectors.generation() and index.count() == vectors.count()


def step(vectors: Vectors, index: Index, ledger: Ledger, *, keep: bool) -> int:
    """Bring over what the index misses and drop what Chroma no longer has; how many passages that were.

    Only what was written since is fetched; when the counts still differ afterwards, the ids are compared.
    `keep` brings the vectors over too.
    """
    generation = vectors.generation()
    since = index.stamp("generation")
    changed = vectors.ids({"_g": {"$gt": since}} if since else None)
    moved = _fetch(vectors, index, ledger, changed, keep)
    if index.count() != vectors.count():
        here, there = index.ids(), set(vectors.ids())  # in this order: what is added meanwhile is not dropped
        moved += _fetch(vectors, index, ledger, sorted(there - here), keep)
        index.drop(here - there)
        moved += len(here - there)
    index.set_stamp(generation=generation)
    return moved


def _fetch(vectors: Vectors, index: Index, ledger: Ledger, chunk_ids: list[str], keep: bool) -> int:
    seen: dict[tuple[str, str, str], Origin] = {}
    for ids in _batches(chunk_ids):
        records = [with_context(record) for record in vectors.records(ids)]
        if keep:
            found = vectors.vectors(ids)
            blobs = packed(np.stack([found[record.passage["chunk_id"]] for record in records]))
            records = [replace(record, vector=blob) for record, blob in zip(records, blobs, strict=True)]
        index.put(records)
        for origin in (origin for record in records for origin in record.origins):
            if origin.chunks >= 0:
                seen[origin.state] = origin
    for origin in seen.values():
        # One that was cut off is left for the next ingest to finish.
        if ledger.held(origin) == origin.chunks and origin.source not in ledger.sources():
            ledger.set_whole(origin)
    return len(chunk_ids)


def _batches(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]
