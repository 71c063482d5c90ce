"""A question to a small store: cold, as a command, and warm, in a process that has asked before.

python -m lab.benchmarks.asking
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cragraph import verify
from cragraph.api import create_graph
from cragraph.run import Assistant
from cragraph.settings import Settings, load_settings
from lab.benchmarks.measure import Figure, below, milliseconds
from lab.benchmarks.new_user.__main__ import HERE, documents

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = (
    "When does the loop stop?",
    "What does the evidence gate count?",
    "Which exit code means abstained?",
    "What happens where no judge could run?",
    "What does on_low_confidence decide?",
    "How are citations numbered?",
    "What does requery turn each failed claim into?",
    "What is the default of max_crag_attempts?",
    "How is a changed file ingested again?",
    "What does the mode high set?",
    "Where does the lexical side live?",
    "What is kept of a PDF page?",
)


def store_of_documents(folder: str) -> Settings:
    """A store of this project's documents in a folder."""
    settings = load_settings(store=folder)
    Assistant(settings).ingest([ROOT / "README.md", ROOT / "docs", ROOT / "CONTRIBUTING.md"])
    return settings


def questions_of_a_new_user(folder: Path) -> tuple[Settings, list[str]]:
    """A store of the files of `lab.benchmarks.new_user`, and the questions on them that stand alone."""
    settings = load_settings(store=str(folder / "store"))
    Assistant(settings).ingest([documents(HERE, folder / "files")])
    rows = map(json.loads, (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines())
    return settings, [row["question"] for row in rows if "before" not in row]


def measure() -> list[Figure]:
    """Milliseconds a warm question, by part and by whether it was searched again, and seconds a cold one."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        settings = store_of_documents(folder)
        # The judge's network is opened by the first claim that is no copy.
        verify("Nobody stops the loop.", ["The loop stops at the threshold."])
        parts: dict[str, list[float]] = {}
        taken: dict[bool, list[float]] = {True: [], False: []}
        for own, questions in ((settings, QUESTIONS), questions_of_a_new_user(Path(other))):
            graph = create_graph(own).compile()
            graph.invoke({"question": "What is this?"})
            # Every question once: a second time, the verdicts of the first would answer for the judge.
            for question in questions:
                begun = time.perf_counter()
                timings = graph.invoke({"question": question})["timings_ms"]
                taken["requery" in timings].append((time.perf_counter() - begun) * 1000)
                for name, ms in timings.items():
                    parts.setdefault(name, []).append(ms)
        every = taken[False] + taken[True]
        figures = [below("ask, warm", every, 250), at_most("  95th percentile", every, 250)]
        for again, name in ((False, "one pass"), (True, "searched again")):
            share = f"{len(taken[again])} of {len(every)} questions"
            figures.append(Figure(f"  {name}", statistics.median(taken[again]), "ms", "", True, share))
            figures.append(at_most(f"  {name}, 95th percentile", taken[again], 250))
        figures += [
            Figure(f"  {name}", statistics.median(ms), "ms", "", True) for name, ms in parts.items() if name != "total"
        ]
        command = [sys.executable, "-m", "cragraph", "ask", QUESTIONS[0], "--store", folder, "-q"]
        cold = milliseconds(lambda: subprocess.run(command, check=False, stdout=subprocess.DEVNULL), runs=3, warm_up=1)
        return [*figures, below("ask, cold, as a command", [ms / 1000 for ms in cold], 3, "s")]


def at_most(name: str, values: list[float], aim: float) -> Figure:
    """The 95th percentile of some times against an upper bound."""
    value = sorted(values)[int(0.95 * (len(values) - 1))]
    return Figure(name, value, "ms", f"< {aim:g} ms", value < aim)


if __name__ == "__main__":
    for figure in measure():
        print(figure.row())
