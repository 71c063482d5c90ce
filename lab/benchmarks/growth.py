"""How the store grows: build time, disk, memory and query times at several sizes, and the exponent of each.

python -m lab.benchmarks.growth 10000 30000 100000 [--folder F] [--keep] [--json]

Text and vectors are made, not embedded: words drawn by Zipf's law (about 120 a chunk, from 50,000), and unit vectors of
384 numbers in 1,000 clusters, so that what is measured is the store. Each size is built and queried in a process of its
own. `memory_mb` is the most that process held, `build_mb` the most while building. A query fetches 100 passages a side,
as hybrid search does; its embedding is made too, so the time of a real encoder comes on top. `cpu` is processor time
over all cores, which a busy machine changes less than the clock. A store that is there already (--keep) is queried, not
built again; one that was not finished is gone on with, and its build figures are those of the rest.
"""

import argparse
import json
import math
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings

from cragraph.passages import content_id
from cragraph.protocols import Notes
from cragraph.search import SearchRetriever
from cragraph.store import Store, open_store
from cragraph.types import Passage

DIMENSION, CLUSTERS, WORDS, LENGTH = 384, 1000, 50_000, 120
BATCH, QUERIES, PER_FILE = 2048, 60, 50


class Made(Embeddings):
    """Vectors and words without a model: near one of some centres, and by Zipf's law."""

    name, dimension = "made", DIMENSION

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._centres = np.random.default_rng(0).normal(size=(CLUSTERS, DIMENSION)).astype(np.float32)
        weights = 1.0 / np.arange(1, WORDS + 1)
        self._steps = np.cumsum(weights / weights.sum())

    def vectors(self, count: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Unit vectors, float32 (count, 384)."""
        noise = self._random.normal(size=(count, DIMENSION)).astype(np.float32)
        made = self._centres[self._random.integers(0, CLUSTERS, count)] + noise
        unit: np.ndarray[Any, np.dtype[np.float32]] = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit

    def words(self, count: int, length: int) -> list[str]:
        """Texts of so many words."""
        drawn = np.searchsorted(self._steps, self._random.random((count, length)))
        return [" ".join(f"w{number}" for number in row) for row in drawn]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Any vectors: the texts are noise anyway."""
        return self.vectors(len(texts)).tolist()  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> list[float]:
        """Any vector."""
        return self.embed_documents([text])[0]


def passages(made: Made, size: int, begin: int = 0) -> Iterator[list[Passage]]:
    """Batches of made passages from number `begin` on, 50 a file, with a year and a ticker to filter by."""
    for start in range(begin, size, BATCH):
        texts = made.words(min(BATCH, size - start), LENGTH)
        yield [passage(start + offset, text) for offset, text in enumerate(texts)]


def passage(number: int, text: str) -> Passage:
    """One made passage."""
    file, place = divmod(number, PER_FILE)
    return Passage(
        text=text,
        chunk_id=content_id(str(number)),
        doc_id=content_id("file", str(file)),
        chunk_index=place,
        start_index=place * 700,
        source=f"/made/{file}.md",
        filename=f"{file}.md",
        page=None,
        metadata={"year": 2000 + file % 25, "ticker": f"T{file % 500}", "heading": f"Section {place // 10}"},
        retrieval_score=None,
        rerank_score=None,
    )


def build(store: Store, made: Made, size: int) -> None:
    """Fill a store from where it stands."""
    with store.writing():
        for batch in passages(made, size, store.count()):
            store.add(batch, vectors=made.vectors(len(batch)))


def timed(call: Callable[[str], Any], queries: Sequence[str]) -> tuple[float, float]:
    """p50 and p95 in milliseconds, the first three calls not counted."""
    taken = []
    for query in queries:
        begun = time.perf_counter()
        call(query)
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken[3:]), sorted(taken[3:])[math.ceil(0.95 * len(taken[3:])) - 1]


def measure(size: int, folder: Path) -> dict[str, float]:
    """All figures of one size; the folder is filled, closed and opened again before it is queried."""
    made = Made(size)
    figures = {"chunks": float(size)}
    begun, spent = time.perf_counter(), time.process_time()
    with open_store(folder, made) as store:
        if store.count() != size:
            build(store, made, size)
            figures["build_s"], figures["build_cpu_s"] = time.perf_counter() - begun, time.process_time() - spent
            figures["build_mb"] = most_held()
    figures["disk_mb"] = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    begun = time.perf_counter()
    with open_store(folder, made) as store:
        figures["open_s"] = time.perf_counter() - begun
        begun = time.perf_counter()
        store.dense("w1 w2", 1)
        figures["first_s"] = time.perf_counter() - begun
        queries = made.words(QUERIES, 8)
        where = {"year": {"$gte": 2020}}
        search = SearchRetriever(store, expand=None)
        calls: dict[str, Callable[[str], Any]] = {
            "dense": lambda query: store.dense(query, 100),
            "lexical": lambda query: store.lexical(query, 100),
            "hybrid": lambda query: search([query], 8, Notes()),
            "filtered": lambda query: search([query], 8, Notes(), where=where),
        }
        for name, call in calls.items():
            spent = time.process_time()
            figures[f"{name}_p50"], figures[f"{name}_p95"] = timed(call, queries)
            figures[f"{name}_cpu"] = (time.process_time() - spent) * 1000 / len(queries)
    figures["memory_mb"] = most_held()
    return figures


def most_held() -> float:
    """The most memory that this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The slope of the values over the sizes, both as logarithms: 1 is in proportion, 0 no growth."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-9)), 1)[0])


def in_a_process(size: int, folder: Path) -> dict[str, float]:
    """Measure one size in a process of its own, so that its memory is its own."""
    command = [sys.executable, "-m", "lab.benchmarks.growth", str(size), "--folder", str(folder), "--one"]
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    figures: dict[str, float] = json.loads(result.stdout)
    return figures


def table(rows: Sequence[dict[str, float]]) -> str:
    """The figures, a size a line, and their exponents below."""
    names = [name for name in rows[0] if name != "chunks"]
    lines = [f"{'chunks':>10}" + "".join(f"{name:>13}" for name in names)]
    lines += [f"{row['chunks']:>10,.0f}" + "".join(f"{row[name]:>13,.1f}" for name in names) for row in rows]
    if len(rows) > 1:
        sizes = [row["chunks"] for row in rows]
        lines.append(
            f"{'exponent':>10}" + "".join(f"{exponent(sizes, [row[name] for row in rows]):>13.2f}" for name in names)
        )
    return "\n".join(lines)


def main() -> None:
    """Measure every size that was asked for and print the table (times of queries in ms)."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="*", default=[3_000, 10_000, 30_000])
    parser.add_argument("--folder", type=Path, help="where to build; a temporary folder by default")
    parser.add_argument("--keep", action="store_true", help="leave the stores in the folder")
    parser.add_argument("--json", action="store_true", help="print JSON lines instead of a table")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.sizes[0], options.folder)))
        return
    base = Path(options.folder or tempfile.mkdtemp())
    rows = []
    for size in options.sizes:
        rows.append(in_a_process(size, base / str(size)))
        print(json.dumps(rows[-1]) if options.json else f"{size:,} chunks done", flush=True)
        if not options.keep:
            shutil.rmtree(base / str(size), ignore_errors=True)
    if not options.json:
        print(table(rows))


if __name__ == "__main__":
    main()
