"""Keeping a store right: both sides in step, interrupted writes settled, other processes' writes read in."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import RLock
from time import monotonic
from typing import Final

from cragraph.errors import StoreError, StoreLockedError
from cragraph.retrieval.store.index import Index
from cragraph.retrieval.store.ledger import Ledger
from cragraph.retrieval.store.locks import Writing
from cragraph.retrieval.store.stepping import in_step, step
from cragraph.retrieval.store.vectors import Vectors

Guard = Callable[[], AbstractContextManager[None]]
_BUSY_SECONDS: Final = 10.0
_SERVER_SECONDS: Final = 5.0
_QUICK: Final = 20_000
"""Passages up to which a reader mends the vector index itself instead of working around it."""

BEHIND: Final = (
    "The lexical index is behind the vectors and the store cannot be written to mend it, so word matches may miss "
    "recent passages; run cragraph ingest again where the store can be written."
)
ALONE: Final = "Words are searched as they were when the server last answered: {reason}."
DAMAGED: Final = (
    "The vector index was damaged when a writer was killed; every vector is compared instead, exact but slower. "
    "Run cragraph ingest again to rebuild it."
)


class Keeper:
    """Watches over the two sides of one store.

    `damaged` says whether Chroma's vector index on disk can no longer be read; `mend` makes it anew from the vectors
    kept beside it. Both are None where there is no folder to be damaged. `guard` is held while Chroma's files change or
    are read in: whoever holds it and finds a write under way knows that its writer died.
    """

    def __init__(
        self,
        vectors: Vectors,
        index: Index,
        ledger: Ledger,
        lock: Writing,
        guard: Guard,
        *,
        damaged: Callable[[], bool] | None = None,
        mend: Callable[[], None] | None = None,
        remote: bool = False,
    ) -> None:
        self._vectors, self._index, self._ledger = vectors, index, ledger
        self._lock, self._guard = lock, guard
        self._damaged, self._mend, self._remote = damaged, mend, remote
        self._threads = RLock()
        self._loaded = -1
        self._looked = 0.0
        self._notes: dict[str, None] = {}
        self.broken = False

    @property
    def notes(self) -> list[str]:
        """What is degraded, in plain sentences."""
        return list(self._notes)

    def note(self, sentence: str) -> None:
        """Record what is degraded."""
        self._notes[sentence] = None

    def opened(self) -> None:
        """On opening: mend what can be mended, say what cannot; a writer at work is left alone."""
        with self._guard():
            if self._damaged and not self._index.stamp("generation") and self._vectors.generation():
                self._unsure()
            if not self._index.stamp("writing") and in_step(self._vectors, self._index):
                return
        if self._lock.busy():
            return
        try:
            with self._lock():
                self.settle(patient=False)
        except StoreLockedError:
            return
        except StoreError:
            if self._index.stamp("generation") != self._vectors.generation():
                self.note(BEHIND)

    def settle(self, *, patient: bool = True) -> None:
        """With the lock held: finish or undo what a killed writer left, so that both sides agree.

        `patient` False leaves a large damaged vector index for the next writer.
        """
        if self._index.stamp("writing") and self._damaged and self._damaged():
            if not patient and self._index.count() > _QUICK:
                self._break()
                return
            if self._mend:
                with self._guard():
                    self._mend()
                self._loaded = -1
                self._heal()
        with self._guard():
            if not in_step(self._vectors, self._index):
                step(self._vectors, self._index, self._ledger, keep=self._damaged is not None)
            if self._index.stamp("writing"):
                self._index.set_stamp(writing=0)

    @contextmanager
    def writing(self, generation: int, dimension: int = 0) -> Iterator[None]:
        """Hold the guard around one write, with its number left in the index should we die within it."""
        with self._threads, self._guard():
            if self._damaged:
                if 0 <= self._loaded != self._index.stamp("generation"):
                    self._vectors.reopen()
                self._index.set_stamp(writing=generation)
            self._vectors.set_generation(generation, dimension)
            yield
            self._vectors.taken_in()
            self._loaded = generation

    def words_ready(self) -> None:
        """Before a lexical search: bring over what others wrote to a server."""
        if self._remote and monotonic() - self._looked > _SERVER_SECONDS:
            with self._threads:
                self._looked = monotonic()
                try:
                    if not in_step(self._vectors, self._index):
                        step(self._vectors, self._index, self._ledger, keep=self._damaged is not None)
                except StoreError as error:
                    self.note(ALONE.format(reason=str(error).split(";")[0]))
                else:
                    self._notes = {note: None for note in self._notes if not note.startswith(ALONE[:20])}

    def vectors_ready(self) -> bool:
        """Before a dense search: read in what others wrote; False where the vector index cannot be used."""
        self.words_ready()
        if self._damaged is None:
            return True
        with self._threads:
            generation = self._index.stamp("generation")
            if self.broken and self._index.stamp("writing"):
                return False
            if self._loaded == generation and not self.broken:
                return True
            # A writer at work changes the number many times a second; a reader need not follow each.
            if self._loaded >= 0 and monotonic() - self._looked < _BUSY_SECONDS and self._lock.busy():
                return True
            with self._guard():
                return self._read_in(generation)

    def _read_in(self, generation: int) -> bool:
        if self._index.stamp("writing") and self._damaged and self._damaged():
            self._break()
            return False
        if self._loaded >= 0 or self.broken:
            self._vectors.reopen()
        self._vectors.load()
        self._loaded, self._looked = generation, monotonic()
        self._heal()
        return True

    def _heal(self) -> None:
        self.broken = False
        self._notes.pop(DAMAGED, None)

    def _unsure(self) -> None:
        """The index is gone, and with it the mark of a write under way: look as if there had been one."""
        with suppress(StoreError):
            self._index.set_stamp(writing=1)

    def _break(self) -> None:
        self.broken = True
        self.note(DAMAGED)
