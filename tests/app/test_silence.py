"""Nothing leaves the machine that nobody asked for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cragraph

WORK = """
import time
import cragraph, onnxruntime, chromadb, langgraph
from cragraph.models.encoder import EmbeddedEncoder
EmbeddedEncoder().embed_query("ready?")
time.sleep({seconds})
"""


def without_our_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in cragraph.SILENCED}


def test_the_libraries_are_silenced_before_they_are_imported_and_so_are_children() -> None:
    code = (
        "import sys, os, subprocess, cragraph; assert 'onnxruntime' not in sys.modules; "
        "code = 'import os; print(*(os.environ[n] for n in %r))' % list(cragraph.SILENCED); "
        "print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=without_our_variables(), capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == list(cragraph.SILENCED.values())


def test_a_person_who_asks_for_tracing_gets_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import cragraph, os; print(os.environ['LANGSMITH_TRACING'])"],
        env=without_our_variables() | {"LANGSMITH_TRACING": "true"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "true"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace to see every connection")
def test_no_connection_is_opened_in_the_seconds_after_a_model_was_loaded(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    command = ["strace", "-f", "-qq", "-e", "trace=connect,sendto", "-o", str(trace)]
    done = subprocess.run(
        [*command, sys.executable, "-c", WORK.format(seconds=15)],
        env=without_our_variables() | {"HOME": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "ptrace" in done.stderr:
        pytest.skip("this machine does not let a process be traced")
    assert done.returncode == 0, done.stderr
    assert [line for line in trace.read_text().splitlines() if "AF_INET" in line] == []
    assert not (tmp_path / ".cache" / "Microsoft").exists()
