import json
import os
import time
from functools import partial
from pathlib import Path

import pytest

from cragraph.errors import StoreLockedError
from cragraph.store import Store, open_store
from cragraph.store import ingest as ingest_by_a_process
from cragraph.testing import HashEmbeddings

ingest = partial(ingest_by_a_process, limits=None)
"""In this process: starting another would take most of the time of these tests."""

OLD = 1_600_000_000


def write(path: Path, text: str, when: int = OLD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (when, when))
    return path


def names(sources: list[str]) -> list[str]:
    return sorted(Path(source).name for source in sources)


def texts(store: Store, query: str) -> list[str]:
    return [passage["text"] for passage in store.lexical(query, 50)]


def test_files_go_in_with_where_they_came_from(store: Store, docs: Path) -> None:
    report = ingest_by_a_process(docs, store)
    assert names(report.added) == ["penguins.md", "table.csv", "whales.txt"]
    assert report.chunks == store.count() > 3
    assert (report.changed, report.unchanged, report.removed, report.skipped, report.failed) == ([], [], [], [], [])
    (passage,) = store.lexical("penguins", 1)
    assert passage["source"] == (docs / "penguins.md").as_posix()
    assert passage["filename"] == "penguins.md"
    assert passage["metadata"]["heading"] == "Penguins"
    sizes = {Path(d.source).name: (d.size, d.chunks) for d in store.documents()}
    assert sizes["penguins.md"] == ((docs / "penguins.md").stat().st_size, 1)


def test_nothing_is_done_for_files_that_did_not_change(store: Store, docs: Path, embeddings: HashEmbeddings) -> None:
    ingest(docs, store)
    embeddings.asked.clear()
    generation = store.index.generation
    report = ingest(docs, store)
    assert names(report.unchanged) == ["penguins.md", "table.csv", "whales.txt"]
    assert (report.added, report.changed, report.chunks) == ([], [], 0)
    assert not report.did_anything
    assert embeddings.asked == []
    assert store.index.generation == generation


def test_a_changed_file_replaces_its_chunks(store: Store, docs: Path) -> None:
    ingest(docs, store)
    write(docs / "penguins.md", "# Penguins\n\nThey also walk.\n", when=OLD + 5)
    report = ingest(docs, store)
    assert names(report.changed) == ["penguins.md"]
    assert texts(store, "swim ice") == []
    assert "They also walk." in texts(store, "walk")[0]
    assert store.dense("Penguins swim under the ice.", 1)[0]["filename"] != "penguins.md" or (
        "swim" not in store.dense("Penguins swim under the ice.", 1)[0]["text"]
    )


def test_a_file_that_was_only_touched_is_recognised_by_its_hash(
    store: Store, docs: Path, embeddings: HashEmbeddings
) -> None:
    ingest(docs, store)
    embeddings.asked.clear()
    os.utime(docs / "penguins.md", (OLD + 99, OLD + 99))
    report = ingest(docs, store)
    assert "penguins.md" in names(report.unchanged)
    assert embeddings.asked == []
    recorded = store.index.sources()[(docs / "penguins.md").as_posix()]
    assert recorded.mtime_ns == (docs / "penguins.md").stat().st_ctime_ns


def test_a_file_written_just_now_is_hashed_next_time_because_its_time_may_not_tell(store: Store, docs: Path) -> None:
    fresh = docs / "fresh.md"
    soon = time.time() + 3600  # just now, however long this machine takes to get to reading it
    for words in ("first words", "other words"):
        fresh.write_text(words)
        os.utime(fresh, (soon, soon))
        if words == "first words":
            ingest(docs, store)
    report = ingest(docs, store)
    assert names(report.changed) == ["fresh.md"]
    assert texts(store, "other") == ["other words"]


