"""A writer that is killed, wherever it is, leaves each file as it was or as it is, and the next run completes it."""

import subprocess
import sys
from pathlib import Path

import pytest

from cragraph.store import SplitOptions, ingest, open_store
from cragraph.testing import HashEmbeddings

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(300)  # ten writers are started and killed
def test_killed_at_any_point_nothing_is_lost_or_half_visible() -> None:
    command = [sys.executable, "-m", "lab.benchmarks.faults", "--kills", "10", "--only", "kills", "--seed", "7"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count(", 0 faults") == 10


class Stopped(HashEmbeddings):
    """A model at which somebody presses Ctrl-C."""

    def __init__(self, calls: int) -> None:
        super().__init__(48)
        self.left = calls

    def embed_documents(self, texts):  # type: ignore[no-untyped-def]
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt
        return super().embed_documents(texts)


def test_a_long_file_that_was_cut_off_is_not_in_by_half_and_goes_on_where_it_was(tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("\n\n".join(f"Paragraph {n} of a long text." for n in range(900)))
    (tmp_path / "a.txt").write_text("A short one.")
    options = SplitOptions(40, 0)
    with open_store(tmp_path / "store", Stopped(2)) as store:
        with pytest.raises(KeyboardInterrupt) as stop:
            ingest([tmp_path / "a.txt", long], store, split_options=options, limits=None)
        (kept,) = stop.value.__notes__
        assert "1 files are in, whole." in kept
        assert "Run the same command again" in kept
        assert [d.filename for d in store.documents()] == ["a.txt"]
        assert list(store.unfinished()) == [long.as_posix()]
        assert store.lexical("paragraph 3", 3) == []
        waiting = store.unfinished()[long.as_posix()]
        assert f"{waiting} chunks are kept" in kept
    embeddings = HashEmbeddings(48)
    embeddings.name = "hash-48"
    with open_store(tmp_path / "store", embeddings) as store:
        assert ingest([tmp_path / "a.txt", long], store, split_options=options, limits=None).added == [long.as_posix()]
        assert len(embeddings.asked) == 900 - waiting
        assert store.count() == 901
        assert store.unfinished() == {}
