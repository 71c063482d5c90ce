"""An ingest that is killed, wherever it is, leaves nothing out that was in, and the next one completes it."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from cragraph.retrieval.store import Store, ingest, open_store
from cragraph.testing.embeddings import HashEmbeddings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

FILES, PARTS, POINTS = 24, 24, 12
"""Enough parts for several writes, in each of which several files end."""

OLD = 1_600_000_000

CHILD = textwrap.dedent(
    """
    import os, signal, sys
    from cragraph.retrieval.store import ingest
    from cragraph.retrieval.store import open_store
    from cragraph.testing.embeddings import HashEmbeddings
    folder, docs, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
    calls = 0
    def count(frame, event, argument):
        global calls
        code = frame.f_code.co_filename
        if event in ("call", "return") and ("retrieval/store" in code or "retrieval/ingest" in code):
            calls += 1
            if calls == last:
                os.kill(os.getpid(), signal.SIGKILL)
    with open_store(folder, HashEmbeddings(48)) as store:
        sys.setprofile(count)
        ingest(docs, store, prune=True)
        sys.setprofile(None)
    print(calls)
    """
)


def documents(folder: Path, version: str) -> None:
    """A folder of files; the second version changes most, drops some and brings some."""
    folder.mkdir(exist_ok=True)
    for number in range(FILES):
        file = folder / f"{number}.md"
        if version == "two" and number % 6 == 0:
            file.unlink()
            continue
        changed = version if number % 3 else "one"
        parts = (f"Part {i} of file{number} in version {changed}. " * 20 for i in range(PARTS))
        file.write_text(f"# File {number}\n\n" + "\n\n".join(parts))
        os.utime(file, (OLD, OLD + (changed == "two")))
    if version == "two":
        (folder / "new.md").write_text("Brought by version two.")


def run(store: Path, docs: Path, last: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CHILD, str(store), str(docs), str(last)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


def contents(store: Store) -> dict[str, set[str]]:
    """The texts by file that each side holds; both must hold the same."""
    ids = sorted(store._index.ids())
    assert sorted(store._vectors.ids()) == ids
    assert len(store.vectors(ids)) == len(ids)
    held: dict[str, set[str]] = {}
    for passage in store.get(ids):
        held.setdefault(passage["filename"], set()).add(passage["text"])
    return held


def fresh(docs: Path) -> dict[str, set[str]]:
    """What an ingest that nobody disturbs gives."""
    with open_store(None, HashEmbeddings(48)) as store:
        ingest(docs, store)
        return contents(store)


@dataclass(frozen=True)
class Scene:
    """Files in their second version, a store of the first, what each version holds, and the calls an ingest makes."""

    docs: Path
    store: Path
    one: dict[str, set[str]]
    two: dict[str, set[str]]
    calls: int


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    base = tmp_path_factory.mktemp("scene")
    docs = base / "docs"
    documents(docs, "one")
    with open_store(base / "store", HashEmbeddings(48)) as store:
        ingest(docs, store)
        one = contents(store)
    documents(docs, "two")
    shutil.copytree(base / "store", base / "undisturbed")
    result = run(base / "undisturbed", docs, -1)
    assert result.returncode == 0, result.stderr
    return Scene(docs, base / "store", one, fresh(docs), int(result.stdout))


@pytest.mark.parametrize("point", range(POINTS))
def test_killed_at_any_point_nothing_is_lost_and_the_next_run_completes_it(
    tmp_path: Path, scene: Scene, point: int
) -> None:
    folder = shutil.copytree(scene.store, tmp_path / "store")
    result = run(folder, scene.docs, scene.calls * (2 * point + 1) // (2 * POINTS))
    assert result.returncode == -signal.SIGKILL, result.stderr
    with open_store(folder, HashEmbeddings(48)) as store:
        assert store.notes == []
        held = contents(store)
        for file in scene.one.keys() & scene.two.keys():
            assert scene.one[file] <= held[file] or scene.two[file] <= held[file], file
        ingest(scene.docs, store, prune=True)
        assert contents(store) == scene.two
        assert len(ingest(scene.docs, store, prune=True).unchanged) == len(scene.two)


def test_killed_in_a_first_ingest_the_next_run_embeds_only_what_is_missing(tmp_path: Path, scene: Scene) -> None:
    assert run(tmp_path / "store", scene.docs, scene.calls // 2).returncode == -signal.SIGKILL
    embeddings = HashEmbeddings(48)
    with open_store(tmp_path / "store", embeddings) as store:
        there = store.count()
        ingest(scene.docs, store)
        assert contents(store) == scene.two
        assert 0 < there < store.count()
        assert len(embeddings.asked) == store.count() - there


def test_what_a_killed_run_left_of_a_file_that_is_gone_is_pruned(tmp_path: Path, scene: Scene) -> None:
    docs = shutil.copytree(scene.docs, tmp_path / "docs")
    assert run(tmp_path / "store", docs, scene.calls // 2).returncode == -signal.SIGKILL
    for file in docs.iterdir():
        file.unlink()
    with open_store(tmp_path / "store", HashEmbeddings(48)) as store:
        assert store.count() > 0
        ingest(docs, store, prune=True)
        assert (store.count(), store.documents()) == (0, [])
