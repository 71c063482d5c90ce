"""Dense search: Chroma says which passages are near, the local index has their text."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cragraph.retrieval.store.exact import nearest_among
from cragraph.retrieval.store.floats import Floats
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.sql import condition
from cragraph.retrieval.store.vectors import Vectors
from cragraph.types import Passage

SMALL: Final = 5_000
"""Passages below which a filter is left to Chroma, which is quick in a small store."""

_MOST, _SPARE = 3_000, 2.0

Near = list[tuple[str, float]]


class Dense:
    """Finds passages by their vectors.

    Chroma takes several times longer over the texts and metadata of what it found than over finding it, so it is asked
    for ids. With a filter it first works out all that pass and then walks its graph past everything that does not, most
    of the graph where few pass. So in a store that is not `small`, a filter that lets many through is held against the
    nearest passages, as many as it takes; with one that lets few through, those few are compared one by one, by the
    vectors kept in the index. Both find what Chroma's filter would.
    """

    def __init__(self, vectors: Vectors, index: Index, small: int = SMALL) -> None:
        self._vectors, self._index, self._small = vectors, index, small

    def __call__(self, vector: Floats, k: int, where: Mapping[str, Any] | None = None) -> list[Passage]:
        """The `k` passages nearest to a vector, best first; `retrieval_score` is their similarity 0..1.

        `where` is already checked.
        """
        documents = self._index.count()
        near = None
        if where is not None and documents >= self._small:
            near = self._filtered(vector, k, where, documents)
        if near is None:
            near = self._vectors.nearest(vector.tolist(), min(k, documents), where)
        passages = self._passages([chunk_id for chunk_id, _ in near])
        return [
            Passage(**{**passages[chunk_id], "retrieval_score": score})
            for chunk_id, score in near
            if chunk_id in passages
        ]

    def _filtered(self, vector: Floats, k: int, where: Mapping[str, Any], documents: int) -> Near | None:
        """The nearest that pass; None where that is best left to Chroma, because no vectors are kept here."""
        wide = int(_SPARE * k / max(self._index.share(where), 1e-6)) + 1
        while wide <= _MOST:
            near = self._vectors.nearest(vector.tolist(), min(wide, documents), None)
            passing = self._passing([chunk_id for chunk_id, _ in near], where)
            if len(passing) >= k or wide >= documents:
                return [found for found in near if found[0] in passing][:k]
            wide *= 3
        return nearest_among(self._index, vector, self._vectors.ids(where), k)

    def _passing(self, chunk_ids: Sequence[str], where: Mapping[str, Any]) -> set[str]:
        clause, values = condition(where)
        sql = f"SELECT c.chunk_id FROM chunks AS c WHERE c.chunk_id IN (?) AND {clause}"
        return {row[0] for row in self._index.database.rows_in(sql, chunk_ids, values)}

    def _passages(self, chunk_ids: Sequence[str]) -> dict[str, Passage]:
        """The passages by id; those that the index does not have yet come from Chroma."""
        found = {passage["chunk_id"]: passage for passage in self._index.get(chunk_ids)}
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in found]
        return found | {record.passage["chunk_id"]: record.passage for record in self._vectors.records(missing)}
