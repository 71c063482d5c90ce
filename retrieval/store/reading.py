"""Reading files: in a process of its own with limits of time and memory, as a stream of small messages.

The process reads ahead while this one embeds and writes. A file that takes it down, or goes over a limit, is reported
as failed, and another process goes on with the next.
"""

import pickle
import signal
import subprocess
import sys
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, BinaryIO, Final

from cragraph.errors import CragError, InputError
from cragraph.retrieval.documents import CHUNK_OVERLAP, CHUNK_SIZE, Limits, load, split
from cragraph.types import Passage

_SPLITTER: Final = 2
"""To be raised when loading or splitting changes so much that files should be read again."""

PIECE: Final = 128
"""Passages a message at most, which bounds what is held of a file that is larger than memory."""

_AHEAD: Final = 8
"""Messages that may wait to be embedded; with `PIECE` this bounds the memory."""

_READ: Final = 1 << 20
_READY: Final = "ready"
_SERVE: Final = "import sys; from cragraph.retrieval.store.reading import serve; serve()"


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


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(_READ):
            digest.update(piece)
    return digest.hexdigest()


def read(sources: Iterable[str], options: SplitOptions, limits: Limits | None = None) -> Iterator[Message]:
    """Every file as one or more pieces, the last marked as such, or as a failure at the point where it failed."""
    for source in sources:
        try:
            yield from _pieces(source, options, limits or Limits())
        except CragError as error:
            yield Failed(source, str(error))
        except OSError as error:
            yield Failed(source, error.strerror or str(error))
        except MemoryError:
            yield Failed(source, "it needs more memory than a file may; split it, or raise the limit")


def _pieces(source: str, options: SplitOptions, limits: Limits) -> Iterator[Piece]:
    path = Path(source)
    digest = sha256_of(path)
    passages: list[Passage] = []
    seen: set[str] = set()
    for document in load(path, source=source, limits=limits):
        for passage in split(document, chunk_size=options.chunk_size, chunk_overlap=options.chunk_overlap):
            if passage["chunk_id"] in seen:
                continue
            seen.add(passage["chunk_id"])
            passages.append(passage)
            if len(passages) > PIECE:
                yield Piece(source, digest, passages[:PIECE], last=False)
                passages = passages[PIECE:]
    yield Piece(source, digest, passages, last=True, total=len(seen))


def messages(
    sources: Sequence[str], options: SplitOptions, limits: Limits | None = None
) -> Generator[Message, None, None]:
    """The files' messages in order, read by processes of their own; without `limits` by this one."""
    rest = list(sources)
    while rest and limits:
        reader = ReaderProcess(rest, options, limits)
        yield from reader
        if not reader.started:
            break
        rest = rest[reader.done :]
        if rest:
            yield Failed(rest[0], reader.ending)
            rest = rest[1:]
    yield from read(rest, options, limits)


class ReaderProcess:
    """The messages of files read by a process of its own, some of them ahead.

    Afterwards `done` says how many files were finished, `started` whether the process ever ran, `ending` why it ended.
    """

    def __init__(self, sources: Sequence[str], options: SplitOptions, limits: Limits) -> None:
        self._stop = Event()
        self._queue: Queue[Message | None] = Queue(_AHEAD)
        self._limits = limits
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._order = pickle.dumps((list(sources), options, astuple(limits)))
        self.done = 0
        self.started = False
        self.ending = ""

    def __iter__(self) -> Iterator[Message]:
        thread = Thread(target=self._receive, daemon=True)
        thread.start()
        try:
            while (message := self._queue.get()) is not None:
                self.done += isinstance(message, Failed) or message.last
                yield message
            self.ending = self._why(self._process.wait())
        finally:
            self._stop.set()
            self._process.kill()
            self._process.wait()
            thread.join()
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]

    def _why(self, code: int) -> str:
        if hasattr(signal, "SIGALRM") and code == -signal.SIGALRM:
            return f"reading it took more than {self._limits.seconds:g} seconds; split it, or raise the limit"
        reason = f"signal {-code}" if code < 0 else f"exit status {code}"
        return f"reading it ended the reader ({reason}); leave it out or convert it"

    def _receive(self) -> None:
        order, pipe = self._process.stdin, self._process.stdout
        assert order is not None
        assert pipe is not None
        try:
            order.write(self._order)
            order.close()
            self.started = pickle.load(pipe) == _READY
            while not self._stop.is_set():
                self._put(pickle.load(pipe))
        except (EOFError, pickle.UnpicklingError, OSError, ValueError):
            pass  # the end, expected or not: `done` tells which
        finally:
            self._put(None)

    def _put(self, message: Message | None) -> None:
        while not self._stop.is_set():
            with suppress(Full):
                self._queue.put(message, timeout=0.2)
                return


# -- in the process that reads ---------------------------------------------------------------------------------------


def serve() -> None:
    """Read the files that stdin names and write their messages to stdout."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr  # what a library prints must not get among the messages
    sources, options, limits = pickle.load(sys.stdin.buffer)
    limits = Limits(*limits)
    _limit_memory(limits.memory_mb)
    _send(out, _READY)
    for source in sources:
        left, file = limits.seconds, read([source], options, limits)
        while True:
            _alarm(left)
            message = next(file, None)
            left = _alarm(0.0)
            if message is None:
                break
            _send(out, message)


def _alarm(seconds: float) -> float:
    """End the process after so many seconds, even in native code; 0 stops that. Gives the seconds that were left."""
    if not hasattr(signal, "setitimer"):
        return seconds
    return signal.setitimer(signal.ITIMER_REAL, seconds)[0]


def _send(out: BinaryIO, message: Any) -> None:
    pickle.dump(message, out, protocol=pickle.HIGHEST_PROTOCOL)
    out.flush()


def _limit_memory(megabytes: int) -> None:
    """Bound what this process may allocate, where the system can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        most = megabytes * 1024 * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (most, resource.getrlimit(resource.RLIMIT_DATA)[1]))
