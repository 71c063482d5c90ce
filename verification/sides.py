"""Work that runs beside the judging: calls that wait for a model's server."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Sides:
    """A few threads for slow checks, started with the first of them and gone at the end of the block.

    Quick checks are not worth a thread: a signal takes less time than starting one.
    """

    def __init__(self, most: int = 2) -> None:
        self._most = most
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            # When the block failed nobody will ask for the results, and a stalled server must not hold the answer.
            self._pool.shutdown(wait=kind is None, cancel_futures=True)

    def start(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Callable[[], T]:
        """Start a call in the caller's context; the returned function waits for its result or raises its error."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._most, "cragraph-check")
        context = copy_context()
        return self._pool.submit(lambda: context.run(function, *args, **kwargs)).result
