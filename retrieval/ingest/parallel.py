"""Reading beside embedding: in a process where there is much to read, in place where there is little."""

import os
import pickle
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from queue import Full, Queue
from threading import Event, Thread
from typing import Final

from cragraph.retrieval.ingest.options import SplitOptions
from cragraph.retrieval.ingest.reading import READY, Failed, Message, read

_MODULE: Final = "cragraph.retrieval.ingest.reader_process"

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
            [sys.executable, "-P", "-m", _MODULE, str(options.chunk_size), str(options.chunk_overlap)],
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
