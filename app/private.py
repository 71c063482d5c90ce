"""Files for their owner alone: what was asked, answered and quoted of somebody's documents."""

import os
from pathlib import Path
from typing import IO, Any


def private(path: str | Path, mode: str = "w", **options: Any) -> IO[Any]:
    """Open a file to write, with 0600 where it is new; what is there keeps the permissions that its owner gave it."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, 0o600), **options)
