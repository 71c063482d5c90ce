"""The cases of the tests, kept beside them: for `tests/FOLDER/test_NAME.py` in `tests/FOLDER/NAME.json`."""

import json
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent.parent


def cases(name: str, test: str) -> list[Any]:
    """The cases of one test: a value each, or a list of values where the test has several parameters."""
    found: list[Any] = json.loads((TESTS / f"{name}.json").read_text(encoding="utf-8"))[test]
    return found
