"""What docs/lab/dependencies.md leaves out is never needed, and what the lock file pins is what is asked for."""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
WITHOUT = """
import sys
for name in {blocked}:
    sys.modules[name] = None
from cragraph import create_graph, load_settings, verify
from cragraph.models.embeddings import EmbeddedEncoder
from cragraph.store import ingest, open_store
from cragraph.store.chroma import open_chroma
print(verify("Revenue was $394 billion.", ["Revenue was $383 billion."]).claims[0]["verdict"])
for opened in (open_store, open_chroma):
    with opened(opened.__name__, EmbeddedEncoder()) as store:
        ingest("notes", store)
        graph = create_graph(load_settings(), store=store).compile()
        print(graph.invoke({{"question": "How deep is the sea?"}})["answer"])
print("chromadb" in sys.modules, "langgraph" in sys.modules)
"""


@pytest.mark.slow
def test_everything_works_without_what_the_documents_leave_out(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "lab" / "dependencies.md").read_text(encoding="utf-8")
    command = re.search(r"^pip uninstall -y (.*)$", page, re.MULTILINE)
    assert command
    left_out = {canonicalize_name(name) for name in shlex.split(command[1])}
    blocked = [
        module
        for module, owners in packages_distributions().items()
        if {canonicalize_name(owner) for owner in owners} <= left_out
    ]
    assert {"kubernetes", "zstandard"} <= {*blocked}
    (tmp_path / "notes").mkdir()
    for number, text in enumerate(("The sea is 4 km deep.", "The sky is high and blue.", "The sun is hot.")):
        (tmp_path / "notes" / f"{number}.md").write_text(text)
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(blocked=blocked)], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    verdict, answer, of_chroma, loaded = ran.stdout.splitlines()
    assert (verdict, loaded) == ("contradicted", "True True")
    assert "4 km deep" in answer
    assert "4 km deep" in of_chroma


def test_the_lock_file_pins_what_is_asked_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [Requirement(one) for one in (*project["dependencies"], *extras["dev"])]
    ours = next(one for one in asked if one.name == "cragraph")
    asked += [Requirement(one) for extra in ours.extras for one in extras[extra]]
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))
    wrong = [
        str(one)
        for one in asked
        if one.name != "cragraph" and pinned.get(canonicalize_name(one.name), "") not in one.specifier
    ]
    assert not wrong, f"run `make lock`: requirements.lock lacks {wrong}"
    assert text.count("--hash=sha256:") > len(pinned)
