"""Files dropped on the page: each under its own name in a folder named by the hash of its content.

So two files of one name stand side by side, and an equal file is kept once.
"""

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import file_digest
from os import getpid, kill
from pathlib import Path
from secrets import token_hex
from shutil import copyfileobj
from threading import Lock
from typing import Any, BinaryIO, Final

from cragraph.documents import shown_name
from cragraph.errors import InputError, StoreError
from cragraph.private import private

LONGEST_NAME: Final = 255  # bytes, as file systems have it
_PART: Final = ".part"  # suffix of a file that is still being written
_PENDING: Final = ".pending"  # suffix of the mark of a file that was not read yet


@dataclass(frozen=True)
class Dropped:
    """The folder; files and folders in it are for their owner alone."""

    folder: Path
    lock: Any = field(default_factory=Lock)

    def keep(
        self, filename: str | None, content: BinaryIO, held: Callable[[], Collection[str]] = tuple
    ) -> tuple[Path, bool]:
        """Keep a file without replacing another; returns its path, and whether it is new.

        A new file is pending until `settle`. Files that a killed server left pending, or half written, are deleted
        first, unless they are among the `held` sources.

        Raises InputError for an invalid name, StoreError if the folder cannot be written.
        """
        name = checked_name(filename)
        path = self.folder / _digest(content) / name
        content.seek(0)
        part = self.folder / f".{getpid()}-{token_hex(8)}{_PART}"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.sweep(held)
            with private(part, "xb") as kept:
                copyfileobj(content, kept)
            with self.lock:
                new = not path.is_file()
                path.parent.mkdir(mode=0o700, exist_ok=True)
                if new:
                    with private(self._pending(path), encoding="utf-8") as note:
                        note.write(name)
                part.replace(path)
            return path, new
        except OSError as error:
            raise StoreError(
                f"{name} cannot be kept in {self.folder} ({error.strerror or error}); wanted a folder with space and "
                "write permission: choose another with --files."
            ) from error
        finally:
            with suppress(OSError):
                part.unlink()

    def discard(self, path: Path) -> None:
        """Delete a file that was kept here, with its folder if empty; any other file is left alone."""
        with self.lock, suppress(OSError):
            if path.parent.parent == self.folder and path.is_file() and not path.is_symlink():
                with path.open("rb") as file:
                    ours = _digest(file) == path.parent.name
                if ours:
                    path.unlink()
                    path.parent.rmdir()

    def settle(self, path: Path) -> None:
        """Mark a file as no longer pending: it was read, or cannot be read."""
        self._pending(path).unlink(missing_ok=True)

    def sweep(self, held: Callable[[], Collection[str]] = tuple) -> None:
        """Delete files of servers that were killed while writing or before reading them."""
        for left in self.folder.glob(".*-*.*"):
            number, _, name = left.name[1:].partition("-")
            if number.isdecimal() and not _alive(int(number)):
                with suppress(OSError, ValueError):
                    path = self.folder / name.removesuffix(_PENDING) / left.read_text(encoding="utf-8")
                    if left.name.endswith(_PENDING) and str(path) not in held():
                        self.discard(path)
                with suppress(OSError):
                    left.unlink()

    def _pending(self, path: Path) -> Path:
        return self.folder / f".{getpid()}-{path.parent.name}{_PENDING}"


def checked_name(filename: str | None) -> str:
    """A file's name without folders. Raises InputError for an invalid name."""
    name = Path((filename or "").replace("\\", "/")).name
    if not name or name.startswith(".") or shown_name(name) != name or len(name.encode()) > LONGEST_NAME:
        raise InputError(
            f"The file came as {filename!r:.80}; wanted a name of at most {LONGEST_NAME} bytes, without a dot before "
            "it and without control characters, such as report.pdf: rename it."
        )
    return name


def _alive(number: int) -> bool:
    """Whether a process with this number is running."""
    try:
        kill(number, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _digest(content: Any) -> str:
    return file_digest(content, "sha256").hexdigest()[:16]
