import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cragraph.store import Store, open_store
from cragraph.testing import HashEmbeddings

OLD = 1_600_000_000


def write(path: Path, text: str, *, when: int = OLD) -> Path:
    """A file with a time of change long ago, so that its size and time alone say whether it changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (when, when))
    return path


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    write(folder / "penguins.md", "# Penguins\n\nPenguins swim under the ice.\n")
    write(folder / "deep" / "whales.txt", "Whales sing, and nobody knows why.\n\n" + "The sea is deep. " * 200)
    write(folder / "table.csv", "name,legs\nant,6\nspider,8\n")
    return folder


@pytest.fixture
def embeddings() -> HashEmbeddings:
    return HashEmbeddings(48)


@pytest.fixture
def store(tmp_path: Path, embeddings: HashEmbeddings) -> Iterator[Store]:
    with open_store(tmp_path / "store", embeddings) as opened:
        yield opened
