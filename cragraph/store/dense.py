"""Search by meaning: every vector is compared, in memory."""

from collections.abc import Sequence
from threading import RLock
from typing import Any, Final

import numpy as np

from cragraph.store.database import vector_crc
from cragraph.store.filters import Where, condition
from cragraph.store.index import Index
from cragraph.store.records import Floats, from_bytes, unit
from cragraph.types import Passage

_MORE: Final = 2.0
# Nearest passages at most that are sieved by a filter; beyond, the filter's passages are listed.
MOST_FILTERED: Final = 3_000

Near = list[tuple[float, int]]  # negative cosines and rows, best first


class Dense:
    """Finds passages by their vectors, which are kept in memory."""

    def __init__(self, index: Index) -> None:
        self._index, self._lock = index, RLock()
        self.close()

    def close(self) -> None:
        """Free the memory."""
        with self._lock:
            self._generation, self._opened = -1, 0
            self._rows = np.empty(0, dtype=np.int64)
            self._matrix: Floats = np.empty((0, 0), dtype=np.float32)

    def nearest(self, vector: Floats, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages nearest to a vector, best first; `retrieval_score` is their cosine, 0 for below 0.

        With a filter that lets many passages through, the nearest passages are sieved. With a filter that lets few
        through, those few are compared one by one.
        """
        query = unit(vector)
        with self._lock:
            self._refresh()
            wide = int(_MORE * k / max(self._index.share(where), 1e-6)) + 1 if where else k
            while not where or wide <= MOST_FILTERED:
                near = self._near(query, wide)
                passages = self._index.get_rows([row for _, row in near], where)
                if not where or len(passages) >= k or wide >= len(self._rows):
                    break
                wide *= 3
            else:
                clause, values = condition(where)
                rows = [row[0] for row in self._index.rows(f"SELECT c.id FROM chunks AS c WHERE {clause}", values)]
                near = self._near(query, k, np.isin(self._rows, rows))
                passages = self._index.get_rows([row for _, row in near])
        best = [(passages[row], -apart) for apart, row in near if row in passages][:k]
        return [Passage(**{**one, "retrieval_score": min(1.0, max(0.0, cosine))}) for one, cosine in best]

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of these passages, by id."""
        sql = (
            "SELECT c.chunk_id, v.id, v.crc, v.vector FROM chunks AS c JOIN vectors AS v ON v.id = c.id "
            "WHERE c.chunk_id IN (?)"
        )
        rows = self._index.rows_in(sql, chunk_ids)
        return {i: from_bytes([vector])[0] for i, row, crc, vector in rows if self._sound(row, crc, vector)}

    def _sound(self, row: int, crc: int, vector: bytes) -> bool:
        if whole := vector_crc(row, vector) == crc:
            return whole
        self._index.damaged_rows.add(row)
        return False

    def _refresh(self) -> None:
        generation = self._index.generation
        if generation == self._generation and self._opened == self._index.opened:
            return
        if self._opened != self._index.opened:
            self.close()
        sql = "SELECT id, crc, vector FROM vectors WHERE written > ?"
        new = [row for row in self._index.rows(sql, (self._generation,)) if self._sound(*row)]
        rows = np.array([row[0] for row in new], dtype=np.int64)
        if len(self._rows):
            there = np.fromiter((row[0] for row in self._index.rows("SELECT id FROM vectors")), dtype=np.int64)
            keep = np.isin(self._rows, there) & ~np.isin(self._rows, rows)
            self._rows, self._matrix = self._rows[keep], self._matrix[keep]
        if new:
            matrix = unit(from_bytes([row[2] for row in new]))
            self._matrix = np.concatenate([self._matrix, matrix]) if len(self._rows) else matrix
            self._rows = np.concatenate([self._rows, rows])
        self._generation, self._opened = generation, self._index.opened

    def _near(self, query: Floats, k: int, among: Any = slice(None)) -> Near:
        rows, matrix = self._rows[among], self._matrix[among]
        if not len(rows):
            return []
        # On one core: BLAS would share so short a product among all cores, which wait for each other on a busy machine.
        cosines = np.einsum("ij,j->i", matrix, query)
        best = np.argpartition(-cosines, k - 1)[:k] if len(cosines) > k else slice(None)
        return sorted(zip((-cosines[best]).tolist(), rows[best].tolist(), strict=True))[:k]
