"""The tables: who holds a passage, what is staged, what is counted."""

import os
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from cragraph.errors import StoreError
from cragraph.store import Item, Origin, Store, open_store
from cragraph.store.index import Index
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_what_is_staged_is_seen_by_no_search_until_it_is_committed(store: Store, lines: list[Passage]) -> None:
    part = Origin("/one.md", "aa", 1, 1, "o", -1)
    store.stage([Item(line, (part,)) for line in lines[:3]], part)
    assert (store.count(), store.documents(), store.lexical("revenue apple", 9)) == (0, [], [])
    assert store.unfinished() == {"/one.md": 3}
    whole = Origin("/one.md", "aa", 1, 1, "o", 4)
    assert store.commit([("/one.md", whole)], [Item(lines[3], (whole,))]) == 4
    assert (store.count(), store.unfinished()) == (4, {})
    assert store.documents()[0].chunks == 4
    assert store.dense(lines[0]["text"], 1)[0]["text"] == lines[0]["text"]
    assert set(store.index.sources()) == {"/one.md"}


def test_the_count_follows_every_change_wherever_it_is_made(tmp_path: Path, lines: list[Passage]) -> None:
    here, there = Index(tmp_path / "a.db"), Index(tmp_path / "a.db")
    records = [Item(line) for line in lines]

    def put(index: Index, some: Iterable[Item]) -> None:
        with index.write() as db:
            for record in some:
                index.put(db, [record], 1)

    assert (here.count(), there.count()) == (0, 0)
    put(here, records[:2])
    assert (here.count(), there.count()) == (2, 2)
    put(there, records)
    assert (here.count(), there.count()) == (5, 5)

    def broken() -> Iterator[Item]:
        yield Item(Passage(**{**lines[0], "chunk_id": "other"}))
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        put(here, broken())
    assert (here.count(), there.count()) == (5, 5)
    with here.write() as db:
        here.drop(db, [here.keys()["default", lines[0]["chunk_id"]]])
    assert (here.count(), there.count()) == (4, 4)
    here.close()
    there.close()


def test_files_and_folders_are_for_their_owner_alone(tmp_path: Path, lines: list[Passage]) -> None:
    folder = tmp_path / "deep" / "store"
    with open_store(folder, HashEmbeddings(48)) as store:
        store.add(lines)
        assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_process_that_was_forked_from_the_opener_has_a_connection_of_its_own(
    tmp_path: Path, lines: list[Passage]
) -> None:
    with open_store(tmp_path, HashEmbeddings(48)) as store:
        store.add(lines)
        before = store.lexical("penguins", 1)
        child = os.fork()
        if child == 0:
            os._exit(0 if store.lexical("penguins", 1) == before and store.dense("whales", 1) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert store.lexical("penguins", 1) == before


def test_a_search_beside_the_very_first_ingest_finds_nothing_or_says_that_there_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "cragraph.db").touch()  # made by the first writer, its tables not yet
    with pytest.raises(StoreError, match="No documents found in"):
        open_store(tmp_path, HashEmbeddings(48), create=False)
    with open_store(tmp_path, HashEmbeddings(48)), open_store(tmp_path, HashEmbeddings(48), create=False) as reader:
        assert reader.dense("anything", 3) == []
        assert reader.lexical("anything", 3) == []


def test_opened_stores_hold_few_files_and_no_threads(tmp_path: Path, lines: list[Passage]) -> None:
    with open_store(tmp_path, HashEmbeddings(48)) as store:
        store.add(lines)
    files, threads = open_files(), threading.active_count()
    stores = [open_store(tmp_path, HashEmbeddings(48), create=False) for _ in range(10)]
    for store in stores:
        store.dense("penguins", 1)
        store.lexical("penguins", 1)
    assert open_files() - files <= 3 * len(stores)
    assert threading.active_count() <= threads
    for store in stores:
        store.close()
    assert open_files() == files
