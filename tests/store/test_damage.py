"""A damaged store is mended aloud or refused clearly: every file of it, in five ways."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from cragraph.errors import StoreError
from cragraph.passages import as_passages
from cragraph.store import Store, forget, ingest, open_store
from cragraph.testing import HashEmbeddings
from tests.support.cases import cases

ROOT = Path(__file__).resolve().parents[2]
WAYS = ("empty", "halved", "zeroed", "flipped", "removed")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents, and a store that was closed in order."""
    base = tmp_path_factory.mktemp("scene")
    (base / "docs").mkdir()
    for number in range(40):
        text = "\n\n".join(f"Part {part} of file{number}, {'and so on ' * 60}" for part in range(8))
        (base / "docs" / f"{number}.md").write_text(f"# File {number}\n\n{text}")
    with open_store(base / "store", HashEmbeddings(48)) as store:
        ingest(base / "docs", store, limits=None)
    return base


def searched(store: Store) -> list[str]:
    found = [*store.lexical("part 3 of file7", 3), *store.dense("Part 3 of file7, and so on", 3)]
    return [f"{p['retrieval_score']:.4f} {p['filename']}" for p in found]


def harm(path: Path, way: str) -> None:
    data, chance = bytearray(path.read_bytes()), random.Random(3)
    for _ in range(500):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    harmed = {"empty": b"", "halved": data[: len(data) // 2], "zeroed": bytes(len(data)), "flipped": data}
    path.unlink() if way == "removed" else path.write_bytes(harmed[way])


def opened_or_refused(folder: Path) -> Store | str:
    try:
        return open_store(folder, HashEmbeddings(48))
    except StoreError as error:
        return str(error)


@pytest.mark.parametrize("way", WAYS)
def test_damaged_passages_are_saved_as_far_as_they_can_be_read_or_it_is_a_clear_error(
    scene: Path, tmp_path: Path, way: str
) -> None:
    with open_store(scene / "store", HashEmbeddings(48)) as store:
        wanted, count = searched(store), store.count()
    folder = shutil.copytree(scene / "store", tmp_path / "store")
    harm(folder / "cragraph.db", way)
    opened = opened_or_refused(folder)
    if isinstance(opened, str):
        assert "run cragraph ingest PATH again" in opened
        return
    assert way == "flipped"
    with opened as store:
        assert any("damaged" in note for note in store.notes)
        assert store.count() < count
        assert ingest(scene / "docs", store, limits=None).did_anything
    with open_store(folder, HashEmbeddings(48)) as store:
        assert store.notes == []
        assert store.count() == count
        assert searched(store) == wanted
        assert store.problems() == []


@pytest.mark.slow
@pytest.mark.parametrize("held", ["kept", "dropped"])
def test_a_process_that_ends_without_closing_its_store_leaves_it_sealed(tmp_path: Path, held: str) -> None:
    code = "from tests.store.test_damage import add_one; add_one()"
    own = {**os.environ, "FOLDER": str(tmp_path), "HELD": held}
    subprocess.run([sys.executable, "-c", code], check=True, env=own, cwd=ROOT)
    with open_store(tmp_path, HashEmbeddings(48)) as store:
        assert store.count() == 1
        assert store.index.seal_state() == ("sealed", 0)


kept: list[Store] = []


def add_one() -> None:
    """Write in a store that nobody closes."""
    store = open_store(os.environ["FOLDER"], HashEmbeddings(48))
    store.add(as_passages(["one"]))
    if os.environ["HELD"] == "kept":
        kept.append(store)


def changed(folder: Path, sql: str) -> None:
    db = sqlite3.connect(folder / "cragraph.db")
    with db:
        db.execute(sql)
    db.close()


@pytest.mark.parametrize(("sql", "asked_again"), cases("store/damage", "what was changed inside"))
def test_what_was_changed_inside_is_noticed_and_made_again(
    scene: Path, tmp_path: Path, sql: str, asked_again: int
) -> None:
    folder = shutil.copytree(scene / "store", tmp_path / "store")
    with open_store(scene / "store", HashEmbeddings(48)) as store:
        wanted, count = searched(store), store.count()
    changed(folder, sql)
    embeddings = HashEmbeddings(48)
    with open_store(folder, embeddings) as store:
        problems = [*store.notes, *store.problems()]
        assert problems
        ingest(scene / "docs", store, limits=None)
    with open_store(folder, HashEmbeddings(48)) as store:
        assert (store.count(), searched(store)) == (count, wanted)
        assert store.problems() == []


def test_writes_that_are_gone_with_the_log_are_said(scene: Path, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = open_store(scene / "store", HashEmbeddings(48))
    shutil.copytree(scene / "store", folder)
    store.close()
    again = open_store(folder, HashEmbeddings(48))
    with again.writing():
        again.add(again.get([key[1] for key in sorted(again.index.keys())][:3]))
        copy = shutil.copytree(folder, tmp_path / "killed")  # as it lies while a writer is at work
    again.close()
    (copy / "cragraph.db-wal").write_bytes(b"")
    (copy / "cragraph.db-shm").unlink(missing_ok=True)
    with open_store(copy, HashEmbeddings(48)) as store:
        (note,) = store.notes
        assert "writes to the store are gone" in note


def test_a_store_whose_file_was_removed_does_not_pass_for_an_empty_one(scene: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(scene / "store", tmp_path / "store")
    (folder / "cragraph.db").unlink()
    for create in (True, False):
        with pytest.raises(StoreError, match=r"is gone or empty.*put it back, or remove .*cragraph ingest PATH again"):
            open_store(folder, HashEmbeddings(48), create=create)


@pytest.mark.parametrize("key", ["generation", "dimension"])
@pytest.mark.parametrize("value", ["'abc'", "x'ff00'", "NULL", "-5", "1e400", "1.5", "''"])
def test_a_number_of_the_store_that_is_none_is_made_again_aloud(
    scene: Path, tmp_path: Path, key: str, value: str
) -> None:
    folder = shutil.copytree(scene / "store", tmp_path / "store")
    with open_store(scene / "store", HashEmbeddings(48)) as store:
        wanted = searched(store)
    changed(folder, f"UPDATE meta SET value = {value} WHERE key = '{key}'")
    with open_store(folder, HashEmbeddings(48), create=False) as store:
        assert any("was damaged" in note for note in store.notes)
        assert searched(store) == wanted


@pytest.mark.parametrize("value", ["'abc'", "x'ff00'", "NULL", "1.5"])
def test_a_name_of_the_store_that_is_none_is_never_a_bare_error(scene: Path, tmp_path: Path, value: str) -> None:
    folder = shutil.copytree(scene / "store", tmp_path / "store")
    for sql in (
        f"INSERT OR REPLACE INTO meta VALUES ('left_out', {value})",
        f"INSERT OR IGNORE INTO fields VALUES (1, {value}, 'text')",
        f"UPDATE origins SET mtime_ns = coalesce({value}, 0), size = coalesce({value}, 0)",
    ):
        changed(folder, sql)
    store = opened_or_refused(folder)
    assert isinstance(store, Store)
    with store:
        assert searched(store)
        ingest(scene / "docs", store, limits=None)
    changed(folder, f"UPDATE meta SET value = {value} WHERE key = 'model'")
    opened = opened_or_refused(folder)
    assert "holds vectors of" in opened if isinstance(opened, str) else opened.close() is None


@pytest.mark.parametrize(
    "name", ["cragraph.db", "cragraph.db-wal", "cragraph.db-shm", "cragraph.seal", "write.lock", "writer.json", "."]
)
def test_a_folder_or_a_pipe_in_the_place_of_a_file_is_never_called_safe(scene: Path, tmp_path: Path, name: str) -> None:
    for make in (Path.mkdir, os.mkfifo, lambda path: path.write_text("text")):
        folder = shutil.copytree(scene / "store", tmp_path / make.__name__)
        place = folder / name
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
        if (place.suffix in (".seal", ".lock", ".json") and make is os.mkfifo) or (name == "." and make is Path.mkdir):
            continue
        make(place)
        opened = opened_or_refused(folder)
        if isinstance(opened, str):
            assert "safe" not in opened
            assert "again" in opened or "choose another" in opened or "move it away" in opened
            continue
        with opened:
            assert searched(opened)


def test_a_byte_that_rots_is_never_quoted_although_the_file_kept_its_time(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "hall.md").write_text("Hiring the hall costs 40 pounds an evening.")
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        ingest(tmp_path / "docs", store, limits=None)
    path = tmp_path / "store" / "cragraph.db"
    status = path.stat()
    path.write_bytes(path.read_bytes().replace(b"costs 40 pounds", b"costs 90 pounds"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(StoreError, match="nothing in it can be read"):
        open_store(tmp_path / "store", HashEmbeddings(48), create=False)
    (tmp_path / "docs" / "tea.md").write_text("Tea is served at four.")
    shutil.rmtree(tmp_path / "store")
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        ingest(tmp_path / "docs", store, limits=None)
    path.write_bytes(path.read_bytes().replace(b"costs 40 pounds", b"costs 90 pounds"))
    for _ in range(2):  # whoever opens it next is told too
        with open_store(tmp_path / "store", HashEmbeddings(48), create=False) as store:
            assert any("was damaged: 1 of 2 passages could be read" in note for note in store.notes)
            assert "90" not in str([*store.lexical("hall costs pounds", 5), *store.dense("hall costs pounds", 5)])
            assert any("hall.md" in problem for problem in store.problems())
            assert [d.complete for d in store.documents()] == [False, True]
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        assert ingest(tmp_path / "docs", store, limits=None).did_anything
        assert "40 pounds" in store.lexical("hall costs", 1)[0]["text"]
        assert (store.notes, store.problems()) == ([], [])


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE chunks SET text = replace(text, 'of file7', 'of file8') WHERE text LIKE '%Part 3 of file7,%'",
        "UPDATE vectors SET vector = zeroblob(192) WHERE id IN (SELECT id FROM chunks WHERE text LIKE '%of file7,%')",
    ],
)
def test_a_row_that_rots_while_the_store_is_open_is_left_out_aloud_and_read_again(
    scene: Path, tmp_path: Path, sql: str
) -> None:
    folder = shutil.copytree(scene / "store", tmp_path / "store")
    with open_store(folder, HashEmbeddings(48)) as store:
        changed(folder, sql)
        found = [*store.lexical("part 3 of file7", 3), *store.dense("Part 3 of file7, and so on", 3)]
        (note,) = store.notes
        assert "passages are not what was written, so they were left out" in note
        assert not [p for p in found if p["filename"] == "7.md" and "file8" in p["text"]]
        report = ingest(scene / "docs", store, limits=None)
        assert [Path(source).name for source in report.changed] == ["7.md"]
        assert report.notes == [note]
        assert store.notes == []
        assert store.lexical("part 3 of file7", 1)[0]["filename"] == "7.md"
        assert store.problems() == []


def test_nothing_of_a_forgotten_file_is_left_in_the_store_s_files(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for number in range(20):
        (tmp_path / "docs" / f"{number}.md").write_text(f"Common words and zebrafish{number} in a text. " * 30)
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        ingest(tmp_path / "docs", store, limits=None)
        forget(store, "7.md")
        ingest(tmp_path / "docs" / "8.md", store, collection="other", limits=None)
        store.drop("other")
        held = b"".join(path.read_bytes() for path in (tmp_path / "store").iterdir())
    assert b"zebrafish6" in held
    assert b"zebrafish7" not in held
    assert b"zebrafish8" not in held
