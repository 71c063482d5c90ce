"""What every test stands on: no settings of the developer's own, and the data folder where there is one."""

import os
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import settings

from tests.support.progress import Found, Progress

# A busy machine is slow; that is no failure of the example that it was slow on.
# With CI set, every run draws the same examples: a new one is found by a person who can look at it, not by a merge.
settings.register_profile("cragraph", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("cragraph")

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """Say how many tests were found while the workers of pytest-xdist look for them."""
    if path := getattr(config, "workerinput", {}).get("found"):
        config.pluginmanager.register(Found(path))
    elif getattr(config.option, "numprocesses", None):
        config.pluginmanager.register(Progress())


@pytest.fixture(autouse=True)
def no_settings_of_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Take away the variables that would change what is tested, and the examinations of the developer's models."""
    for variable in os.environ:
        if (variable.startswith("CRAG_") and variable != "CRAG_DATA") or variable == "OLLAMA_HOST":
            monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / f"config-{uuid4().hex}"))


@pytest.fixture(autouse=True)
def control_claim_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the claim that tests a judge behind the others, so that scripted replies can number these from 1."""
    monkeypatch.setattr("cragraph.verification.judges.llm.place_of_control", len)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of public evaluation data; the test is skipped where it is absent."""
    folder = (ROOT / os.environ.get("CRAG_DATA", "../shared/data")).resolve()
    if not folder.is_dir():
        pytest.skip(f"the evaluation data is not at {folder}: set CRAG_DATA to its folder")
    return folder
