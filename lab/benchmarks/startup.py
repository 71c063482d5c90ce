"""How long the command line takes to start and to answer, cold, beside what it cannot do without.

python -m lab.benchmarks.startup [--runs N] [--cpu]

A cold `cragraph ask`, answer included, runs in turn with a program that imports LangGraph, langchain-chroma and
langchain-ollama, as any graph of one's own does before its first step. Both take turns, so that other work on the
machine slows both. On a machine with much other work, `--cpu` compares the processor's time instead of the clock's.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from lab.benchmarks.measure import Figure, below

IMPORTS = "import langgraph.graph, langchain_chroma, langchain_ollama"
NOTES = "# Lighthouse\n\nThe lighthouse of the island was built in 1907. It is 41 metres high.\n"
QUESTION = "When was the lighthouse of the island built?"


def seconds(command: Sequence[str], folder: Path, *, cpu: bool) -> float:
    """The time that a command takes: on the clock, or with `cpu` the processor's time of all its threads."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = os.times()
    subprocess.run(command, cwd=folder, env=own, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    user, system, clock = (y - x for x, y in zip(before[2:], os.times()[2:], strict=True))
    return user + system if cpu else clock


def measure(runs: int = 7, *, cpu: bool = False) -> list[Figure]:
    """The seconds of `--help`, `docs` and `ask`, and of `ask` as a share of the three imports."""
    shell = [sys.executable, "-m", "cragraph"]
    commands = {
        "python alone": [sys.executable, "-c", "pass"],
        "imports": [sys.executable, "-c", IMPORTS],
        "ask": [*shell, "ask", QUESTION],
        "help": [*shell, "--help"],
        "docs": [*shell, "docs"],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "notes.md").write_text(NOTES)
        seconds([*shell, "ingest", "notes.md"], folder, cpu=cpu)
        for run in range(runs + 1):
            for what, command in commands.items():
                once = seconds(command, folder, cpu=cpu)
                if run:
                    taken[what].append(once)
    rows = [
        below("cragraph --help", taken["help"], 0.4, "s"),
        below("cragraph docs", taken["docs"], 1.0, "s"),
        below("cragraph ask", taken["ask"], round(median(taken["imports"]), 2), "s"),
        below("ask / imports", [a / b for a, b in zip(taken["ask"], taken["imports"], strict=True)], 1.0, ""),
    ]
    alone = f"python alone {median(taken['python alone']):.2f}"
    return [Figure(**vars(rows[0]) | {"note": f"{rows[0].note}; {alone}"}), *rows[1:]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--cpu", action="store_true", help="compare the processor's time")
    options = parser.parse_args()
    for figure in measure(options.runs, cpu=options.cpu):
        print(figure.row())
