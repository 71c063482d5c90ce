"""The README's code runs and prints what the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8") if (ROOT / "README.md").exists() else ""
BLOCKS = re.findall(r"```python\n(.*?)```\s*```text\n(.*?)```", README, re.DOTALL)


def test_the_readme_shows_code_with_its_output() -> None:
    assert BLOCKS


@pytest.mark.parametrize(("code", "printed"), BLOCKS, ids=range(len(BLOCKS)))
def test_the_readme_s_code_prints_what_it_shows(code: str, printed: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == printed.strip()


def test_every_file_that_the_readme_names_exists() -> None:
    for target in re.findall(r"\]\((?!http|#)([^)#]+)", README):
        assert (ROOT / target).exists(), target
