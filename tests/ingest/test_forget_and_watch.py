import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Event, Thread
from time import sleep

import pytest

from cragraph import store as stores
from cragraph.errors import InputError
from cragraph.store import IngestReport, Store, forget

ingest, watch = (partial(one, limits=None) for one in (stores.ingest, stores.watch))
"""In this process: starting another would take most of the time of these tests."""


def test_a_forgotten_file_is_gone_from_both_sides_and_stays_on_disk(store: Store, docs: Path) -> None:
    ingest(docs, store)
    assert forget(store, docs / "penguins.md") == [(docs / "penguins.md").as_posix()]
    assert store.lexical("penguins", 3) == []
    assert all("enguins" not in p["text"] for p in store.dense("Penguins swim under the ice.", 9))
    assert (docs / "penguins.md").exists()
    assert len(ingest(docs, store).added) == 1


def test_a_folder_is_forgotten_with_all_that_is_below_even_when_it_is_gone(store: Store, docs: Path) -> None:
    ingest(docs, store)
    docs.rename(docs.with_name("away"))
    assert len(forget(store, docs)) == 3
    assert (store.count(), store.documents()) == (0, [])


def test_a_name_that_several_documents_have_is_refused_with_their_paths(store: Store, docs: Path) -> None:
    (docs / "deep" / "penguins.md").write_text("Penguins also nest inland.")
    ingest(docs, store)
    with pytest.raises(InputError, match="2 documents") as raised:
        forget(store, "penguins.md")
    assert all((docs / part / "penguins.md").as_posix() in str(raised.value) for part in ("", "deep"))
    assert len(store.documents()) == 4


def test_watching_follows_new_changed_and_vanished_files(store: Store, docs: Path) -> None:
    reports: list[IngestReport] = []
    stop = Event()
    thread = Thread(target=_until, args=(stop, docs, store, reports))
    thread.start()
    try:
        _wait(lambda: len(reports) == 1)
        (docs / "new.md").write_text("Otters hold hands.")
        _wait(lambda: len(reports) == 2)
        (docs / "new.md").unlink()
        _wait(lambda: len(reports) == 3)
    finally:
        stop.set()
        thread.join()
    assert [len(report.added) for report in reports] == [3, 1, 0]
    assert [Path(path).name for path in reports[2].removed] == ["new.md"]
    assert store.lexical("otters", 3) == []


class Looks(Event):
    """Stops a watch after so many looks; before each but the first it does something."""

    def __init__(self, count: int, before: Callable[[int], None] = lambda look: None) -> None:
        super().__init__()
        self.left, self.before, self.look = count, before, 0

    def wait(self, timeout: float | None = None) -> bool:
        self.look += 1
        self.before(self.look)
        if self.look == self.left:
            self.set()
        return self.is_set()


def test_a_file_is_taken_when_it_has_stopped_growing(store: Store, docs: Path) -> None:
    growing, seen = docs / "growing.md", []

    def grow(look: int) -> None:
        if look <= 10:
            with growing.open("a") as file:
                file.write(f"line {look} of the story\n\n")
            os.utime(growing, (look, look))

    looks = Looks(15, grow)
    for report in watch(docs, store, stop=looks):
        seen.append((looks.look, len(report.added)))
    assert seen == [(0, 3), (11, 1)]
    assert "line 10" in store.lexical("line 10 story", 1)[0]["text"]


def _until(stop: Event, docs: Path, store: Store, reports: list[IngestReport], interval: float = 0.05) -> None:
    for report in watch(docs, store, interval=interval, stop=stop):
        reports.append(report)


def _wait(done: Callable[[], bool]) -> None:
    while not done():
        sleep(0.02)
