"""Files read and split, one after another, as a stream of small messages that can cross to another process."""

import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cragraph.errors import CragError
from cragraph.retrieval.documents import load, split
from cragraph.retrieval.ingest.hashing import sha256_of
from cragraph.retrieval.ingest.options import SplitOptions
from cragraph.types import Passage

READY: Final = "ready"
"""The first message of a reader process: it has started."""

PIECE: Final = 128
"""Passages a message at most, which bounds what is held of a file that is larger than memory."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some passages of a file; `last` with the total when there are no more of them.

    `vectors` are a row a passage where whoever read the file has embedded it too.
    """

    source: str
    sha256: str
    passages: list[Passage]
    last: bool
    total: int = -1
    vectors: Any = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A file that could not be read, or not to its end."""

    source: str
    reason: str


Message = Piece | Failed


def read(sources: Iterable[str], options: SplitOptions) -> Iterator[Message]:
    """Every file as one or more pieces, the last marked as such, or as a failure at the point where it failed."""
    for source in sources:
        try:
            yield from _pieces(source, options)
        except CragError as error:
            yield Failed(source, str(error))
        except OSError as error:
            yield Failed(source, error.strerror or str(error))
        except MemoryError:
            yield Failed(source, "it needs more memory than there is")
        except Exception as error:  # a loader's library may raise anything at a broken file; the others still go in
            place = traceback.extract_tb(error.__traceback__)[-1]
            yield Failed(source, f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})")


def _pieces(source: str, options: SplitOptions) -> Iterator[Piece]:
    path = Path(source)
    sha256 = sha256_of(path)
    held: list[Passage] = []
    seen: set[str] = set()
    for document in load(path, source=source):
        for passage in split(document, chunk_size=options.chunk_size, chunk_overlap=options.chunk_overlap):
            if passage["chunk_id"] in seen:
                continue
            seen.add(passage["chunk_id"])
            held.append(passage)
            if len(held) > PIECE:
                yield Piece(source, sha256, held[:PIECE], last=False)
                held = held[PIECE:]
    yield Piece(source, sha256, held, last=True, total=len(seen))
