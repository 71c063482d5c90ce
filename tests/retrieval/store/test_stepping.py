"""The lexical index follows Chroma, and is made again where it does not."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from cragraph.passages import as_passages
from cragraph.retrieval.store import Item, Origin, Store, open_store
from cragraph.retrieval.store.exact import floats
from cragraph.retrieval.store.floats import Floats
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.records import Record
from cragraph.testing.embeddings import HashEmbeddings
from cragraph.types import Passage

INDEX = "cragraph.index.sqlite3"


def files_of(folder: Path) -> list[Path]:
    return sorted(folder.glob(INDEX + "*"))


def filled(folder: Path, lines: list[Passage]) -> tuple[list[Passage], dict[str, Origin]]:
    """A store with passages of a whole file, of one that was cut off, and of none; what is in it afterwards."""
    whole = Origin("/x/whole.md", "aa", 10, 1, "o", 2)
    cut = Origin("/x/cut.md", "bb", 10, 1, "o", -1)
    with open_store(folder, HashEmbeddings(48)) as store:
        store.add_items([Item(lines[0], whole), Item(lines[1], whole), Item(lines[2], cut), Item(lines[3])])
        store.ledger.set_whole(whole)
        return everything(store), store.ledger.sources()


def everything(store: Store) -> list[Passage]:
    return sorted(store.lexical("revenue apple microsoft penguins whales", 99), key=lambda p: p["chunk_id"])


def kept(store: Store, ids: list[str]) -> Floats:
    """The vectors that the index holds beside Chroma's."""
    found = floats(store._index, ids)
    return np.stack([found[chunk_id] for chunk_id in ids])


def missing(folder: Path) -> None:
    for file in files_of(folder):
        file.unlink()


def garbage(folder: Path) -> None:
    missing(folder)
    (folder / INDEX).write_bytes(b"this is no database" * 1000)


def torn(folder: Path) -> None:
    data = (folder / INDEX).read_bytes()
    missing(folder)
    (folder / INDEX).write_bytes(data[:4096] + bytes(len(data) - 4096))


def empty_file(folder: Path) -> None:
    missing(folder)
    (folder / INDEX).touch()


def of_another_version(folder: Path) -> None:
    db = sqlite3.connect(folder / INDEX)
    db.execute("PRAGMA user_version = 999")
    db.close()


def short_of_a_passage(folder: Path) -> None:
    db = sqlite3.connect(folder / INDEX)
    with db:
        db.execute("DELETE FROM chunks WHERE source = 'a/apple.md'")
    db.close()


def with_one_too_many(folder: Path) -> None:
    db = sqlite3.connect(folder / INDEX)
    with db:
        db.execute(
            "INSERT INTO chunks (chunk_id, doc_id, chunk_index, start_index, source, filename, context, text, "
            "metadata) VALUES ('stray', 'd', 0, 0, 's', 's', '', 'apple stray', '{}')"
        )
    db.close()


@pytest.mark.parametrize(
    "harm",
    [missing, garbage, torn, empty_file, of_another_version, short_of_a_passage, with_one_too_many],
    ids=lambda harm: harm.__name__,
)
def test_a_harmed_index_is_made_again_from_chroma_on_opening(
    tmp_path: Path, lines: list[Passage], harm: Callable[[Path], None]
) -> None:
    passages, sources = filled(tmp_path, lines)
    harm(tmp_path)
    with open_store(tmp_path, HashEmbeddings(48)) as store:
        assert everything(store) == passages
        assert store.ledger.sources() == sources
        assert store.count() == 4
        assert store.notes == []
        assert store.fields()["year"] == "number"
        ids = [passage["chunk_id"] for passage in passages]
        np.testing.assert_allclose(kept(store, ids), store.vectors(ids), atol=1e-3)


def test_an_index_behind_by_one_write_is_brought_up_without_fetching_the_rest(
    tmp_path: Path, lines: list[Passage], embeddings: HashEmbeddings
) -> None:
    with open_store(tmp_path, embeddings) as store:
        store.add(lines[:3])
        copies = {file: file.read_bytes() for file in files_of(tmp_path)}
    with open_store(tmp_path, embeddings) as store:
        store.add(lines[3:])
        store.delete([lines[0]["chunk_id"]])
    missing(tmp_path)
    for file, data in copies.items():
        file.write_bytes(data)
    embeddings.asked.clear()
    with open_store(tmp_path, embeddings) as store:
        assert {p["chunk_id"] for p in everything(store)} == {p["chunk_id"] for p in lines[1:]}
    assert embeddings.asked == []


def test_what_only_an_interrupted_file_holds_is_no_whole_file(tmp_path: Path, lines: list[Passage]) -> None:
    filled(tmp_path, lines)
    missing(tmp_path)
    with open_store(tmp_path, HashEmbeddings(48)) as store:
        assert "/x/cut.md" not in store.ledger.sources()
        assert store.release("/x/cut.md") == 1


def test_a_passage_that_two_files_hold_goes_with_the_last_of_them(store: Store) -> None:
    (shared,) = as_passages([{"text": "the same words", "source": "/one.md"}])
    one, two = (Origin(f"/{name}.md", "aa", 1, 1, "o", 1) for name in ("one", "two"))
    store.add(([shared]), one)
    store.add([Passage(**{**shared, "source": "/two.md", "filename": "two.md"})], two)
    assert store.count() == 1
    assert [d.source for d in store.documents()] == ["/one.md", "/two.md"]
    assert store.release("/two.md") == 0
    (left,) = store.get([shared["chunk_id"]])
    assert (left["source"], left["filename"]) == ("/one.md", "one.md")
    assert store.dense("the same words", 1, {"source": "/one.md"})
    assert store.release("/one.md") == 1
    assert store.count() == 0


def test_the_count_follows_every_change_wherever_it_is_made(tmp_path: Path, lines: list[Passage]) -> None:
    here, there = Index(tmp_path / INDEX), Index(tmp_path / INDEX)
    records = [Record(line) for line in lines]
    assert (here.count(), there.count()) == (0, 0)
    here.put(records[:2])
    assert (here.count(), there.count()) == (2, 2)
    there.put(records)
    assert (here.count(), there.count()) == (5, 5)

    def broken() -> Iterator[Record]:
        yield Record(Passage(**{**lines[0], "chunk_id": "other"}))
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        here.put(broken())
    assert (here.count(), there.count()) == (5, 5)
    here.drop([lines[0]["chunk_id"]])
    assert (here.count(), there.count()) == (4, 4)
    here.close()
    there.close()
