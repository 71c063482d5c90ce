"""Nothing leaves the machine that nobody asked for."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FACT = "The Freedonia bridge is 412 metres long."
COMMANDS = {
    "ingest": ("ingest", "notes.md"),
    "ask": ("ask", "How long is the Freedonia bridge?"),
    "verify": ("verify", "--answer", FACT, "--source", "notes.md"),
    "search": ("search", "bridge"),
    "doctor": ("doctor",),
}
STAY = (
    "import sys, time; from cragraph.cli import main\ntry: main()\nexcept SystemExit as end: time.sleep(15); raise end"
)
"""A command that does not go when it is done: libraries that report wait ten seconds before they begin."""

ALL = f"""
import sys
from cragraph.cli import main
for words in {tuple(COMMANDS.values())}:
    sys.argv[1:] = words
    try: main()
    except SystemExit as end: assert not end.code, words
"""

STUDIO = f"""
import fcntl, signal, socket, struct, subprocess, sys, time
import httpx
if "alone" in sys.argv:   # a namespace begins with loopback down: SIOCSIFFLAGS, IFF_UP
    with socket.socket() as any_socket: fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 1))
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = str(probe.getsockname()[1])
dev = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", port]
server = subprocess.Popen(dev)
question = {{"assistant_id": "crag", "input": {{"question": {COMMANDS["ask"][1]!r}}}}}
while server.poll() is None:
    try: answer = httpx.post(f"http://127.0.0.1:{{port}}/runs/wait", json=question, timeout=600).json()
    except httpx.ConnectError: time.sleep(0.5)
    else: break
time.sleep(0 if "alone" in sys.argv else 15)
server.send_signal(signal.SIGTERM)
server.wait()
print("answered:", answer["answer"])
"""
"""Starts the development server, asks it, and stays as above."""

TRACED = ("strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg,sendmmsg", "-o")
OUTSIDE = re.compile(r"AF_INET6?,.*?inet_(?:addr|pton)\((?:AF_INET6, )?\"(?!127\.|::1\")")
"""A call that goes to another machine, or asks a name server for one."""


def without_our_variables(home: Path) -> dict[str, str]:
    """The environment of a person who has never heard of any of the variables."""
    ours = ("TELEMETRY", "TRACING", "NO_ANALYTICS", "NO_VERSION_CHECK")
    return {n: v for n, v in os.environ.items() if not any(word in n for word in ours)} | {"HOME": str(home)}


def works(*command: str) -> bool:
    return shutil.which(command[0]) is not None and not subprocess.run(command, capture_output=True).returncode


traced = pytest.mark.skipif(not works("strace", "-o", os.devnull, "true"), reason="needs strace, and leave to trace")


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one document and its store."""
    folder = tmp_path_factory.mktemp("ingested")
    (folder / "notes.md").write_text(f"{FACT} Lakes are fresh water.")
    shutil.copy(ROOT / "langgraph.json", folder)
    command = [sys.executable, "-m", "cragraph", "ingest", "notes.md", "-q"]
    subprocess.run(command, cwd=folder, env=without_our_variables(folder), check=True)
    return folder


