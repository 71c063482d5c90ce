"""The same store on a real Chroma server, with its lexical index built on this machine."""

import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cragraph.errors import InputError, StoreError, StoreMismatchError, StoreMissingError
from cragraph.passages import as_passage, as_passages
from cragraph.store import (
    Store,
    forget,
    forget_from,
    ingest,
    ingest_into,
    open_collections,
    open_store,
    parse_where,
)
from cragraph.store.store import UNCACHED
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage

pytestmark = [pytest.mark.server, pytest.mark.enable_socket]


@contextmanager
def chroma(folder: Path) -> Iterator[str]:
    """The address of a Chroma server of our own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [Path(sys.executable).with_name("chroma"), "run", "--path", folder, "--host", "127.0.0.1", "--port", port]
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        while process.poll() is None:
            try:
                urllib.request.urlopen(f"{address}/api/v2/heartbeat", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server for all tests here."""
    with chroma(tmp_path_factory.mktemp("chroma")) as address:
        yield address


@pytest.fixture
def collection(request: pytest.FixtureRequest) -> str:
    return "c-" + "".join(c if c.isalnum() else "-" for c in request.node.name)[:50].strip("-")


@pytest.fixture
def shared(url: str, collection: str, tmp_path: Path) -> Iterator[Store]:
    with open_store(url, HashEmbeddings(48), collection=collection, cache=tmp_path / "one") as store:
        yield store


def test_both_sides_work_on_a_server(shared: Store, lines: list[Passage]) -> None:
    assert shared.add(lines) == len(lines)
    for search in (shared.dense, shared.lexical):
        assert search("The revenue of Apple was 383 billion dollars.", 1)[0]["text"] == lines[0]["text"]
        assert {p["source"] for p in search("revenue apple sold", 9, parse_where("year=2022"))} == {"a/old.md"}
        with pytest.raises(InputError, match="did you mean year"):
            search("revenue", 1, {"yeer": 1})
    assert shared.get([p["chunk_id"] for p in lines]) == lines
    assert shared.vectors([lines[0]["chunk_id"]]).shape == (1, 48)
    shared.delete([lines[0]["chunk_id"]])
    assert shared.count() == len(lines) - 1
    assert shared.notes == []


def test_another_machine_sees_what_was_written_and_removed(
    shared: Store, url: str, collection: str, tmp_path: Path, lines: list[Passage]
) -> None:
    shared.add(lines[:3])
    with open_store(url, HashEmbeddings(48), collection=collection, cache=tmp_path / "two") as other:
        assert other.count() == 3
        assert other.lexical("apple", 9)
        shared.add(lines[3:])
        shared.delete([lines[0]["chunk_id"]])
        assert other.dense("Penguins swim under the ice.", 1)[0]["text"] == "Penguins swim under the ice."
    with open_store(url, HashEmbeddings(48), collection=collection, cache=tmp_path / "two") as again:
        assert again.lexical("penguins", 1)[0]["text"] == "Penguins swim under the ice."
        assert "a/apple.md" not in [p["source"] for p in again.lexical("revenue apple", 9)]
        assert [d.source for d in again.documents()] == [d.source for d in shared.documents()]


def test_a_file_that_another_machine_took_out_leaves_no_problem_behind(
    shared: Store, url: str, collection: str, tmp_path: Path
) -> None:
    for name in ("one.md", "two.md"):
        (tmp_path / name).write_text(f"The words of {name}.")
    ingest(tmp_path, shared, limits=None)
    with open_store(url, HashEmbeddings(48), collection=collection, cache=tmp_path / "two") as other:
        assert len(other.documents()) == 2
        forget(shared, tmp_path / "one.md")
        other._vectors.follow(now=True)  # type: ignore[union-attr]
        assert [d.filename for d in other.documents()] == ["two.md"]
        assert other.problems() == []


def test_the_lexical_index_is_kept_on_this_machine_between_runs(
    url: str, collection: str, tmp_path: Path, lines: list[Passage]
) -> None:
    cache = tmp_path / "cache"
    with open_store(url, HashEmbeddings(48), collection=collection, cache=cache) as store:
        store.add(lines)
    (file,) = cache.glob("*.db")
    assert collection in file.name
    with open_store(url, HashEmbeddings(48), collection=collection, cache=cache) as store:
        assert store.lexical("penguins", 1)
        assert store.notes == []


