"""The hash of a file's bytes, read in pieces."""

from hashlib import sha256
from pathlib import Path
from typing import Final

_PIECE: Final = 1 << 20


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()
