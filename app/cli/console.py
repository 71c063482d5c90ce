"""Where output goes: data on stdout, status and complaints on stderr, colours only on a terminal."""

import json
import sys
from typing import Any, Final

from rich.console import Console

ANSWERED: Final = 0
FAILURE: Final = 1
USAGE: Final = 2
ABSTAINED: Final = 3


def out() -> Console:
    """A console on stdout; plain text, unwrapped, where stdout is no terminal."""
    return _console(sys.stdout)


def err() -> Console:
    """A console on stderr."""
    return _console(sys.stderr)


def _console(stream: Any) -> Console:
    if stream.isatty():
        return Console(file=stream, highlight=False, soft_wrap=False)
    return Console(file=stream, highlight=False, no_color=True, width=10_000, soft_wrap=True)


def emit(data: Any) -> None:
    """Write one JSON document to stdout, as is: never wrapped or coloured."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2) + "\n")


def complain(message: str) -> None:
    """Write one error to stderr."""
    err().print(f"[bold red]error:[/] {escape(message)}")


def status(message: str) -> None:
    """Write one line of status to stderr."""
    err().print(f"[dim]{escape(message)}[/]")


def escape(text: str) -> str:
    """Text that rich prints literally: square brackets are citation markers here, not mark-up."""
    return text.replace("[", r"\[")
