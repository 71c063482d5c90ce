"""One writer at a time; readers are not in the way and nothing is in theirs."""

import platform
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cragraph.errors import StoreLockedError
from cragraph.passages import as_passages
from cragraph.store import open_store
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage

pytestmark = pytest.mark.slow

Start = Callable[..., "subprocess.Popen[str]"]
HOLD = """
with store.writing():
    store.add(as_passages(["from the other process"]))
    print("holding", flush=True)
    time.sleep(100)
"""


def said(process: "subprocess.Popen[str]", line: str) -> None:
    assert process.stdout is not None
    assert process.stdout.readline().strip() == line


def test_a_second_writer_is_told_who_holds_the_lock_and_what_to_do(
    tmp_path: Path, writer: Start, embeddings: HashEmbeddings, lines: list[Passage]
) -> None:
    other = writer(tmp_path, HOLD)
    said(other, "holding")
    with open_store(tmp_path, embeddings, patience=0.1) as store:
        with pytest.raises(StoreLockedError) as error:
            store.add(lines)
        message = str(error.value)
        assert f"process {other.pid} on {platform.node()} since 20" in message
        assert "wait for it to finish" in message
        assert "chroma run" in message
        assert store.count() == 1


def test_readers_go_on_while_another_process_writes(
    tmp_path: Path, writer: Start, embeddings: HashEmbeddings, lines: list[Passage]
) -> None:
    with open_store(tmp_path, embeddings) as reader:
        reader.add(lines)
        assert reader.dense(lines[0]["text"], 1)
        said(writer(tmp_path, HOLD), "holding")
        assert reader.dense(lines[0]["text"], 1)[0]["text"] == lines[0]["text"]
        assert reader.lexical("process", 1)[0]["text"] == "from the other process"
        with open_store(tmp_path, embeddings) as late:
            assert late.dense("from the other process", 1)[0]["retrieval_score"] == pytest.approx(1.0)
            assert late.notes == []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_lock_of_a_dead_process_is_taken_over(
    tmp_path: Path, writer: Start, embeddings: HashEmbeddings, lines: list[Passage], how: signal.Signals
) -> None:
    other = writer(tmp_path, HOLD)
    said(other, "holding")
    other.send_signal(how)
    other.wait()
    assert (tmp_path / "writer.json").exists()
    with open_store(tmp_path, embeddings) as store:
        store.add(lines)
        assert store.count() == len(lines) + 1
    assert not (tmp_path / "writer.json").exists()


def test_a_reader_sees_what_another_process_wrote_and_removed_since(
    tmp_path: Path, writer: Start, embeddings: HashEmbeddings, lines: list[Passage]
) -> None:
    with open_store(tmp_path, embeddings) as reader:
        reader.add(lines)
        assert reader.dense("alpha beta", 1)[0]["text"] != "alpha beta"
        more = f"""
        store.add(as_passages(["alpha beta", *(f"filler number {{i}}" for i in range(1500))]))
        store.delete([{lines[0]["chunk_id"]!r}])
        store.close()
        """
        assert writer(tmp_path, more).wait() == 0
        assert reader.dense("alpha beta", 1)[0]["text"] == "alpha beta"
        assert reader.lexical("alpha", 1)[0]["text"] == "alpha beta"
        assert lines[0]["text"] not in [p["text"] for p in reader.dense(lines[0]["text"], 5)]
        assert reader.count() == len(lines) + 1500


def test_one_thread_writes_while_others_read(tmp_path: Path, embeddings: HashEmbeddings, lines: list[Passage]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with open_store(tmp_path, embeddings) as store:
        store.add(lines)
        with ThreadPoolExecutor(4) as pool:
            writing = pool.submit(store.add, as_passages([f"filler number {i}" for i in range(600)]))
            found = list(
                pool.map(lambda i: (store.dense, store.lexical)[i % 2]("Penguins swim under the ice.", 1), range(60))
            )
            writing.result()
        assert {p["text"] for (p,) in found} == {"Penguins swim under the ice."}
        assert store.count() == len(lines) + 600
