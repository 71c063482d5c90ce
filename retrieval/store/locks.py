"""One writer at a time on a local folder, and a lock that says who holds it."""

import json
import os
import platform
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Final, Protocol

from filelock import FileLock, Timeout

from cragraph.errors import StoreError, StoreLockedError

LOCK: Final = "write.lock"
OWNER: Final = "writer.json"
_SECONDS: Final = 1.0
"""How long to try: readers hold the lock for an instant to see whether somebody writes."""


class Writing(Protocol):
    """Whatever lets one writer in at a time."""

    def __call__(self) -> AbstractContextManager[None]:
        """Hold it; raises StoreLockedError where somebody else does."""
        ...

    def busy(self) -> bool:
        """Whether somebody else is writing at this moment."""
        ...


class FreeLock:
    """The lock of a store that needs none (in memory, or a server that orders writes itself): threads only."""

    def __init__(self) -> None:
        self._lock = RLock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold it; waits for other threads."""
        with self._lock:
            yield

    def busy(self) -> bool:
        """Never held by another process."""
        return False


class FolderLock:
    """The lock of a folder: the operating system frees it when its holder dies, however it died.

    The file beside it only says who holds it; it is not the lock, so one left behind by a dead process does no harm.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder / LOCK, timeout=_SECONDS, thread_local=False)
        self._threads = RLock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold it; waits for other threads of this store, not for other processes.

        Raises:
            StoreLockedError: where another process (or another store of this one) holds it.
            StoreError: where the folder cannot be written.
        """
        with self._threads:
            first = not self._lock.is_locked
            try:
                self._lock.acquire()
            except Timeout as error:
                raise StoreLockedError(self.message()) from error
            except OSError as error:
                raise StoreError(
                    f"{self._folder} cannot be written ({error.strerror or error}); wanted a folder with write "
                    "permission: change its permissions or choose another with --store."
                ) from error
            try:
                if first:
                    self._sign()
                yield
            finally:
                if first:
                    with suppress(OSError):
                        (self._folder / OWNER).unlink(missing_ok=True)
                self._lock.release()

    def busy(self) -> bool:
        """Whether somebody else is writing at this moment."""
        if self._lock.is_locked:
            return False
        probe = FileLock(self._folder / LOCK, timeout=0)
        try:
            probe.acquire()
        except Timeout:
            return True
        except OSError:
            return False
        probe.release()
        return False

    def message(self) -> str:
        """Who holds it, and what to do about it."""
        return (
            f"{self._folder} is being written by {self._holder()}; wanted to be its only writer: wait for it to "
            "finish, or serve the store to several writers with a Chroma server "
            "(`chroma run --path FOLDER --port 8000`, then `--store http://localhost:8000`)."
        )

    def _holder(self) -> str:
        try:
            owner = json.loads((self._folder / OWNER).read_text(encoding="utf-8"))
            return f"process {owner['pid']} on {owner['host']} since {owner['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def _sign(self) -> None:
        since = datetime.now(UTC).isoformat(timespec="seconds")
        owner = {"pid": os.getpid(), "host": platform.node(), "since": since}
        with suppress(OSError):  # only a courtesy: the lock itself is held
            (self._folder / OWNER).write_text(json.dumps(owner), encoding="utf-8")
