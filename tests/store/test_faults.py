"""A full disk and a folder without write permission: one clear error, and nothing that was in is lost."""

import ctypes
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from cragraph.store import open_store
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage
from lab.benchmarks.old_stores import version_3

pytestmark = pytest.mark.slow

FILLER = """
import sys
from cragraph.errors import StoreError
from cragraph.passages import as_passages
from cragraph.store import open_store
from cragraph.testing import HashEmbeddings
"""


def child(code: str, folder: Path, prepare: Callable[[], None]) -> str:
    """Run code in a process of its own, after `prepare`, and return what it printed."""
    command = [sys.executable, "-c", FILLER + textwrap.dedent(code), str(folder)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=prepare, cwd="/")
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def small_files_only() -> None:
    """No file may grow beyond some size: what the system says then is what it says of a full disk or quota."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))


def bound_by_permissions() -> None:
    """Permissions do not bind the superuser, unless it gives up overriding them."""
    if os.getuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


needs_permissions = pytest.mark.skipif(
    not sys.platform.startswith("linux") and getattr(os, "getuid", lambda: 0)() == 0,
    reason="needs permissions that bind this user",
)


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of a Unix process")
def test_a_disk_that_fills_up_is_one_clear_error_and_loses_nothing(
    tmp_path: Path, lines: list[Passage], embeddings: HashEmbeddings
) -> None:
    with open_store(tmp_path, embeddings) as store:
        store.add(lines)
    code = """
    store = open_store(sys.argv[1], HashEmbeddings(48))
    try:
        for start in range(0, 100_000, 256):
            store.add(as_passages([f"filler number {i} " + "x" * 2000 for i in range(start, start + 256)]))
    except StoreError as error:
        print(error)
    """
    said = child(code, tmp_path, small_files_only)
    assert "\n" not in said
    assert "what was stored before is safe" in said
    with open_store(tmp_path, embeddings) as store:
        assert store.notes == []
        for passage in lines:
            assert store.get([passage["chunk_id"]]) == [passage]
            assert store.dense(passage["text"], 1)[0]["text"] == passage["text"]
            assert store.lexical(passage["text"], 1)[0]["text"] == passage["text"]


@pytest.fixture
def sealed(tmp_path: Path, lines: list[Passage], embeddings: HashEmbeddings) -> Path:
    """A finished store that may be read but not written."""
    folder = tmp_path / "store"
    with open_store(folder, embeddings) as store:
        store.add(lines)
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    return folder


@needs_permissions
def test_writing_to_a_read_only_folder_is_one_clear_error(
    sealed: Path, lines: list[Passage], embeddings: HashEmbeddings
) -> None:
    code = """
    try:
        open_store(sys.argv[1], HashEmbeddings(48)).add(as_passages(["more"]))
    except StoreError as error:
        print(error)
    """
    said = child(code, sealed, bound_by_permissions)
    assert "\n" not in said
    assert "write permission" in said
    for path in [sealed, *sealed.rglob("*")]:
        path.chmod(0o755)
    with open_store(sealed, embeddings) as store:
        assert store.get([p["chunk_id"] for p in lines]) == lines


@needs_permissions
def test_a_read_only_folder_can_be_read(sealed: Path, lines: list[Passage]) -> None:
    code = """
    with open_store(sys.argv[1], HashEmbeddings(48), create=False) as store:
        print(store.count(), store.dense("Penguins swim", 1)[0]["text"], store.lexical("penguins", 1)[0]["text"])
    """
    text = "Penguins swim under the ice."
    assert child(code, sealed, bound_by_permissions).strip() == f"{len(lines)} {text} {text}"


@needs_permissions
def test_a_store_cannot_be_made_in_a_read_only_folder(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    code = """
    for folder in (sys.argv[1], sys.argv[1] + "/deeper"):
        try:
            open_store(folder, HashEmbeddings(48))
        except StoreError as error:
            print(error)
    """
    first, second = child(code, closed, bound_by_permissions).splitlines()
    assert "write permission" in first
    assert "write permission" in second
    closed.chmod(0o755)
    assert list(closed.iterdir()) == []


READ = """
with open_store(sys.argv[1], HashEmbeddings(48), create=False) as store:
    print(len(store.documents()), store.lexical("penguins", 1)[0]["text"], store.notes)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of a Unix process")
def test_a_store_on_a_full_disk_can_be_read(tmp_path: Path, lines: list[Passage], embeddings: HashEmbeddings) -> None:
    def full() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    with open_store(tmp_path, embeddings) as store:
        store.add(lines)
    assert child(READ, tmp_path, full) == f"{len(lines)} Penguins swim under the ice. []"


@needs_permissions
def test_a_copy_in_a_read_only_folder_can_be_read(tmp_path: Path, lines: list[Passage], sealed: Path) -> None:
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", sealed, copy], check=True)
    for path in [*copy.rglob("*"), copy]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert child(READ, copy, bound_by_permissions) == f"{len(lines)} Penguins swim under the ice. []"


@needs_permissions
def test_an_old_store_in_a_read_only_folder_is_read_into_memory(
    tmp_path: Path, lines: list[Passage], embeddings: HashEmbeddings
) -> None:
    with open_store(None, embeddings) as store:
        store.add(lines)
        version_3(store, tmp_path / "old")
    for path in [*(tmp_path / "old").rglob("*"), tmp_path / "old"]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert child(READ, tmp_path / "old", bound_by_permissions) == f"{len(lines)} Penguins swim under the ice. []"


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    from cragraph.errors import StoreError

    with pytest.raises(StoreError, match="choose another with --store"):
        open_store(tmp_path / "file", HashEmbeddings(16))
