"""One writer at a time on a local folder, and a lock that says who holds it."""

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Final

from filelock import FileLock, Timeout

from cragraph.errors import StoreError, StoreLockedError

_SECONDS: Final = 1.0
"""How long to try: readers hold the lock for an instant to see whether somebody writes."""


class WriteLock:
    """The lock of a folder: the operating system frees it when its holder dies, however it died.

    `folder` None is a store that only threads share: in memory, or on a server, which orders writes itself. The file
    beside the lock only says who holds it; one left behind by a dead process does no harm.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder, self._threads = folder, RLock()
        self._lock = folder and FileLock(folder / "write.lock", timeout=_SECONDS, thread_local=False, mode=0o600)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold it; waits for other threads of this store, not for other processes.

        Raises:
            StoreLockedError: where another process (or another store of this one) holds it.
            StoreError: where the folder cannot be written.
        """
        with self._threads:
            if not self._lock or not self._folder or self._lock.is_locked:
                yield
                return
            owner = self._folder / "writer.json"
            try:
                self._lock.acquire()
            except Timeout as error:
                said = "another process"
                with suppress(OSError, ValueError, KeyError, TypeError):
                    said = "process {pid} on {host} since {since}".format(**json.loads(owner.read_text("utf-8")))
                raise StoreLockedError(
                    f"{self._folder} is being written by {said}; wanted to be its only writer: wait for it to finish, "
                    "or serve the store to several writers with a Chroma server "
                    "(`chroma run --path FOLDER --port 8000`, then `--store http://localhost:8000`)."
                ) from error
            except OSError as error:
                raise StoreError(
                    f"{self._folder} cannot be written ({error.strerror or error}); wanted a folder with write "
                    "permission: change its permissions or choose another with --store."
                ) from error
            try:
                with suppress(OSError):  # only a courtesy: the lock itself is held
                    owner.touch(mode=0o600)
                    since = datetime.now(UTC).isoformat(timespec="seconds")
                    owner.write_text(json.dumps({"pid": os.getpid(), "host": platform.node(), "since": since}))
                yield
            finally:
                with suppress(OSError):
                    owner.unlink(missing_ok=True)
                self._lock.release()

    def busy(self) -> bool:
        """Whether somebody else is writing at this moment."""
        if not self._lock or self._lock.is_locked:
            return False
        try:
            with FileLock(self._lock.lock_file, timeout=0, mode=0o600):
                return False
        except OSError as error:
            return isinstance(error, Timeout)
