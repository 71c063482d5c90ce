"""Output: data on stdout, status and errors on stderr, colours only on a terminal."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from cragraph.errors import printable
from cragraph.types import number_of

FAILURE: Final = 1
USAGE: Final = 2
ABSTAINED: Final = 3
DOUBTFUL: Final = 5
CHANGED: Final = 6
"""Exit codes; 4 belongs to `verify --fail-under`."""
INTERRUPTED: Final = 130

_HIDDEN: Final = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class PlainConsole(Console):
    """Prints text as it is, without markup and without control sequences."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print strings and texts with control characters shown as `\N{REPLACEMENT CHARACTER}`."""
        super().print(*map(_harmless, objects), **options)


def _harmless(item: Any) -> Any:
    if isinstance(item, str):
        return Text(_shown(item))
    if isinstance(item, Text):
        copy = item.copy()
        copy.plain = _shown(item.plain)
        return copy
    if isinstance(item, Padding):
        return Padding(_harmless(item.renderable), (item.top, item.right, item.bottom, item.left))
    return item


def _shown(text: str) -> str:
    """The text with every control character replaced by one visible one, so that offsets into it stay true."""
    without = printable(text)
    if without == text and not _HIDDEN.search(text):
        return text
    return "".join(c if c in "\n\t" or (c >= " " and not _HIDDEN.match(c)) else "\ufffd" for c in text)


def out() -> Console:
    """A console on stdout; plain unwrapped text if stdout is no terminal."""
    return _console(sys.stdout)


def err() -> Console:
    """A console on stderr."""
    return _console(sys.stderr)


def _console(stream: Any) -> Console:
    if stream.isatty():
        return PlainConsole(file=stream, highlight=False, soft_wrap=False)
    return PlainConsole(file=stream, highlight=False, no_color=True, width=10_000, soft_wrap=True)


def emit(data: Any) -> None:
    """Write one JSON document to stdout, as is: never wrapped or coloured."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    sys.stdout.write(_HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n")


def show(as_json: bool, data: Any, *forms: Callable[[Any], Any]) -> None:
    """Print data as JSON, else in its forms for a person."""
    if as_json:
        emit(data)
        return
    for shown in filter(None, (form(data) for form in forms)):
        out().print(shown)


def complain(message: str) -> None:
    """Write one error to stderr."""
    err().print(Text.assemble(("error: ", "bold red"), printable(message)))


def status(message: str) -> None:
    """Write one line of status to stderr."""
    err().print(Text(printable(message), style="dim"))


def with_notes_printed(store: Any) -> Any:
    """The store, with its degradations printed on stderr."""
    for note in store.notes:
        status(note)
    return store


# -- progress on a terminal's stderr, and lines of it elsewhere -----------------------------------------------------

EVERY: Final = 3.0  # seconds between two lines of progress without a bar


@contextmanager
def progress_bar(what: str, *, shown: bool) -> Iterator[Callable[..., None] | None]:
    """A callback ``(done, total, label="", rate="")`` that moves a bar; None without a terminal."""
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
def ingesting(*, shown: bool) -> Iterator[Callable[[Any], None]]:
    """A callback for the progress events of ingest: a bar on a terminal, a line every few seconds elsewhere."""
    ended, began, progress = Event(), monotonic(), ""

    def tell() -> None:
        while not ended.wait(EVERY):
            status(f"reading for {monotonic() - began:.0f} s{progress}")

    with progress_bar("reading", shown=shown) as bar:

        def advance(event: Any) -> None:
            nonlocal progress
            progress = f": {event.done} of {number_of(event.total, 'file')}, {number_of(event.chunks, 'chunk')} stored"
            if bar is not None:
                bar(event.done, event.total, event.source[-40:], f"{event.rate:.0f} chunks/s" if event.rate else "")

        thread = Thread(target=tell, daemon=True)
        if shown and bar is None:
            thread.start()
        try:
            yield advance
        finally:
            ended.set()
            if thread.is_alive():
                thread.join()
