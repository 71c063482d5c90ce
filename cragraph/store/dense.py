"""Search by meaning in a local store: every vector compared, or in a large store those that Chroma's graph proposes.

The graph is a copy of the vectors in a folder that is written once, never changed and can be thrown away: what was
stored since is compared beside it, and scores always come from the tables.
"""

import json
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from hashlib import blake2b, file_digest
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from cragraph.errors import StoreError
from cragraph.store import server
from cragraph.store.filters import Where, condition
from cragraph.store.index import Index
from cragraph.store.records import Floats, batched, from_bytes, unit
from cragraph.types import Passage

if TYPE_CHECKING:
    from langchain_chroma import Chroma

GRAPH_FROM: Final = 100_000  # passages from which a graph is made; below, comparing every vector takes as long
_STALE: Final = 0.1
_BATCH: Final = 2000
_SPARE: Final = 2.0
_NAME: Final = "passages"

MOST_FILTERED: Final = (
    3_000  # nearest passages that a filter is held against at most; else those it lets through are listed
)
DAMAGED: Final = (
    "The graph of the vectors is not as it was written, so every vector is compared instead, exact but slower; the "
    "next cragraph ingest makes the graph again."
)

Near = list[tuple[float, int]]  # negative cosines and rows, best first


class Dense:
    """Finds passages by their vectors, the `graph_from` first of them by a graph."""

    def __init__(self, index: Index, graph_from: int = GRAPH_FROM) -> None:
        self._index, self._graph_from = index, graph_from
        self._lock = RLock()
        self._graph: Graph | None = None
        self.note = ""
        self.close()

    def close(self) -> None:
        """Let go of the graph and of the memory."""
        with self._lock:
            if self._graph:
                self._graph.close()
            self._graph, self._generation = None, -1
            self._rows = np.empty(0, dtype=np.int64)
            self._matrix: Floats = np.empty((0, 0), dtype=np.float32)

    def nearest(self, vector: Floats, k: int, where: Where = None) -> list[Passage]:
        """The `k` passages nearest to a vector, best first; `retrieval_score` is their cosine, 0 for below 0.

        A filter that lets many through is held against the nearest passages, as many as it takes; with one that lets
        few through, those few are compared one by one.
        """
        query = unit(vector)
        with self._lock:
            self._refresh()
            wide = int(_SPARE * k / max(self._index.share(where), 1e-6)) + 1 if where else k
            while not where or wide <= MOST_FILTERED:
                near = self._near(query, wide)
                passages = self._index.get_rows([row for _, row in near], where)
                if not where or len(passages) >= k or wide >= self._index.count():
                    break
                wide *= 3
            else:
                clause, values = condition(where)
                rows = [row[0] for row in self._index.rows(f"SELECT c.id FROM chunks AS c WHERE {clause}", values)]
                near = sorted(self._cosines(query, rows))[:k]
                passages = self._index.get_rows([row for _, row in near])
        best = [(passages[row], -apart) for apart, row in near if row in passages][:k]
        return [Passage(**{**one, "retrieval_score": min(1.0, max(0.0, cosine))}) for one, cosine in best]

    def vectors(self, chunk_ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of these passages, by id."""
        sql = "SELECT c.chunk_id, v.vector FROM chunks AS c JOIN vectors AS v ON v.id = c.id WHERE c.chunk_id IN (?)"
        return {chunk_id: from_bytes([vector])[0] for chunk_id, vector in self._index.rows_in(sql, chunk_ids)}

    def maintain(self) -> None:
        """With the write lock held: make the graph of a large store, or bring it up to date."""
        if self._index.path is None or self._index.count() < self._graph_from:
            return
        with self._lock:
            graph = Graph.opened(self._index)
            if graph and graph.stale(self._index) <= _STALE * self._index.count():
                graph.close()
                return
            self.close()  # Chroma shares an engine among the clients of a folder, which may be made anew
            made = Graph.made(self._index, graph)
            for folder in self._index.path.parent.glob(f"{self._index.path.stem}.graph-*"):
                if folder.name != made:
                    shutil.rmtree(folder, ignore_errors=True)
            self.note = ""

    def _refresh(self) -> None:
        generation = self._index.generation
        if generation == self._generation:
            return
        if self._generation < 0 or self._index.meta("graph", "") != (self._graph.record if self._graph else ""):
            self.close()
            self._graph = Graph.opened(self._index)
            self.note = "" if self._graph or not self._index.meta("graph") else DAMAGED
            self._generation = self._graph.generation if self._graph else -1
        new = self._index.rows("SELECT id, vector FROM vectors WHERE written > ?", (self._generation,))
        rows = np.array([row[0] for row in new], dtype=np.int64)
        if len(self._rows):
            there = np.fromiter((row[0] for row in self._index.rows("SELECT id FROM vectors")), dtype=np.int64)
            keep = np.isin(self._rows, there) & ~np.isin(self._rows, rows)
            self._rows, self._matrix = self._rows[keep], self._matrix[keep]
        if new:
            matrix = unit(from_bytes([row[1] for row in new]))
            self._matrix = np.concatenate([self._matrix, matrix]) if len(self._rows) else matrix
            self._rows = np.concatenate([self._rows, rows])
        self._generation = generation

    def _near(self, query: Floats, k: int) -> Near:
        near: Near = []
        if len(self._rows):
            # By one core: BLAS shares so short a product among all, which then wait for each other on a busy machine.
            cosines = np.einsum("ij,j->i", self._matrix, query)
            best = np.argpartition(-cosines, k - 1)[:k] if len(cosines) > k else slice(None)
            near += zip((-cosines[best]).tolist(), self._rows[best].tolist(), strict=True)
        if self._graph:
            near += self._cosines(query, self._graph.nearest(query, k), self._graph.generation)
        return sorted(near)[:k]

    def _cosines(self, query: Floats, rows: Sequence[int], until: int | None = None) -> Near:
        """The cosines of these rows by the vectors in the tables; those written later than `until` are left out."""
        sql = "SELECT id, vector FROM vectors WHERE id IN (?)" + (f" AND written <= {until}" if until else "")
        stored = list(self._index.rows_in(sql, rows))
        cosines = unit(from_bytes([row[1] for row in stored])) @ query if stored else ()
        return [(-float(cosine), row[0]) for row, cosine in zip(stored, cosines, strict=True)]


class Graph:
    """Chroma's approximate index of the vectors that were there at one generation; its folder is never changed."""

    def __init__(self, record: str, path: Path) -> None:
        self.record = record
        made = json.loads(record)
        self.generation, self.count, self.folder = int(made["generation"]), int(made["count"]), path
        self._client = server.in_folder(path)
        try:
            self._chroma = _collection(self._client)
        except Exception:
            self.close()
            raise

    @classmethod
    def opened(cls, index: Index) -> "Graph | None":
        """The graph that the store names; None where there is none, or its files are not what was written.

        Chroma's native code crashes on damaged files, so it is only given files that are byte for byte as they were
        left. Its own database changes with every opening; that one is checked by SQLite.
        """
        record = index.meta("graph", "")
        with suppress(Exception):  # whatever Chroma makes of its database: the graph can be made again
            if record and index.path:
                made = json.loads(record)
                folder = index.path.parent / made["folder"]
                if all(_intact(folder / name, mark) for name, mark in made["files"].items()):
                    return cls(record, folder)
        return None

    @classmethod
    def made(cls, index: Index, before: "Graph | None") -> str:
        """Make the graph of what is stored now, out of the one before where there is one; gives its folder."""
        assert index.path is not None
        generation, since = index.generation, before.generation if before else -1
        folder = index.path.parent / f"{index.path.stem}.graph-{generation}"
        shutil.rmtree(folder, ignore_errors=True)
        if before:
            before.close()
            shutil.copytree(before.folder, folder)
        folder.mkdir(mode=0o700, exist_ok=True)
        client = server.in_folder(folder)
        try:
            chroma = _collection(client)
            there = {row[0] for row in index.rows("SELECT id FROM vectors")} if before else set()
            gone = [name for name in chroma.get(include=[])["ids"] if int(name) not in there]
            for names in batched(gone, _BATCH):
                chroma.delete(names)
            last = 0
            sql = "SELECT id, vector FROM vectors WHERE id > ? AND written > ? ORDER BY id LIMIT ?"
            while rows := index.rows(sql, (last, since, _BATCH)):
                last = rows[-1][0]
                names = [str(row[0]) for row in rows]
                chroma.embeddings.given = from_bytes([row[1] for row in rows])  # type: ignore[union-attr]
                chroma.add_texts(names, ids=names)
            chroma.get(ids=["0"], include=[])  # Chroma answers when what was written is in, files included
        except Exception as error:
            raise StoreError(f"the graph of the vectors cannot be made in {folder}: {error}") from error
        finally:
            server.close(client)
        files = {str(path.relative_to(folder)): _mark(path) for path in sorted(folder.rglob("*")) if path.is_file()}
        made = {"folder": folder.name, "generation": generation, "count": index.count(), "files": files}
        index.keep(graph=json.dumps(made))
        return folder.name

    def stale(self, index: Index) -> int:
        """How many vectors were written or removed since."""
        new = index.rows("SELECT count(*) FROM vectors WHERE written > ?", (self.generation,))[0][0]
        return int(new) + max(0, self.count + int(new) - index.count())

    def nearest(self, query: Floats, k: int) -> list[int]:
        """The rows of about the `k` nearest."""
        try:
            documents = self._chroma.similarity_search_by_vector(query.tolist(), k=min(k + 50, self.count))
        except Exception as error:
            raise StoreError(
                f"the graph of the vectors cannot be searched: {error}; run cragraph ingest again."
            ) from error
        return [int(one.page_content) for one in documents if one.page_content.isdigit()]

    def close(self) -> None:
        """Let go of Chroma."""
        with suppress(Exception):
            server.close(self._client)


class _Given:
    """Embeddings that were made before: what `langchain_chroma` asks for instead of vectors."""

    given: Any = ()

    def embed_documents(self, texts: list[str]) -> Any:
        return self.given


def _collection(client: Any) -> "Chroma":
    from langchain_chroma import Chroma

    given: Any = _Given()
    return Chroma(_NAME, embedding_function=given, client=client, collection_configuration={"hnsw": server.HNSW})


def _mark(path: Path) -> list[Any]:
    with path.open("rb") as file:
        digest = file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, digest]


def _intact(path: Path, mark: Sequence[Any]) -> bool:
    """Whether a file of a graph is as it was written; raises where it cannot be read."""
    if path.name == "chroma.sqlite3":
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as db:
            if db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return False
            return bool(db.execute("SELECT count(*) FROM collections").fetchone()[0])
    status, (size, mtime_ns, digest) = path.stat(), mark
    return bool(status.st_size == size and (status.st_mtime_ns == mtime_ns or _mark(path)[2] == digest))
