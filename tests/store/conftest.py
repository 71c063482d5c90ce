import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cragraph.passages import as_passages
from cragraph.store import Store, open_store
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage

LINES = [
    {"text": "The revenue of Apple was 383 billion dollars.", "source": "a/apple.md", "ticker": "AAPL", "year": 2023},
    {"text": "The revenue of Microsoft was 212 billion dollars.", "source": "a/ms.md", "ticker": "MSFT", "year": 2023},
    {"text": "Apple sold phones in the year before.", "source": "a/old.md", "ticker": "AAPL", "year": 2022},
    {"text": "Penguins swim under the ice.", "source": "b/birds.md", "checked": True, "weight": 4.5},
    {"text": "Whales sing, and nobody knows why.", "source": "b/whales.md", "checked": False, "tags": ["sea", "song"]},
]


@pytest.fixture
def lines() -> list[Passage]:
    return as_passages(LINES)


@pytest.fixture
def embeddings() -> HashEmbeddings:
    return HashEmbeddings(48)


@pytest.fixture(params=["memory", "folder"])
def store(request: pytest.FixtureRequest, tmp_path: Path, embeddings: HashEmbeddings) -> Iterator[Store]:
    """The same behaviour is wanted wherever the store lies."""
    with open_store(None if request.param == "memory" else tmp_path / "store", embeddings) as opened:
        yield opened


@pytest.fixture
def full(store: Store, lines: list[Passage]) -> Store:
    store.add(lines)
    return store


@pytest.fixture
def python() -> str:
    return sys.executable


WRITER = """
import sys, time
from cragraph.passages import as_passages
from cragraph.store import open_store
from cragraph.testing import HashEmbeddings
store = open_store(sys.argv[1], HashEmbeddings(48))
"""


@pytest.fixture
def writer() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Start a process that opens a store and goes on with some code; it is killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def start(folder: Path, code: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER + textwrap.dedent(code), str(folder)], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
