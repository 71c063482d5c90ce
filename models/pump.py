"""Waiting for a slow stream without being at its mercy: places, time limits and a way to stop."""

from collections.abc import Callable, Iterator
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Condition, Event, Thread
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Item = TypeVar("Item")


class StoppedError(Exception):
    """The caller's gate was closed while it waited."""


class StalledError(Exception):
    """Nothing came within the time that was given."""


class _End:
    """The stream is over: with `error`, or well."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


class Pump(Generic[Item]):
    """Runs an iterator in a thread of its own, so that its reader can give up on it at any moment.

    A model client blocks in a socket read; a reader that waits on a queue instead can time out, meet a
    deadline and be interrupted. The context variables of the caller are copied, so LangGraph's callbacks see
    the tokens.
    """

    def __init__(self, make: Callable[[], Iterator[Item]]) -> None:
        self._queue: SimpleQueue[Item | _End] = SimpleQueue()
        self._abandoned = Event()
        context = copy_context()
        Thread(target=context.run, args=(self._run, make), daemon=True, name="cragraph-chat").start()

    def read(self, seconds: Callable[[], float | None]) -> Iterator[Item]:
        """Yield items as they come; raise `StalledError` when the next one takes longer than `seconds()`."""
        try:
            while True:
                try:
                    item = self._queue.get(timeout=seconds())
                except Empty:
                    raise StalledError from None
                if not isinstance(item, _End):
                    yield item
                elif item.error is None:
                    return
                else:
                    raise item.error
        finally:
            self._abandoned.set()

    def stop(self) -> None:
        """Wake the reader with `StoppedError`; the thread ends at the next item."""
        self._abandoned.set()
        self._queue.put(_End(StoppedError()))

    def _run(self, make: Callable[[], Iterator[Item]]) -> None:
        try:
            stream = make()
            for item in stream:
                if self._abandoned.is_set():
                    break
                self._queue.put(item)
            close = getattr(stream, "close", None)
            if close is not None:
                close()  # hangs up, so that the server stops writing for nobody
        except BaseException as error:  # handed to the reader, who raises it in the caller's thread
            self._queue.put(_End(error))
        else:
            self._queue.put(_End())


class Gate:
    """Lets at most `places` calls through at once, and can be closed to make every one of them give up."""

    def __init__(self, places: int) -> None:
        self.places = places
        self._free = places
        self._closed = False
        self._changed = Condition()
        self._pumps: WeakSet[Pump[Any]] = WeakSet()
        _GATES.add(self)

    def enter(self, seconds: float | None) -> None:
        """Take a place, waiting at most `seconds`."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._closed or self._free > 0, timeout=seconds):
                raise StalledError
            if self._closed:
                raise StoppedError
            self._free -= 1

    def leave(self) -> None:
        """Give the place back."""
        with self._changed:
            self._free += 1
            self._changed.notify()

    def watch(self, pump: Pump[Any]) -> None:
        """Stop this pump too when the gate closes."""
        with self._changed:
            self._pumps.add(pump)
            if self._closed:
                pump.stop()

    def close(self) -> None:
        """Make every waiting and running call raise `StoppedError`."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for pump in self._pumps:
                pump.stop()

    def open(self) -> None:
        """Let calls through again."""
        with self._changed:
            self._closed = False


_GATES: WeakSet[Gate] = WeakSet()


def stop_all_calls() -> None:
    """Make every model call of this process give up at once: what a shell does on Ctrl-C."""
    for gate in list(_GATES):
        gate.close()
