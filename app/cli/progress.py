"""Progress on a terminal's stderr, and nothing elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Event, Thread
from time import monotonic
from typing import Any, Final

from cragraph.cli.console import err, status

EVERY: Final = 3.0
"""Seconds between two lines of progress where no bar is seen."""


@contextmanager
def counting(what: str, *, shown: bool) -> Iterator[Callable[..., None] | None]:
    """A callback ``(done, total, label="", rate="")`` that moves a bar; None where it would not be seen."""
    console = err()
    if not shown or not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as progress:
        task = progress.add_task(what, total=None, rate="")

        def advance(done: int, total: int, label: str = "", rate: str = "") -> None:
            progress.update(task, completed=done, total=total, description=label or what, rate=rate)

        yield advance


@contextmanager
def ingesting(*, shown: bool) -> Iterator[Callable[[Any], None] | None]:
    """A callback for the progress events of ingest: a bar on a terminal, a line every few seconds elsewhere."""
    with counting("reading", shown=shown) as advance:
        if advance is None:
            with _ticking() if shown else nullcontext() as told:
                yield told
            return
        move = advance
        yield lambda event: move(
            event.done, event.total, event.source[-40:], f"{event.rate:.0f} chunks/s" if event.rate else ""
        )


@contextmanager
def _ticking() -> Iterator[Callable[[Any], None]]:
    ended, began, said = Event(), monotonic(), ""

    def advance(event: Any) -> None:
        nonlocal said
        said = f": {event.done} of {event.total} files, {event.chunks} chunks are in"

    def tell() -> None:
        while not ended.wait(EVERY):
            status(f"reading for {monotonic() - began:.0f} s{said}")

    thread = Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield advance
    finally:
        ended.set()
        thread.join()
