"""How long the command line takes to start and to answer, cold, beside what it cannot do without.

python -m lab.benchmarks.startup [--runs N]

A cold `cragraph ask`, answer included, runs in turn with a program that imports LangGraph, langchain-chroma and
langchain-ollama, as any graph of one's own does before its first step. Both take turns, so that other work on the
machine slows both.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from lab.benchmarks.measure import Figure, below

IMPORTS = "import langgraph.graph, langchain_chroma, langchain_ollama"
NOTES = "# Lighthouse\n\nThe lighthouse of the island was built in 1907. It is 41 metres high.\n"
QUESTION = "When was the lighthouse of the island built?"


def seconds(command: Sequence[str], folder: Path) -> tuple[float, float]:
    """The time of a command on the clock, and that of the processor."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, begun = os.times(), perf_counter()
    subprocess.run(command, cwd=folder, env=own, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    taken, after = perf_counter() - begun, os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return taken, spent


def measure(runs: int = 7) -> list[Figure]:
    """The seconds of `--help`, `docs` and `ask`, and of `ask` as a share of the three imports."""
    shell = [sys.executable, "-m", "cragraph"]
    commands = {
        "python alone": [sys.executable, "-c", "pass"],
        "imports": [sys.executable, "-c", IMPORTS],
        "ask": [*shell, "ask", QUESTION],
        "help": [*shell, "--help"],
        "docs": [*shell, "docs"],
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "notes.md").write_text(NOTES)
        seconds([*shell, "ingest", "notes.md"], folder)
        for run in range(runs + 1):
            for what, command in commands.items():
                once = seconds(command, folder)
                if run:
                    taken[what].append(once)
    clock = {name: [wall for wall, _ in each] for name, each in taken.items()}
    spent = {name: median(cpu for _, cpu in each) for name, each in taken.items()}
    ratio = below("ask / imports", [a / b for a, b in zip(clock["ask"], clock["imports"], strict=True)], 1.0, "")
    rows = [
        below("cragraph --help", clock["help"], 0.4, "s"),
        below("cragraph docs", clock["docs"], 1.0, "s"),
        below("cragraph ask", clock["ask"], median(clock["imports"]), "s"),
        Figure(**vars(ratio) | {"note": f"{ratio.note}; processor time {spent['ask'] / spent['imports']:.2f}"}),
    ]
    alone = f"python alone {median(clock['python alone']):.2f}"
    return [Figure(**vars(rows[0]) | {"note": f"{rows[0].note}; {alone}"}), *rows[1:]]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    for figure in measure(parser.parse_args().runs):
        print(figure.row())
