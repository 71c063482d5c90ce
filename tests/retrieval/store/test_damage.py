"""A vector index torn by a kill is noticed before it can take a process down, worked around, and rebuilt."""

import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cragraph.passages import as_passages
from cragraph.retrieval.store import Store, open_store
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.keeping import DAMAGED
from cragraph.testing.embeddings import HashEmbeddings
from cragraph.types import Passage

MANY = 1200
"""More than the thousand after which Chroma first writes its vector index to disk."""


@pytest.fixture
def torn(tmp_path: Path, lines: list[Passage]) -> Path:
    """A store whose writer was killed while Chroma wrote its vector index."""
    folder = tmp_path / "store"
    with open_store(folder, HashEmbeddings(48)) as store:
        store.add([*lines, *as_passages([f"filler number {i}" for i in range(MANY)])])
        generation = store.generation
    (links,) = folder.glob("*/link_lists.bin")
    (vectors,) = folder.glob("*/data_level0.bin")
    for file in (links, vectors):
        file.write_bytes(random.Random(7).randbytes(len(file.read_bytes()) // 2))
    index = Index(folder / "cragraph.index.sqlite3")
    index.set_stamp(writing=generation + 1)
    index.close()
    return folder


def test_the_next_opening_rebuilds_it_without_embedding_again(torn: Path, lines: list[Passage]) -> None:
    embeddings = HashEmbeddings(48)
    with open_store(torn, embeddings) as store:
        assert store.count() == len(lines) + MANY
        assert store.dense(lines[3]["text"], 1)[0]["text"] == lines[3]["text"]
        assert store.notes == []
    assert embeddings.asked == [lines[3]["text"]]
    with open_store(torn, embeddings) as store:
        assert store.dense(lines[0]["text"], 1)[0]["text"] == lines[0]["text"]
    assert len(list(torn.glob("*/link_lists.bin"))) == 1


def test_readers_that_may_not_rebuild_it_compare_every_vector_and_say_so(
    torn: Path, lines: list[Passage], writer: Callable[..., "subprocess.Popen[str]"], embeddings: HashEmbeddings
) -> None:
    from filelock import FileLock

    with FileLock(torn / "write.lock"), open_store(torn, embeddings) as store:
        found = store.dense("Apple revenue", 3, {"ticker": "AAPL"})
        assert [p["source"] for p in found] == ["a/apple.md", "a/old.md"]
        assert found[0]["retrieval_score"] == pytest.approx(
            float(store.vectors([lines[0]["chunk_id"]])[0] @ embeddings.embed_query("Apple revenue")), abs=1e-3
        )
        assert store.notes == [DAMAGED]
    reader = open_store(torn, embeddings)  # opened after the lock is free: rebuilt
    assert reader.notes == []
    reader.close()


def test_a_reader_that_worked_around_it_takes_up_the_rebuilt_one(
    torn: Path, lines: list[Passage], writer: Callable[..., "subprocess.Popen[str]"], embeddings: HashEmbeddings
) -> None:
    from filelock import FileLock

    with FileLock(torn / "write.lock"):
        store = open_store(torn, embeddings)
        store.dense("Apple revenue", 1)
        assert store.notes == [DAMAGED]
    assert writer(torn, "store.add(as_passages(['new words'])); store.close()").wait() == 0
    assert store.dense("new words", 1)[0]["text"] == "new words"
    assert store.notes == []
    store.close()


def test_a_rebuild_that_was_cut_off_before_its_last_step_is_finished(tmp_path: Path, lines: list[Passage]) -> None:
    with open_store(tmp_path, HashEmbeddings(48)) as store:
        store.add(lines)
    import chromadb

    client = chromadb.PersistentClient(str(tmp_path))
    collection = client.get_collection("cragraph", embedding_function=None)
    collection.modify(name="cragraph.rebuilt", metadata={**(collection.metadata or {}), "cragraph:whole": 1})
    client.close()  # type: ignore[attr-defined]
    with open_store(tmp_path, HashEmbeddings(48), create=False) as store:
        assert store.count() == len(lines)
        assert store.dense(lines[0]["text"], 1)[0]["text"] == lines[0]["text"]


@pytest.mark.slow
def test_a_writer_killed_again_and_again_never_leaves_a_store_that_cannot_be_used(
    tmp_path: Path, writer: Callable[..., "subprocess.Popen[str]"]
) -> None:
    chance = random.Random(1)
    code = """
    print("go", flush=True)
    for start in range(0, 100_000, 200):
        store.add(as_passages([f"round ROUND number {i}" for i in range(start, start + 200)]))
    """
    for turn in range(8):
        process = writer(tmp_path, code.replace("ROUND", str(turn)))
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        time.sleep(chance.random() * 2.5)
        process.send_signal(signal.SIGKILL)
        process.wait()
        with open_store(tmp_path, HashEmbeddings(48)) as store:
            assert store.notes == []
            check(store)


def check(store: Store) -> None:
    """Both sides agree, and every passage has its vector."""
    ids = sorted(store._index.ids())
    assert ids == sorted(store._vectors.ids())
    assert len(store.vectors(ids)) == len(ids)
    if ids:
        text = store.get(ids[:1])[0]["text"]
        # Hashed into 48 numbers, thousands of texts share a vector: the nearest is one that equals the text's own.
        assert store.dense(text, 1)[0]["retrieval_score"] == pytest.approx(1.0, abs=1e-3)
        assert text in [p["text"] for p in store.lexical(text, 20)]
