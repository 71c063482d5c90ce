"""The command line, run in this process: exit code, stdout, stderr."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cragraph.cli import main

SEA = """# The sea

The sea is salt because rivers carry minerals into it. Most lakes are fresh water.

## Depth

The Mariana Trench is 10,935 metres deep. It was first sounded in 1875 by HMS Challenger.
"""
TEA = """# Tea

Green tea is not oxidised. Black tea is oxidised fully, and oolong tea in part.
Tea came to Europe in 1610 on Dutch ships.
"""


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Shell = Callable[..., Ran]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs `cragraph` with arguments in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr(sys, "argv", ["cragraph", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as done:
            code = int(done.code or 0)
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of two documents."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "sea.md").write_text(SEA)
    (folder / "tea.md").write_text(TEA)
    return folder
