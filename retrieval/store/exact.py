"""The vectors kept beside Chroma: half precision, to rebuild its index from and to search without it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from cragraph.errors import StoreError
from cragraph.retrieval.store.floats import Floats, as_floats
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.ledger import Ledger
from cragraph.retrieval.store.records import Record, with_context
from cragraph.retrieval.store.sql import condition
from cragraph.retrieval.store.vectors import Vectors

_ROWS: Final = 4000
_BATCH: Final = 500


def packed(vectors: Floats) -> list[bytes]:
    """Each vector as float16 bytes: cosines keep three digits in a quarter of the room of the text around them."""
    return [row.tobytes() for row in vectors.astype(np.float16)]


def unpacked(rows: Sequence[bytes]) -> Floats:
    """float32 (n, dimension) from float16 bytes."""
    return np.frombuffer(b"".join(rows), dtype=np.float16).reshape(len(rows), -1).astype(np.float32)


def floats(index: Index, chunk_ids: Sequence[str]) -> dict[str, Floats]:
    """The kept vectors of these passages, by id."""
    return {chunk_id: unpacked([blob])[0] for chunk_id, blob in index.kept_vectors(chunk_ids).items()}


def scan(index: Index, vector: Floats, k: int, where: Mapping[str, Any] | None) -> list[tuple[str, float]]:
    """The ids of the `k` passages nearest to a vector and their cosines, by comparing all of them."""
    clause, values = condition(where) if where else ("1", [])
    best: list[tuple[str, float]] = []
    last = 0
    query = vector / (np.linalg.norm(vector) or 1.0)
    while rows := index.database.rows(
        f"SELECT c.id, c.chunk_id, c.vector FROM chunks AS c WHERE c.id > ? AND c.vector IS NOT NULL AND {clause} "
        f"ORDER BY c.id LIMIT {_ROWS}",
        (last, *values),
    ):
        last = rows[-1][0]
        matrix = unpacked([row[2] for row in rows])
        cosines = matrix @ query / np.maximum(np.linalg.norm(matrix, axis=1), 1e-12)
        best += [(row[1], float(cosine)) for row, cosine in zip(rows, cosines, strict=True)]
        best = sorted(best, key=lambda found: (-found[1], found[0]))[:k]
    return best


def nearest_among(index: Index, vector: Floats, chunk_ids: Sequence[str], k: int) -> list[tuple[str, float]] | None:
    """The `k` of these passages nearest to a vector with their similarity 0..1; None where vectors are not kept."""
    kept = index.kept_vectors(chunk_ids)
    if len(kept) < len(chunk_ids):
        return None
    if not kept:
        return []
    matrix = unpacked(list(kept.values()))
    lengths = np.linalg.norm(matrix, axis=1) * (np.linalg.norm(vector) or 1.0)
    cosines = np.clip(matrix @ vector / np.maximum(lengths, 1e-12), 0.0, 1.0)
    found = zip(kept, map(float, cosines), strict=True)
    return sorted(found, key=lambda one: (-one[1], one[0]))[:k]


def mend(vectors: Vectors, index: Index, ledger: Ledger, embed: Callable[[list[str]], list[list[float]]]) -> None:
    """Make Chroma's collection anew from what is kept here; only what has no vector here is embedded again.

    What Chroma took in and the index did not, in the write that was cut off, is left out: its file is not recorded
    either, so the next ingest reads it again.

    Raises:
        StoreError: where the index is empty, so that there is nothing to make it from.
    """
    ids = sorted(index.ids())
    if not ids:
        raise StoreError(
            f"{vectors.where} was damaged when a writer was killed, and its index is gone; wanted one of the two: "
            "delete the store and run cragraph ingest PATH again."
        )
    vectors.rebuild(_batches(index, ledger, ids, embed))


def _batches(
    index: Index, ledger: Ledger, ids: list[str], embed: Callable[[list[str]], list[list[float]]]
) -> Iterator[tuple[list[Record], Floats]]:
    for start in range(0, len(ids), _BATCH):
        batch = ids[start : start + _BATCH]
        kept, holders = index.kept_vectors(batch), ledger.holders(batch)
        generation = index.stamp("generation")
        records = [
            with_context(Record(passage, origins=tuple(holders.get(passage["chunk_id"], ())), generation=generation))
            for passage in index.get(batch)
        ]
        missing = [record for record in records if record.passage["chunk_id"] not in kept]
        if missing:
            made = as_floats(embed([record.context + record.passage["text"] for record in missing]))
            kept |= {r.passage["chunk_id"]: blob for r, blob in zip(missing, packed(made), strict=True)}
        yield records, unpacked([kept[record.passage["chunk_id"]] for record in records])
