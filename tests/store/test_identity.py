from pathlib import Path

import pytest

from cragraph.errors import StoreError, StoreMismatchError
from cragraph.passages import as_passages
from cragraph.store import open_store
from cragraph.testing import HashEmbeddings


def filled(folder: Path) -> None:
    with open_store(folder, HashEmbeddings(32)) as store:
        store.add(as_passages(["some text"]))


@pytest.mark.parametrize("other", [HashEmbeddings(64), HashEmbeddings(32, name="other")], ids=["dimension", "model"])
def test_another_model_is_refused_on_opening_with_both_named_and_the_fix(tmp_path: Path, other: HashEmbeddings) -> None:
    filled(tmp_path)
    with pytest.raises(StoreMismatchError) as error:
        open_store(tmp_path, other)
    said = str(error.value)
    assert "hash-32 (32 dimensions, cosine)" in said
    assert other.name in said
    assert "cragraph ingest PATH --store NEW" in said
    assert "\n" not in said


class Nameless(HashEmbeddings):
    """Embeddings that say nothing of themselves, as most of LangChain's do."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.size = dimension
        del self.name, self.dimension

    def _vector(self, text: str) -> list[float]:
        self.dimension = self.size
        try:
            return super()._vector(text)
        finally:
            del self.dimension


def test_a_dimension_that_shows_only_in_the_vectors_is_checked_at_the_first(tmp_path: Path) -> None:
    with open_store(tmp_path, Nameless(32)) as store:
        store.add(as_passages(["some text"]))
        assert store.count() == 1
    with open_store(tmp_path, Nameless(16)) as store:
        for use in (lambda: store.dense("some text", 1), lambda: store.add(as_passages(["more"]))):
            with pytest.raises(StoreMismatchError, match=r"Nameless \(32 dimensions"):
                use()


def test_the_embeddings_must_give_numbers_of_one_length(tmp_path: Path) -> None:
    class Broken(HashEmbeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:  # type: ignore[override]
            return [[float("nan")] * 16 for _ in texts]

    with open_store(tmp_path, Broken(16)) as store:
        with pytest.raises(StoreError, match="not finite"):
            store.add(as_passages(["some text"]))
        assert store.count() == 0