def started(ingested: Path, folder: Path, name: str, *command: str) -> subprocess.Popen[bytes]:
    """A command in a folder of its own, with every connection written down."""
    shutil.copytree(ingested, folder / name, ignore=shutil.ignore_patterns(".cragraph" if name == "ingest" else ""))
    return subprocess.Popen(
        [*TRACED, str(folder / f"{name}.trace"), *command],
        cwd=folder / name, env=without_our_variables(folder / name), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip


def calls(folder: Path, name: str) -> list[str]:
    """What went out, and what was written where one library keeps what it has yet to report."""
    trace = (folder / f"{name}.trace").read_text(errors="replace").splitlines()
    return [line for line in trace if OUTSIDE.search(line)] + list(map(str, (folder / name).rglob("*Microsoft*")))


HOST = """
import logging, os, sys, threading, warnings
def seen():
    loggers = [logging.root, *(one for one in logging.root.manager.loggerDict.values() if hasattr(one, "handlers"))]
    levels = {one.name: (one.level, one.handlers[:], one.disabled) for one in loggers}
    set_up = {name: of for name, of in levels.items() if any(of)}
    return dict(os.environ), list(warnings.filters), set_up, logging.root.manager.disable, threading.enumerate()
import langgraph.graph, langchain_core.language_models, langsmith, pydantic_settings, numpy, httpx
before = seen()
import cragraph
for name in cragraph.__all__: getattr(cragraph, name)
graph = cragraph.create_graph(cragraph.load_settings(store=None)).compile()
assert "onnxruntime" not in sys.modules and "chromadb" not in sys.modules
now = seen()
assert now == before, [(a, b) for a, b in zip(before, now) if a != b]
"""
"""A program that looks at itself before and after it imports cragraph and makes a graph."""


def of_a_host(code: str, folder: Path) -> str:
    environment = without_our_variables(folder)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", HOST + code], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_an_import_changes_nothing_of_the_program_around_it(tmp_path: Path) -> None:
    of_a_host("", tmp_path)


@pytest.mark.slow
def test_what_a_program_loads_from_its_env_file_after_the_import_counts(tmp_path: Path) -> None:
    (tmp_path / "mine.env").write_text("LANGSMITH_TRACING=true\nCRAG_CONFIDENCE_THRESHOLD=0.81\n")
    code = """
from dotenv import load_dotenv
from langsmith.utils import tracing_is_enabled
load_dotenv("mine.env")
print(tracing_is_enabled(), cragraph.load_settings().confidence_threshold)
"""
    assert of_a_host(code, tmp_path) == "True 0.81"


@pytest.mark.slow
def test_telemetry_is_off_before_the_library_that_sends_it_is_loaded_and_a_value_of_the_program_s_stays(
    tmp_path: Path,
) -> None:
    code = """
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "0"
cragraph.read("How salt is it?", ["The sea is salt."])
print(os.environ["ORT_DISABLE_TELEMETRY"], os.environ["HF_HUB_DISABLE_TELEMETRY"], "onnxruntime" in sys.modules)
"""
    assert of_a_host(code, tmp_path) == "1 0 True"


@pytest.mark.slow
@traced
def test_what_is_written_down_shows_a_call_that_goes_out(ingested: Path, tmp_path: Path) -> None:
    code = "import socket; s = socket.socket(2, 2); s.connect(('127.0.0.1', 9)); s.connect(('192.0.2.1', 53))"
    started(ingested, tmp_path, "ingest", sys.executable, "-c", code).communicate()
    assert ["192.0.2.1" in call for call in calls(tmp_path, "ingest")] == [True]


@dataclass(frozen=True)
class Waiting:
    """Every command and the development server, all of them begun at once, since each of them stays fifteen seconds."""

    folder: Path
    running: Mapping[str, subprocess.Popen[bytes]]

    def end(self, name: str) -> tuple[int, str, list[str]]:
        """Its exit status, what it said, and the calls that went out."""
        said = self.running[name].communicate()[0].decode()
        return self.running[name].returncode, said, calls(self.folder, name)


@pytest.fixture(scope="module")
def waiting(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Waiting]:
    """The server begins as the Makefile begins it: one variable, which the program reads before a project's files."""
    folder = tmp_path_factory.mktemp("waiting")
    programs = {name: (sys.executable, "-c", STAY, *command) for name, command in COMMANDS.items()}
    programs["studio"] = ("env", *variables(), sys.executable, "-c", STUDIO)
    running = {name: started(ingested, folder, name, *program) for name, program in programs.items()}
    yield Waiting(folder, running)
    for process in running.values():
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def variables() -> list[str]:
    """What the Makefile sets for LangGraph's program."""
    [recipe] = [line for line in (ROOT / "Makefile").read_text().splitlines() if line.endswith("langgraph dev")]
    return [word for word in recipe.split() if "=" in word]


@pytest.mark.slow
@pytest.mark.timeout(300)  # processes start, one by one, and are watched for fifteen seconds
@traced
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_opens_a_connection_nor_asks_for_a_name_in_fifteen_seconds(waiting: Waiting, name: str) -> None:
    code, said, out = waiting.end(name)
    assert (code, out) == (0, []), said


@pytest.mark.slow
@pytest.mark.timeout(300)  # processes start, one by one, and are watched for fifteen seconds
@pytest.mark.skipif(not works("unshare", "-rn", "true"), reason="needs leave to make a network namespace")
@pytest.mark.parametrize("script", [(ALL,), (STUDIO, "alone")], ids=["commands", "development server"])
def test_everything_works_where_there_is_no_network_at_all(
    script: tuple[str, ...], ingested: Path, tmp_path: Path
) -> None:
    left_out = shutil.ignore_patterns(".cragraph" if script == (ALL,) else "")
    shutil.copytree(ingested, tmp_path, ignore=left_out, dirs_exist_ok=True)
    alone = f"test $(grep -c : /proc/net/dev) = 1 && {shlex.join([sys.executable, '-c', *script])}"
    done = subprocess.run(
        ["unshare", "-rn", "sh", "-c", alone],
        cwd=tmp_path, env=without_our_variables(tmp_path), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "412 metres" in done.stdout


@pytest.mark.slow
@pytest.mark.timeout(300)  # processes start, one by one, and are watched for fifteen seconds
@pytest.mark.server
@traced
def test_the_development_server_opens_no_connection(waiting: Waiting) -> None:
    assert " ".join([*variables(), "langgraph dev"]) in (ROOT / "docs" / "page.md").read_text()
    code, said, out = waiting.end("studio")
    assert (code, out) == (0, []), said
    assert "412 metres" in said
