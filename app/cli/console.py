"""Where output goes: data on stdout, status and complaints on stderr, colours only on a terminal."""

import json
import re
import sys
from collections.abc import Callable
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from cragraph.errors import plain

FAILURE: Final = 1
USAGE: Final = 2
ABSTAINED: Final = 3
INTERRUPTED: Final = 130

_HIDDEN: Final = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class PlainConsole(Console):
    """Prints text as it is: no mark-up in it is read, and nothing in it is obeyed by the terminal."""

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
    without = plain(text)
    if without == text and not _HIDDEN.search(text):
        return text
    return "".join(c if c in "\n\t" or (c >= " " and not _HIDDEN.match(c)) else "\ufffd" for c in text)


def out() -> Console:
    """A console on stdout; plain text, unwrapped, where stdout is no terminal."""
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
    sys.stdout.write(_HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")


def show(as_json: bool, data: Any, *forms: Callable[[Any], Any]) -> None:
    """Print data as JSON, else in its forms for a person."""
    if as_json:
        emit(data)
        return
    for form in forms:
        out().print(form(data))


def complain(message: str) -> None:
    """Write one error to stderr."""
    err().print(Text.assemble(("error: ", "bold red"), plain(message)))


def status(message: str) -> None:
    """Write one line of status to stderr."""
    err().print(Text(plain(message), style="dim"))
