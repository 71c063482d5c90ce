"""What stays here: files for their owner alone, and libraries that report nothing to their makers."""

import os
from pathlib import Path
from typing import IO, Any

from cragraph.errors import InputError


def untold() -> None:
    """Switch off the telemetry that only a variable stops, before a library is loaded that would send it.

    A value that is set already stays.
    """
    for variable in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ.setdefault(variable, "1")


def private(path: str | Path, mode: str = "w", **options: Any) -> IO[Any]:
    """Open a file to write, with 0600 where it is new; what is there keeps the permissions that its owner gave it."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600), **options)


def output(path: str | Path, mode: str = "w", **options: Any) -> IO[Any]:
    """`private` for a file that a person named; raises InputError where it cannot be written."""
    try:
        return private(path, mode, **options)
    except OSError as error:
        raise InputError(_REFUSED.format(path=path, why=error.strerror or error)) from error


def check_output(*paths: Path | None) -> None:
    """Raises InputError for a path that no file can be written to, before anything is done whose result goes there."""
    for path in filter(None, paths):
        if path.is_dir():
            raise InputError(_REFUSED.format(path=path, why="it is a folder"))
        if not path.parent.is_dir():
            raise InputError(_REFUSED.format(path=path, why=f"there is no folder {path.parent}"))


_REFUSED = "{path} cannot be written ({why}); wanted the name of a file in a folder that is there: give another."
