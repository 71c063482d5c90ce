"""The vectors kept beside Chroma: half precision, to rebuild its index from and to search without it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.records import Record, with_context
from cragraph.retrieval.store.sql import condition
from cragraph.retrieval.store.vectors import Floats, Vectors, as_floats

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


def mend(vectors: Vectors, index: Index, embed: Callable[[list[str]], list[list[float]]]) -> None:
    """Make Chroma's collection anew from its texts and the vectors kept here; what is missing is embedded again."""
    vectors.rebuild(_batches(vectors, index, vectors.ids(), embed))


def _batches(
    vectors: Vectors, index: Index, ids: list[str], embed: Callable[[list[str]], list[list[float]]]
) -> Iterator[tuple[list[Record], Floats]]:
    for start in range(0, len(ids), _BATCH):
        batch = ids[start : start + _BATCH]
        kept = index.kept_vectors(batch)
        records = [with_context(record) for record in vectors.records(batch)]
        missing = [r for r in records if r.passage["chunk_id"] not in kept]
        if missing:
            made = as_floats(embed([r.context + r.passage["text"] for r in missing]))
            kept |= {r.passage["chunk_id"]: blob for r, blob in zip(missing, packed(made), strict=True)}
        records = [replace(r, vector=kept[r.passage["chunk_id"]]) for r in records]
        yield records, unpacked([r.vector or b"" for r in records])
