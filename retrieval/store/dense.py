"""Dense search: Chroma says which passages are near, the local index has their text."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.sql import condition
from cragraph.retrieval.store.vectors import Vectors
from cragraph.types import Passage

SIEVED_FROM: Final = 5_000
"""Passages from which a filter is first tried on the nearest ones: in a small store Chroma's own filter is as quick."""

_FIRST, _MOST, _SPARE = 4, 4_000, 1.5

Near = list[tuple[str, float]]


class Dense:
    """Finds passages by their vectors.

    Chroma takes several times longer over the texts and metadata of what it found than over finding it, so it is asked
    for ids. Before it searches with a filter, it works out every passage that the filter lets through, which in a
    store of a million takes seconds where many do. So with `sieved_from` passages or more, the nearest ones without the
    filter are taken, and those that pass are kept: the same passages in the same order, if enough of them pass. If too
    few do, Chroma's own filter has few to work out.
    """

    def __init__(self, vectors: Vectors, index: Index, sieved_from: int = SIEVED_FROM) -> None:
        self._vectors, self._index, self._sieved_from = vectors, index, sieved_from

    def __call__(self, vector: Sequence[float], k: int, where: Mapping[str, Any] | None = None) -> list[Passage]:
        """The `k` passages nearest to a vector, best first; `retrieval_score` is their similarity 0..1.

        `where` is already checked.
        """
        documents = self._index.count()
        near = None
        if where is not None and documents >= self._sieved_from:
            near = self._sieved(vector, k, where, documents)
        if near is None:
            near = self._vectors.nearest(vector, min(k, documents), where)
        passages = self._passages([chunk_id for chunk_id, _ in near])
        return [
            Passage(**{**passages[chunk_id], "retrieval_score": score})
            for chunk_id, score in near
            if chunk_id in passages
        ]

    def _sieved(self, vector: Sequence[float], k: int, where: Mapping[str, Any], documents: int) -> Near | None:
        """The nearest that pass the filter, from ever more of the nearest; None where that would take too many."""
        wide = _FIRST * k
        while wide <= _MOST:
            near = self._vectors.nearest(vector, min(wide, documents), None)
            passing = self._passing([chunk_id for chunk_id, _ in near], where)
            if len(passing) >= k or wide >= documents:
                return [found for found in near if found[0] in passing][:k]
            if not passing:
                return None
            wide = max(2 * wide, int(_SPARE * wide * k / len(passing)))
        return None

    def _passing(self, chunk_ids: Sequence[str], where: Mapping[str, Any]) -> set[str]:
        clause, values = condition(where)
        sql = f"SELECT c.chunk_id FROM chunks AS c WHERE c.chunk_id IN (?) AND {clause}"
        return {row[0] for row in self._index.database.rows_in(sql, chunk_ids, values)}

    def _passages(self, chunk_ids: Sequence[str]) -> dict[str, Passage]:
        """The passages by id; those that the index does not have yet come from Chroma."""
        found = {passage["chunk_id"]: passage for passage in self._index.get(chunk_ids)}
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in found]
        return found | {record.passage["chunk_id"]: record.passage for record in self._vectors.records(missing)}
