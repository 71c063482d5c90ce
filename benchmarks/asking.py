"""A question to a small store: cold, as a command, and warm, in a process that has asked before.

python -m benchmarks.asking
"""

import statistics
import subprocess
import sys
import tempfile
from itertools import cycle
from pathlib import Path

from benchmarks.measure import Figure, below, milliseconds
from cragraph.api import create_graph
from cragraph.run import Assistant
from cragraph.settings import Settings, load_settings

ROOT = Path(__file__).resolve().parent.parent
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


def measure() -> list[Figure]:
    """Milliseconds a warm question, by part, and seconds a cold one."""
    with tempfile.TemporaryDirectory() as folder:
        settings = store_of_documents(folder)
        graph = create_graph(settings).compile()
        parts: dict[str, list[float]] = {}
        turn = cycle(QUESTIONS)
        graph.invoke({"question": "What is this?"})

        def ask() -> None:
            for name, ms in graph.invoke({"question": next(turn)})["timings_ms"].items():
                parts.setdefault(name, []).append(ms)

        # Every question once: a second time, the verdicts of the first would answer for the judge.
        warm = milliseconds(ask, runs=len(QUESTIONS), warm_up=0)
        figures = [below("ask, warm", warm, 400)]
        for name, taken in parts.items():
            if name != "total":
                figures.append(Figure(f"  {name}", statistics.median(taken), "ms", "", True))
        command = [sys.executable, "-m", "cragraph", "ask", QUESTIONS[0], "--store", folder, "-q"]
        cold = milliseconds(lambda: subprocess.run(command, check=False, stdout=subprocess.DEVNULL), runs=3, warm_up=1)
        return [*figures, below("ask, cold, as a command", [ms / 1000 for ms in cold], 3, "s")]


if __name__ == "__main__":
    for figure in measure():
        print(figure.row())
