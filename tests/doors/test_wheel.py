"""The built wheel, installed into an environment that holds nothing else."""

import os
import re
import subprocess
import sys
import venv
import zipfile
from hashlib import sha256
from pathlib import Path

import openpyxl
import pytest

# The wheel is built, and installed into an environment of its own.
pytestmark = [pytest.mark.slow, pytest.mark.enable_socket, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"cragraph": "", "graph": "graph", "nodes": "nodes", "prompts": "prompts"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def test_every_module_prompt_and_weight_is_inside(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    wanted = set()
    for folder, package in FOLDERS.items():
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pyc", ".egg-info"):
                wanted.add(
                    "/".join(("cragraph", package, path.relative_to(ROOT / folder).as_posix())).replace("//", "/")
                )
    assert wanted - inside == set()
    assert "cragraph/py.typed" in inside


def test_nothing_else_is_inside(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"cragraph"}


def test_the_licenses_of_the_code_and_of_the_weights_are_inside_in_full(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as parts:
        inside = {name.partition(".dist-info/")[2]: parts.read(name) for name in parts.namelist()}
    stated = re.findall(r"^License-File: (.+)$", inside["METADATA"].decode(), re.M)
    assert sorted(stated) == ["LICENSE", "LICENSES/Apache-2.0.txt", "LICENSES/MIT-mpnet.txt", "NOTICE"]
    for name in stated:
        assert inside[f"licenses/{name}"] == (ROOT / name).read_bytes()
    # The text as the foundation publishes it, to the byte.
    digest = sha256(inside["licenses/LICENSES/Apache-2.0.txt"]).hexdigest()
    assert digest == "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"
    notice = inside["licenses/NOTICE"].decode()
    assert {"LICENSES/Apache-2.0.txt", "LICENSES/MIT-mpnet.txt"} <= set(re.findall(r"LICENSES/[\w.-]*\w", notice))


def test_it_is_no_larger_than_package_indexes_take(wheel: Path) -> None:
    assert wheel.stat().st_size < 100_000_000


def test_it_answers_from_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=False)
    scripts = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin")
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    # The caller's pip fills the environment, and what is never imported is not compiled: both only save time.
    install = [sys.executable, "-m", "pip", "--python", scripts / "python", "install", "--quiet", "--no-compile", wheel]
    subprocess.run(install, check=True, capture_output=True, env=clean)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "sea.md").write_text(
        "# The sea\n\nThe sea is salt because rivers carry minerals into it. Lakes are mostly fresh water.\n"
    )
    # What the help of `ingest` and `serve` lists works without an extra, but for what it says of one.
    book = openpyxl.Workbook()
    for row in (["lake", "depth in metres"], ["Baikal", 1642], ["Como", 425]):
        book.active.append(row)
    book.save(tmp_path / "notes" / "lakes.xlsx")
    every = [scripts / "cragraph", "ingest", "notes"]
    done = subprocess.run(every, cwd=tmp_path, capture_output=True, text=True, env=clean, check=False)
    assert (done.returncode, "2 added" in done.stdout) == (0, True), done.stderr
    served = [scripts / "python", "-c", "import cragraph.serve"]
    assert subprocess.run(served, cwd=tmp_path, env=clean, check=False).returncode == 0
    ask = [scripts / "cragraph", "ask", "Why is the sea salt?", "--source", "notes", "--json", "-q"]
    done = subprocess.run(ask, cwd=tmp_path, capture_output=True, text=True, env=clean, check=False)
    assert done.returncode == 0, done.stderr
    assert "rivers carry minerals" in done.stdout
