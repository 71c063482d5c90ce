"""How documents are split, and the name that a change of it goes by."""

from dataclasses import dataclass
from typing import Final

from cragraph.errors import InputError
from cragraph.retrieval.documents import CHUNK_OVERLAP, CHUNK_SIZE

_SPLITTER: Final = 1
"""To be raised when loading or splitting changes so much that files should be read again."""


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """Characters a chunk has at most, and characters at most that it repeats of the one before it."""

    chunk_size: int = CHUNK_SIZE
    chunk_overlap: int = CHUNK_OVERLAP

    def __post_init__(self) -> None:
        if self.chunk_size < 1 or not 0 <= self.chunk_overlap < self.chunk_size:
            raise InputError(
                f"chunk_size {self.chunk_size} and chunk_overlap {self.chunk_overlap} do not go together; wanted a "
                "size of at least 1 and an overlap from 0 to below the size."
            )

    @property
    def name(self) -> str:
        """The same for the same way of splitting; a file whose name differs from this is split again."""
        return f"{_SPLITTER}/{self.chunk_size}/{self.chunk_overlap}"
