"""Dense search compares every vector, or those that a graph proposes; with a filter by either of two ways."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cragraph.passages import as_passage
from cragraph.store import Store, open_store
from cragraph.store import dense as module
from cragraph.store.dense import DAMAGED
from cragraph.store.records import Floats
from cragraph.testing import HashEmbeddings
from cragraph.types import Passage

NUMBER = 1500


def numbered(first: int, last: int) -> list[Passage]:
    return [as_passage({"text": f"number {n}", "source": str(n), "year": n % 30}) for n in range(first, last)]


def vectors(number: int, seed: int = 0) -> Floats:
    """No two equally near to anything."""
    return np.random.default_rng(seed).normal(size=(number, 16)).astype(np.float32)


@pytest.fixture(scope="module", params=["exact", "graph"])
def years(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Passages of 30 years, 50 of each."""
    graph_from = 1000 if request.param == "graph" else 10_000
    with open_store(tmp_path_factory.mktemp("store"), HashEmbeddings(16), graph_from=graph_from) as store:
        store.add(numbered(0, NUMBER), vectors=vectors(NUMBER))
        yield store


@pytest.fixture
def vector() -> Floats:
    return np.asarray([1.0, *[0.5] * 15], dtype=np.float32)


def nearest(vector: Floats, numbers: list[int]) -> list[str]:
    """The sources of these numbers, nearest first, worked out here."""
    matrix = vectors(NUMBER)[numbers]
    cosines = matrix @ vector / np.linalg.norm(matrix, axis=1)
    return [str(numbers[place]) for place in np.argsort(-cosines)]


@pytest.mark.parametrize("most", [1, 3000])
@pytest.mark.parametrize(
    ("where", "passing"),
    [
        ({"year": {"$gte": 1}}, [n for n in range(NUMBER) if n % 30 >= 1]),
        ({"year": {"$in": [3, 9]}}, [n for n in range(NUMBER) if n % 30 in (3, 9)]),
        ({"source": {"$eq": "17"}}, [17]),
        ({"source": {"$in": ["17", "99", str(NUMBER - 1)]}}, [17, 99, NUMBER - 1]),
        ({"year": {"$gt": 99}}, []),
        (None, list(range(NUMBER))),
    ],
)
def test_however_a_filter_is_worked_out_the_nearest_that_pass_are_found(
    years: Store, vector: Floats, where: dict[str, Any] | None, passing: list[int], most: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(module, "MOST_FILTERED", most)
    found = years._vectors.nearest(vector, 5, where)
    assert [p["source"] for p in found] == nearest(vector, passing)[:5]
    scores = [p["retrieval_score"] or 0.0 for p in found]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.slow
def test_what_is_written_or_removed_later_is_seen_beside_the_graph(tmp_path: Path, vector: Floats) -> None:
    with open_store(tmp_path, HashEmbeddings(16), graph_from=500) as store:
        store.add(numbered(0, 600), vectors=vectors(600))
        first = store._vectors.nearest(vector, 1)[0]
        store.add([as_passage({"text": "the nearest of all", "source": "new"})], vectors=vector[None, :])
        assert [p["source"] for p in store._vectors.nearest(vector, 2)] == ["new", first["source"]]
        store.delete([first["chunk_id"]])
        assert first["source"] not in [p["source"] for p in store._vectors.nearest(vector, 99)]
        moved = store.get([store._vectors.nearest(vector, 9)[8]["chunk_id"]])
        store.add(moved, vectors=vector[None, :])
        assert {p["source"] for p in store._vectors.nearest(vector, 2)} == {"new", moved[0]["source"]}
        assert len(list(tmp_path.glob("*.graph-*"))) == 1
        store.add(numbered(600, 900), vectors=vectors(300, seed=1))  # enough for another graph, out of the first
        assert len(list(tmp_path.glob("*.graph-*"))) == 1
        assert {p["source"] for p in store._vectors.nearest(vector, 2)} == {"new", moved[0]["source"]}
        assert store.notes == []


@pytest.fixture(scope="module")
def graphed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose store has a graph."""
    folder = tmp_path_factory.mktemp("graphed") / "store"
    with open_store(folder, HashEmbeddings(16), graph_from=1000) as store:
        store.add(numbered(0, 1200), vectors=vectors(1200))
    return folder


@pytest.mark.parametrize("harm", ["empty", "halved", "zeroed", "flipped", "removed"])
@pytest.mark.parametrize("name", ["data_level0.bin", "link_lists.bin", "chroma.sqlite3", "index_metadata.pickle"])
def test_a_damaged_graph_is_not_given_to_chroma_but_every_vector_is_compared(
    graphed: Path, tmp_path: Path, vector: Floats, name: str, harm: str
) -> None:
    folder = shutil.copytree(graphed, tmp_path / "store")
    (file,) = folder.glob(f"*.graph-*/**/{name}")
    data = bytearray(file.read_bytes())
    for place in range(0, len(data), max(1, len(data) // 500)):
        data[place] ^= 64
    size = file.stat().st_size
    harmed = {"empty": b"", "halved": data[: size // 2], "zeroed": bytes(size), "flipped": bytes(data)}
    file.unlink() if harm == "removed" else file.write_bytes(harmed[harm])
    with open_store(folder, HashEmbeddings(16), graph_from=1000, create=False) as store:
        assert [p["source"] for p in store._vectors.nearest(vector, 5)] == nearest(vector, list(range(1200)))[:5]
        assert store.notes == [DAMAGED]


def test_a_damaged_graph_is_made_again_by_the_next_writer(graphed: Path, tmp_path: Path, vector: Floats) -> None:
    folder = shutil.copytree(graphed, tmp_path / "store")
    (file,) = folder.glob("*.graph-*/**/data_level0.bin")
    file.write_bytes(b"")
    with open_store(folder, HashEmbeddings(16), graph_from=1000) as store:
        with store.writing():
            pass
        assert [p["source"] for p in store._vectors.nearest(vector, 5)] == nearest(vector, list(range(1200)))[:5]
        assert store.notes == []
    assert len(list(folder.glob("*.graph-*"))) == 1


def test_a_graph_that_is_damaged_while_it_is_open_is_made_again(graphed: Path, tmp_path: Path, vector: Floats) -> None:
    folder = shutil.copytree(graphed, tmp_path / "store")
    with open_store(folder, HashEmbeddings(16), graph_from=1000) as store:
        store._vectors.nearest(vector, 5)
        (file,) = folder.glob("*.graph-*/**/data_level0.bin")
        file.write_bytes(b"")
        with store.writing():
            pass
        assert [p["source"] for p in store._vectors.nearest(vector, 5)] == nearest(vector, list(range(1200)))[:5]
        assert store.notes == []


def test_a_copied_store_keeps_its_graph(graphed: Path, tmp_path: Path, vector: Floats) -> None:
    folder = shutil.copytree(graphed, tmp_path / "store", copy_function=shutil.copy)  # which changes the files' times
    with open_store(folder, HashEmbeddings(16), graph_from=1000) as store:
        assert [p["source"] for p in store._vectors.nearest(vector, 5)] == nearest(vector, list(range(1200)))[:5]
        assert store.notes == []
