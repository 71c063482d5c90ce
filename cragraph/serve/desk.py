"""The desk: runs a few questions at a time, each in a thread; the others wait in a queue that tells its length."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import closing, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request

from cragraph.protocols import Stop, stoppable

Events = Iterator[tuple[str, dict[str, Any]]]

PLACES: Final = 4  # runs at the same time
LINE: Final = 1_000  # waiting askers at most
CLIENT: Final = 256  # runs of one client at most, with waiting ones; behind a proxy all are one client
LOOK_S: Final = 0.5  # seconds between checks whether an asker is still there


@dataclass
class Desk:
    """Runs at most `places` questions at once; if an asker leaves, the run ends with its model calls."""

    places: int = PLACES
    line: int = LINE
    client: int = CLIENT
    open: Counter[str] = field(default_factory=Counter)
    _loop: asyncio.AbstractEventLoop | None = None
    _free: asyncio.Semaphore = field(default_factory=asyncio.Semaphore)

    def events(self, request: Request, run: Callable[[], Events]) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """The events of a run, after `waiting` if it must queue. Raises HTTPException if the queue is full."""
        who = request.client.host if request.client else ""
        if self.open[who] >= self.client or self.open.total() >= self.places + self.line:
            why = f"{self.open.total()} runs are open, {self.open[who]} of them yours: try again when some have ended."
            raise HTTPException(429, why, headers={"retry-after": "5"})
        return self._events(request, who, run)

    async def _events(
        self, request: Request, who: str, run: Callable[[], Events]
    ) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        if self._loop is not (loop := asyncio.get_running_loop()):
            self._loop, self._free = loop, asyncio.Semaphore(self.places)
        self.open[who] += 1
        queue, stop, begun = asyncio.Queue[Any](), Stop(), False
        try:
            if self._free.locked():
                yield "waiting", {"before": self.open.total() - self.places - 1}
            place = asyncio.ensure_future(self._free.acquire())
            try:
                while not (await asyncio.wait([place], timeout=LOOK_S))[0]:
                    if await request.is_disconnected():
                        return
                begun = place.result()
            finally:
                if not begun and not place.cancel() and place.done():
                    self._free.release()
            self._start(run, queue, stop)
            while True:
                try:
                    came = await asyncio.wait_for(queue.get(), LOOK_S)
                except TimeoutError:
                    if await request.is_disconnected():
                        return
                    continue
                if came is None:
                    return
                if isinstance(came, BaseException):
                    raise came
                yield came
        finally:
            stop()
            self.open -= Counter([who])

    def _start(self, run: Callable[[], Events], queue: asyncio.Queue[Any], stop: Stop) -> None:
        loop, free = asyncio.get_running_loop(), self._free

        def tell(what: Callable[..., Any], *given: Any) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(what, *given)

        def work() -> None:
            end: BaseException | None = None
            try:
                with stoppable(stop), closing(run()) as steps:  # type: ignore[type-var]
                    for step in steps:
                        if stop.stopped:
                            break
                        tell(queue.put_nowait, step)
            except BaseException as error:
                end = error
            tell(queue.put_nowait, end)
            tell(free.release)  # the place is free when the thread has ended, not when the asker leaves

        Thread(target=copy_context().run, args=(work,), daemon=True, name="cragraph-run").start()

    async def last(self, request: Request, run: Callable[[], Events]) -> dict[str, Any]:
        """The data of a run's last event."""
        data: dict[str, Any] | None = None
        async for _, told in self.events(request, run):
            data = told
        if data is None:
            raise HTTPException(499, "The caller left.")
        return data

    async def done(self, request: Request, call: Callable[[], Any]) -> Any:
        """The result of a call that takes a place."""
        return (await self.last(request, lambda: (("done", {"value": work()}) for work in (call,))))["value"]
