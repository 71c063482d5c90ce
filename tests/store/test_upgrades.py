"""A store of an older version is brought to this one when it is opened, with all that is in it."""

import shutil
from pathlib import Path

import pytest

from cragraph.store import Store, ingest, open_store
from cragraph.store.opening import mark
from cragraph.testing import HashEmbeddings
from lab.benchmarks.old_stores import version_3

EMBEDDINGS = HashEmbeddings(48)


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """Files, a store of today with three collections, and one of version 3 with the same in it."""
    texts = {"work": "The mill opened in 1820.", "home": "The bread is warm.", "rest": "The sea is salt."}
    for name, text in texts.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"# About {name}\n\n{text}")
    (tmp_path / "rest" / "twin.md").write_text((tmp_path / "work" / "work.md").read_text())
    with open_store(tmp_path / "now", EMBEDDINGS) as store:
        ingest(tmp_path / "work", store, collection="work", limits=None)
        ingest(tmp_path / "home", store, collection="Mira Köhler", limits=None)
        ingest(tmp_path / "rest", store, limits=None)
        version_3(store, tmp_path / "old")
    return tmp_path


def seen(store: Store) -> object:
    queries = ("When did the mill open?", "warm bread", "salt")
    found = [(p["text"], p["retrieval_score"]) for query in queries for p in store.dense(query, 3)]
    words = [store.lexical(query, 3, {"collection": "work"}) for query in queries]
    return store.documents(), store.held(), store.fields(), sorted(found), words


def test_a_store_of_a_file_for_each_collection_becomes_one_file_with_all_in_it(scene: Path) -> None:
    with open_store(scene / "now", EMBEDDINGS) as store:
        wanted = seen(store)
    assert {path.suffix for path in (scene / "old").iterdir()} == {".db", ".seal"}
    assert len([*(scene / "old").glob("*.db")]) == 3
    made = HashEmbeddings(48)
    for _ in range(2):
        with open_store(scene / "old", made, create=False) as store:
            assert seen(store) == wanted
            assert (store.notes, store.problems()) == ([], [])
            for name in ("work", "home", "rest"):
                report = ingest(scene / name, store, limits=None)
                assert (report.added, report.changed, report.moved) == ([], [], [])
    assert not {text for text in made.asked if "mill opened" in text}, "nothing is embedded again"
    assert sorted(path.name for path in (scene / "old").iterdir()) == ["cragraph.db", "cragraph.seal", "write.lock"]


def test_what_a_kill_left_of_the_old_files_is_removed_and_a_file_that_somebody_put_there_is_not(scene: Path) -> None:
    kept = shutil.copytree(scene / "old", scene / "kept")
    with open_store(scene / "old", EMBEDDINGS) as store:
        wanted = seen(store)
    shutil.copy2(kept / "work.db", scene / "old" / "work.db")  # as the kill left it
    shutil.copy(kept / "work.db", scene / "old" / "other.db")
    assert mark(kept / "work.db") == mark(scene / "old" / "work.db")
    with open_store(scene / "old", EMBEDDINGS) as store:
        assert seen(store) == wanted
    assert not (scene / "old" / "work.db").exists()
    assert (scene / "old" / "other.db").exists()


def test_a_passage_of_an_old_store_that_is_not_what_was_written_is_left_out_aloud(scene: Path) -> None:
    path = scene / "old" / "work.db"
    path.write_bytes(path.read_bytes().replace(b"The mill opened in 1820.", b"The mill opened in 1920."))
    with open_store(scene / "old", EMBEDDINGS) as store:
        assert any("was damaged: 3 of 4 passages" in note for note in store.notes)
        assert "1920" not in str(store.lexical("mill", 5))
        assert ingest(scene / "work", store, limits=None).did_anything
        assert store.lexical("mill", 5, {"collection": "work"})
        assert (store.notes, store.problems()) == ([], [])
