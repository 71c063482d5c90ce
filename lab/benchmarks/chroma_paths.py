"""A Chroma server spoken to as the store does, and through `langchain_chroma`: the same records, queries and results.

    python -m lab.benchmarks.chroma_paths [--records 1500] [--queries 40]

Starts a real Chroma server on this machine. Vectors are drawn at random with a seed; both ways write the same, in the
same order, and are asked for the 100 nearest of each query in turn.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
from langchain_chroma import Chroma

from cragraph.store.server import HNSW, on_server
from tests.support.ports import free_port

BATCH, CHANGED, K, DIMENSION = 500, 50, 100, 384


class Given:
    """Embeddings that were made before."""

    vectors: Any = ()

    def embed_documents(self, texts: list[str]) -> Any:
        return self.vectors


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = perf_counter()
    result = call()
    return perf_counter() - begun, result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1500)
    parser.add_argument("--queries", type=int, default=40)
    options = parser.parse_args()
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(options.records, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = vectors[: options.queries] + 0.05 * rng.normal(size=(options.queries, DIMENSION)).astype(np.float32)
    texts = [f"Passage {n}. " + "It says something of about a thousand characters. " * 19 for n in range(len(vectors))]
    metadatas: list[Any] = [
        {"source": f"{n % 97}.md", "year": 2000 + n % 25, "_r": texts[n][:200]} for n in range(len(texts))
    ]
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = [Path(sys.executable).with_name("chroma"), "run", "--path", folder, "--port", str(port)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            measured(connected(f"http://127.0.0.1:{port}"), texts, metadatas, vectors, queries)
        finally:
            server.terminate()
            server.wait()
    return 0


def measured(client: Any, texts: list[str], metadatas: list[Any], vectors: Any, queries: Any) -> None:
    """Do everything both ways, and print the table."""
    ids, hnsw = [f"{n:08x}" for n in range(len(texts))], {"hnsw": HNSW}
    given: Any = Given()
    plain = client.get_or_create_collection("plain", embedding_function=None, configuration=hnsw)
    other = Chroma("langchain", embedding_function=given, client=client, collection_configuration=hnsw)
    parts = [slice(start, start + BATCH) for start in range(0, len(texts), BATCH)]

    def write_plain() -> None:
        for part in parts:
            plain.upsert(ids=ids[part], embeddings=vectors[part], metadatas=metadatas[part], documents=texts[part])

    def write_other() -> None:
        for part in parts:
            given.vectors = vectors[part]
            other.add_texts(texts[part], metadatas[part], ids[part])

    written = timed(write_plain)[0], timed(write_other)[0]
    times: list[tuple[float, float]] = []
    same = 0
    for query in queries:
        one, found = timed(partial(plain.query, query_embeddings=query[None], n_results=K, include=["distances"]))
        two, near = timed(partial(other.similarity_search_by_vector_with_relevance_scores, query.tolist(), K))
        times.append((one, two))
        same += found["ids"][0] == [document.id for document, _ in near]
    searched = np.median(np.array(times), axis=0) * 1000
    changed = (
        timed(lambda: plain.update(ids=ids[:CHANGED], metadatas=metadatas[:CHANGED]))[0],
        timed(lambda: rewritten(other, given, ids[:CHANGED], vectors[:CHANGED]))[0],
    )
    print(f"{len(texts)} records, {len(queries)} queries of {K}; the same ids in the same order for {same}\n")
    print("| | as the store does | through langchain_chroma |\n| --- | ---: | ---: |")
    print(f"| writing all | {written[0]:.1f} s | {written[1]:.1f} s |")
    print(f"| one query, median | {searched[0]:.1f} ms | {searched[1]:.1f} ms |")
    print(f"| new metadata for {CHANGED} | {changed[0]:.2f} s | {changed[1]:.2f} s |")


def connected(url: str) -> Any:
    """A client of the server, once it answers."""
    for _ in range(120):
        try:
            return on_server(url)
        except Exception:
            sleep(0.5)
    raise SystemExit("the Chroma server did not start")


def rewritten(store: Chroma, given: Given, ids: list[str], vectors: Any) -> None:
    """New metadata through `langchain_chroma`, which takes whole documents only and asks for their vectors again."""
    given.vectors = vectors.tolist()
    documents = store.get_by_ids(ids)
    order = {name: place for place, name in enumerate(ids)}
    documents.sort(key=lambda document: order[str(document.id)])
    store.update_documents(ids, documents)


if __name__ == "__main__":
    sys.exit(main())