def test_vanished_files_stay_until_pruning_is_asked_for_and_only_below_the_paths(store: Store, docs: Path) -> None:
    other = write(docs.parent / "elsewhere" / "other.md", "Elsewhere.")
    ingest([docs, other], store)
    (docs / "penguins.md").unlink()
    other.unlink()
    assert ingest(docs, store).removed == []
    assert texts(store, "penguins")
    report = ingest(docs, store, prune=True)
    assert names(report.removed) == ["penguins.md"]
    assert texts(store, "penguins") == []
    assert texts(store, "elsewhere") == ["Elsewhere."]


def test_a_dry_run_says_what_would_change_and_changes_nothing(
    store: Store, docs: Path, tmp_path: Path, embeddings: HashEmbeddings
) -> None:
    ingest(docs, store)
    write(docs / "new.md", "New.")
    write(docs / "penguins.md", "Changed.", when=OLD + 5)
    (docs / "table.csv").unlink()
    generation, documents = store.index.generation, store.documents()
    embeddings.asked.clear()
    with open_store(tmp_path / "store", embeddings) as other, other.writing():  # it needs no lock
        report = ingest(docs, store, prune=True, dry_run=True)
    assert report.dry_run
    assert not report.did_anything
    assert (names(report.added), names(report.changed), names(report.removed), names(report.unchanged)) == (
        ["new.md"], ["penguins.md"], ["table.csv"], ["whales.txt"],
    )  # fmt: skip
    assert (store.index.generation, store.documents(), embeddings.asked) == (generation, documents, [])


def test_a_file_that_no_longer_reads_keeps_what_it_gave_before(store: Store, docs: Path) -> None:
    rows = [json.dumps({"text": f"row number {i}"}) for i in range(5)]
    file = write(docs / "rows.jsonl", "\n".join(rows))
    ingest(docs, store)
    file.write_bytes(b"\x89PNG not text at all")
    report = ingest(docs, store)
    assert names([path for path, _ in report.failed + report.skipped]) == ["rows.jsonl"]
    assert len(texts(store, "row number")) == 5


def test_the_same_text_in_two_files_is_stored_once_and_lives_as_long_as_either(store: Store, docs: Path) -> None:
    write(docs / "copies" / "penguins.md", (docs / "penguins.md").read_text())
    ingest(docs, store)
    assert len(texts(store, "penguins")) == 1
    assert len(store.documents()) == 4
    (docs / "penguins.md").unlink()
    ingest(docs, store, prune=True)
    (left,) = store.lexical("penguins", 9)
    assert left["source"] == (docs / "copies" / "penguins.md").as_posix()
    write(docs / "copies" / "penguins.md", "Gone.", when=OLD + 5)
    ingest(docs, store)
    assert texts(store, "swim") == []


def test_only_the_rows_that_changed_are_embedded_again(store: Store, docs: Path, embeddings: HashEmbeddings) -> None:
    rows = [json.dumps({"text": f"row number {i}", "kind": "r"}) for i in range(300)]
    file = write(docs / "rows.jsonl", "\n".join(rows))
    ingest(file, store)
    embeddings.asked.clear()
    rows[7] = json.dumps({"text": "another row", "kind": "r"})
    write(file, "\n".join(rows), when=OLD + 5)
    ingest(file, store)
    assert len(embeddings.asked) == 1
    assert store.count() == 300
    assert len(texts(store, "another")) == 1


def test_a_second_ingest_at_the_same_time_is_refused(docs: Path, tmp_path: Path) -> None:
    first, second = (open_store(tmp_path / "store", HashEmbeddings(48), patience=0.1) for _ in range(2))
    with first, second, first.writing(), pytest.raises(StoreLockedError, match=f"process {os.getpid()}"):
        ingest(docs, second)


def test_another_text_of_the_same_size_and_time_is_read(store: Store, docs: Path) -> None:
    file = write(docs / "rate.md", "The rate is 4 per cent.")
    os.utime(file, (10**9, 10**9))
    ingest(docs, store)
    file.write_text("The rate is 7 per cent.")
    os.utime(file, (10**9, 10**9))
    assert ingest(docs, store).changed == [file.as_posix()]
