"""Privacy: files for their owner alone, and libraries without telemetry."""

import os
from pathlib import Path
from typing import IO, Any

from cragraph.errors import InputError


def disable_telemetry() -> None:
    """Switch off telemetry that only a variable stops, before the library that would send it is loaded.

    A variable that is already set stays.
    """
    for variable in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY"):
        os.environ.setdefault(variable, "1")


def private(path: str | Path, mode: str = "w", **options: Any) -> IO[Any]:
    """Open a file for writing; a new file gets mode 0600, an existing one keeps its permissions."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600), **options)


def output(path: str | Path, mode: str = "w", **options: Any) -> IO[Any]:
    """`private` for a file that the user named. Raises InputError if it cannot be written."""
    try:
        return private(path, mode, **options)
    except OSError as error:
        raise InputError(_REFUSED.format(path=path, why=error.strerror or error)) from error


def check_output(*paths: Path | None) -> None:
    """Raises InputError for a path that cannot be written, before the work whose result goes there."""
    for path in filter(None, paths):
        if path.is_dir():
            raise InputError(_REFUSED.format(path=path, why="it is a folder"))
        if not path.parent.is_dir():
            raise InputError(_REFUSED.format(path=path, why=f"there is no folder {path.parent}"))


_REFUSED = "{path} cannot be written ({why}); wanted the name of a file in a folder that is there: give another."
