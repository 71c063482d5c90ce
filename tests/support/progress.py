"""A count of the tests that were found, while the workers of pytest-xdist are still looking for them."""

import sys
import tempfile
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest


class Found:
    """In the first worker: a byte in a file for each test."""

    def __init__(self, path: str) -> None:
        self.file = Path(path).open("ab", buffering=0)  # noqa: SIM115 (as long as the worker)

    def pytest_itemcollected(self) -> None:
        self.file.write(b".")


class Progress:
    """Beside the workers: says every second how many tests the first of them has found."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkstemp(prefix="tests-found-")[1])
        self.ended = Event()
        Thread(target=self.tell, daemon=True).start()

    def tell(self) -> None:
        while True:
            line = f"{self.path.stat().st_size} tests found"
            sys.stderr.write(f"\r{line}" if sys.stderr.isatty() else f"{line}\n")
            sys.stderr.flush()
            if self.ended.wait(1):
                break
        sys.stderr.write("\n" if sys.stderr.isatty() else "")
        self.path.unlink()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        if node.gateway.id == "gw0":
            node.workerinput["found"] = str(self.path)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self) -> None:
        self.ended.set()

    def pytest_sessionfinish(self) -> None:
        self.ended.set()
