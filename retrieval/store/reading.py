"""Reading files: in a process of its own where there is much to read, as a stream of small messages."""

import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from queue import Full, Queue
from threading import Event, Thread
from typing import Any, BinaryIO, Final

from cragraph.errors import CragError, InputError
from cragraph.retrieval.documents import CHUNK_OVERLAP, CHUNK_SIZE, load, split
from cragraph.types import Passage

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


_READ: Final = 1 << 20


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(_READ):
            digest.update(piece)
    return digest.hexdigest()


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


_SERVE: Final = "import sys; from cragraph.retrieval.store.reading import main; main(*sys.argv[1:3])"

WORTH_A_PROCESS: Final = 2_000_000
"""Bytes to read above which starting a process (about half a second) pays."""

_AHEAD: Final = 8
"""Messages that may wait to be embedded; with `reading.PIECE` this bounds the memory."""


def messages(sources: Sequence[str], size: int, options: SplitOptions) -> Generator[Message, None, None]:
    """The files' messages in order; `size` are the bytes in all of them."""
    rest = list(sources)
    while rest and size >= WORTH_A_PROCESS:
        reader = ReaderProcess(rest, options)
        yield from reader
        if not reader.started:
            break
        rest = rest[reader.done :]
        if rest:
            # A file can take its reader down (memory, a bug in a parser's native code): say so, go on after it.
            yield Failed(rest[0], f"reading it ended the reader ({reader.ending}); leave it out or convert it")
            rest = rest[1:]
    yield from read(rest, options)


class ReaderProcess:
    """The messages of files read by a process of its own, some of them ahead.

    Afterwards `done` says how many files were finished, `started` whether the process ever ran.
    """

    def __init__(self, sources: Sequence[str], options: SplitOptions) -> None:
        self._sources = sources
        self._stop = Event()
        self._queue: Queue[Message | None] = Queue(_AHEAD)
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "cragraph.retrieval.store.reading",
                str(options.chunk_size),
                str(options.chunk_overlap),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.done = 0
        self.started = False
        self.ending = ""

    def __iter__(self) -> Iterator[Message]:
        threads = [Thread(target=target, daemon=True) for target in (self._feed, self._receive)]
        for thread in threads:
            thread.start()
        try:
            while (message := self._queue.get()) is not None:
                self.done += isinstance(message, Failed) or message.last
                yield message
            code = self._process.wait()
            self.ending = f"signal {-code}" if code < 0 else f"exit status {code}"
        finally:
            self._stop.set()
            self._process.kill()
            self._process.wait()
            for thread in threads:
                thread.join()
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):
                    pipe.close()  # type: ignore[union-attr]

    def _feed(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with suppress(OSError):  # the reader died; `_receive` notices
            for source in self._sources:
                name = os.fsencode(source)
                pipe.write(b"%d\n" % len(name) + name)
            pipe.close()

    def _receive(self) -> None:
        pipe = self._process.stdout
        assert pipe is not None
        try:
            self.started = pickle.load(pipe) == READY
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


def main(chunk_size: str, chunk_overlap: str) -> None:
    """Read the files named on stdin and write their messages to stdout."""
    messages, sys.stdout = sys.stdout.buffer, sys.stderr  # what a library prints must not get among the messages
    pickle.dump(READY, messages)
    messages.flush()
    for message in read(_names(sys.stdin.buffer), SplitOptions(int(chunk_size), int(chunk_overlap))):
        pickle.dump(message, messages, protocol=pickle.HIGHEST_PROTOCOL)
        messages.flush()


def _names(stream: BinaryIO) -> Iterator[str]:
    while length := stream.readline():
        yield os.fsdecode(stream.read(int(length)))
