"""Vectors that are kept between the runs of a benchmark."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cragraph.passages import content_id
from cragraph.protocols import Embeddings

BATCH = 64


class RememberedEmbeddings(Embeddings):
    """An embedding model whose vectors are kept in memory and, with a folder, in one file per model.

    Not for sharing between threads that write.
    """

    def __init__(self, embeddings: Embeddings, folder: Path | None = None) -> None:
        self._embeddings = embeddings
        self.name = str(getattr(embeddings, "name", type(embeddings).__name__))
        self._file = folder / f"{content_id(self.name)}.npz" if folder else None
        self._known: dict[str, list[float]] = {}
        if self._file and self._file.is_file():
            with np.load(self._file) as kept:
                self._known = dict(zip(kept["ids"].tolist(), kept["vectors"].tolist(), strict=True))

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query."""
        key = content_id(text)
        if key not in self._known:
            self._known[key] = list(self._embeddings.embed_query(text))
        return self._known[key]

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors of texts, embedding those that are new."""
        keys = [content_id(text) for text in texts]
        missing = list({key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}.items())
        for start in range(0, len(missing), BATCH):
            batch = missing[start : start + BATCH]
            vectors = self._embeddings.embed_documents([text for _, text in batch])
            self._known.update((key, list(vector)) for (key, _), vector in zip(batch, vectors, strict=True))
        return [self._known[key] for key in keys]

    def save(self) -> None:
        """Write the vectors down, where there is a folder for them."""
        if self._file and self._known:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            vectors = np.asarray(list(self._known.values()), dtype=np.float32)
            np.savez(self._file, ids=np.array(list(self._known)), vectors=vectors)
