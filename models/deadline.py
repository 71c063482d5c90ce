"""The deadline of a run: when its model calls are given up."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

_AT: ContextVar[float | None] = ContextVar("cragraph_deadline", default=None)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Give up on model calls inside the block after `seconds`; an earlier deadline around it stays in force."""
    outer = _AT.get()
    at = None if seconds is None else monotonic() + seconds
    token = _AT.set(outer if at is None else at if outer is None else min(at, outer))
    try:
        yield
    finally:
        _AT.reset(token)


def remaining() -> float | None:
    """Seconds until the deadline, at least 0; None where there is no deadline."""
    at = _AT.get()
    return None if at is None else max(0.0, at - monotonic())