def test_without_a_cache_folder_the_lexical_index_is_in_memory_and_says_so(
    url: str, collection: str, tmp_path: Path, lines: list[Passage]
) -> None:
    (tmp_path / "file").write_text("in the way")
    with open_store(url, HashEmbeddings(48), collection=collection, cache=tmp_path / "file") as store:
        store.add(lines)
        assert store.lexical("penguins", 1)
        assert store.notes == [UNCACHED]


def test_another_model_is_refused_on_a_server_too(url: str, shared: Store, collection: str, tmp_path: Path) -> None:
    shared.add(as_passages(["text"]))
    with pytest.raises(StoreMismatchError, match="hash-48"):
        open_store(url, HashEmbeddings(16), collection=collection, cache=tmp_path)


def test_a_server_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no Chroma server answers at http://127\.0\.0\.1:9 .*chroma run --path"):
        open_store("http://127.0.0.1:9", HashEmbeddings(16), cache=tmp_path)


def test_a_server_that_goes_away_is_one_clear_error(tmp_path: Path, lines: list[Passage]) -> None:
    folder = tmp_path / "chroma"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            try:
                store = open_store(f"http://127.0.0.1:{port}", HashEmbeddings(48), cache=tmp_path / "cache")
                break
            except StoreError:
                time.sleep(0.1)
        store.add(lines)
    finally:
        process.kill()
        process.wait()
    store._vectors._looked = -1e9  # as if some seconds had passed
    with pytest.raises(StoreError, match="a running Chroma server"):
        store.dense("revenue", 1)
    assert store.lexical("revenue", 1)[0]["text"].startswith("The revenue")
    (note,) = store.notes
    assert note.startswith("Words are searched as they were when the server last answered: the store at http://127")
    store.close()


@pytest.mark.parametrize(
    ("where", "sources"),
    [
        ({"x": {"$gte": 0.5}}, {"0.5", "1"}),
        ({"x": {"$gt": -0.5}}, {"0", "0.5", "1"}),
        ({"x": {"$lt": 0.5}}, {"-0.5", "0"}),
        ({"x": {"$in": [0.5, 1, "one"]}}, {"0.5", "1", "one"}),
        ({"x": {"$nin": [0, "one"]}}, {"-0.5", "0.5", "1"}),
    ],
)
def test_a_server_compares_fractions_with_whole_numbers_and_lists_of_several_types(
    url: str, tmp_path: Path, where: dict[str, object], sources: set[str]
) -> None:
    passages = [as_passage({"text": f"words {x}", "source": str(x), "x": x}) for x in (-0.5, 0, 0.5, 1, "one")]
    with open_store(url, HashEmbeddings(48), collection="fractions", cache=tmp_path) as store:
        store.add(passages)
        for search in (store.dense, store.lexical):
            assert {p["source"] for p in search("words", 9, where)} == sources
        assert store.get([passages[1]["chunk_id"]])[0]["metadata"] == {"x": 0}


def test_collections_on_a_server_are_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, text in (("mill", "The mill opened in 1820."), ("bread", "The bread of the mill is warm.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(text)
    with chroma(tmp_path / "chroma") as address, open_collections(address, HashEmbeddings(48)) as held:
        with pytest.raises(StoreMissingError):
            open_collections(address, HashEmbeddings(48), create=False)
        ingest_into([tmp_path / "mill"], held, "Mira Köhler", limits=None)
        ingest_into([tmp_path / "bread"], held, limits=None)
        assert [(h.name, h.documents) for h in held.held()] == [("default", 1), ("Mira Köhler", 1)]
        for search in (held.dense, held.lexical):
            assert {p["filename"] for p in search("mill", 9)} == {"mill.md", "bread.md"}
            assert [p["filename"] for p in search("mill", 9, {"collection": "mira köhler"})] == ["mill.md"]
        held.rename("Mira Köhler", "work")
        with open_collections(address, HashEmbeddings(48), create=False) as other:
            assert other.names() == ["default", "work"]
            assert [p["metadata"]["collection"] for p in other.dense("opened in 1820", 1)] == ["work"]
        held.move([(tmp_path / "bread" / "bread.md").as_posix()], "work")
        assert [(h.name, h.documents) for h in held.held()] == [("default", 0), ("work", 2)]
        assert held.problems() == []
        assert ingest_into([tmp_path / "bread"], held, limits=None).unchanged
        assert forget_from(held, "mill.md") == [(tmp_path / "mill" / "mill.md").as_posix()]
        held.drop("work")
        assert held.names() == ["default"]
        assert not list((tmp_path / "cache").rglob("*work*"))
        assert held.lexical("mill", 9) == []
