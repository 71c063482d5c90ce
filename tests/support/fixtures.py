"""Fixtures that several modules make for themselves."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.ollama import OllamaServer


def served(*arguments: Any, **options: Any) -> Any:
    """A fixture of a module, to be named `server`: each test has a server of its own."""

    @pytest.fixture
    def server() -> Iterator[OllamaServer]:
        with OllamaServer(*arguments, **options) as running:
            yield running

    return server
