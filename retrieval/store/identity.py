"""Which embedding model made the vectors of a store, and whether it is the one at hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from cragraph.errors import StoreMismatchError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings


METRIC: Final = "cosine"
_MODEL, _DIMENSION, _METRIC = "cragraph:embedding", "cragraph:dimension", "cragraph:metric"
_KEYS: Final = (_MODEL, _DIMENSION, _METRIC)


@dataclass(frozen=True, slots=True)
class Identity:
    """An embedding model by name, its dimension (0 while unknown) and the metric its vectors are compared by."""

    model: str
    dimension: int = 0
    metric: str = METRIC

    @classmethod
    def of(cls, embeddings: "Embeddings") -> "Identity":
        """What the embeddings say of themselves: `name` (else `model`, else the class) and `dimension` where given."""
        own = getattr(embeddings, "name", None) or getattr(embeddings, "model", None)
        return cls(str(own or type(embeddings).__name__), int(getattr(embeddings, "dimension", 0) or 0))

    @classmethod
    def read(cls, metadata: Mapping[str, Any]) -> "Identity | None":
        """What a collection's metadata says; None where it says nothing."""
        if _MODEL not in metadata:
            return None
        return cls(str(metadata[_MODEL]), int(metadata.get(_DIMENSION, 0)), str(metadata.get(_METRIC, METRIC)))

    def metadata(self) -> dict[str, str | int]:
        """What to write into a collection's metadata."""
        return dict(zip(_KEYS, (self.model, self.dimension, self.metric), strict=True))

    def check(self, stored: "Identity", where: str) -> None:
        """Hold this model against the one that a store was built with.

        Raises:
            StoreMismatchError: says both, and the one-line fix.
        """
        dimensions = {self.dimension, stored.dimension} - {0}
        if self.model == stored.model and self.metric == stored.metric and len(dimensions) < 2:
            return
        raise StoreMismatchError(
            f"{where} holds vectors of {stored}; this run embeds with {self}. Use the model it was built with, or "
            "ingest again into a new store: cragraph ingest PATH --store NEW"
        )

    def __str__(self) -> str:
        size = f"{self.dimension} dimensions, " if self.dimension else ""
        return f"{self.model} ({size}{self.metric})"
