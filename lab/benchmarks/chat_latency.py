"""Seconds and calls a question with a chat model: cragraph balanced beside the usual tutorial graph.

python -m lab.benchmarks.chat_latency [--questions 6]

Both talk to the same simulated model (30 tokens per second, 1 ms a prompt token) about the same documents, in one run.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cragraph.api import create_graph
from cragraph.build import Parts
from cragraph.run import Assistant
from cragraph.settings import Settings
from lab.benchmarks.simulated import FACTS, Simulated, question, server, statement, write_documents
from lab.benchmarks.tutorial_graph import tutorial_graph
from tests.support.ollama import OllamaServer

MODEL = "llama3.2"


@dataclass(frozen=True)
class Asked:
    """One question asked of one graph."""

    number: int
    seconds: float
    calls: int
    prompt_tokens: int
    right: bool

    @property
    def corrected(self) -> bool:
        """Whether the first answer was a wrong one."""
        return self.number % 2 == 1


def measure(ask: Callable[[str], str], ollama: OllamaServer, count: int) -> list[Asked]:
    """Ask `count` questions, one after the other."""
    found = []
    for number in range(count):
        before, begun = len(ollama.chats), time.perf_counter()
        answer = ask(question(number))
        seconds, calls = time.perf_counter() - begun, ollama.chats[before:]
        tokens = sum(call.prompt_tokens for call in calls)
        found.append(Asked(number, seconds, len(calls), tokens, statement(number).rstrip(".") in answer))
    return found


def row(name: str, found: list[Asked]) -> str:
    """A row of the table: all questions, those accepted at once, those corrected."""
    cells = []
    for some in (found, [a for a in found if not a.corrected], [a for a in found if a.corrected]):
        if some:
            seconds, calls = (statistics.mean(getattr(a, n) for a in some) for n in ("seconds", "calls"))
            tokens = statistics.mean(a.prompt_tokens for a in some)
            cells.append(f"{seconds:6.2f} s {calls:5.1f} calls {tokens:6.0f} tokens read")
        else:
            cells.append("-")
    return f"{name:25} | " + " | ".join(cells) + f" | {sum(a.right for a in found)} of {len(found)} right"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=6, choices=range(1, len(FACTS) + 1))
    count = parser.parse_args().questions
    play = Simulated()
    with tempfile.TemporaryDirectory() as folder, server(play) as ollama:
        write_documents(Path(folder))
        settings = Settings(store=f"{folder}/.store", model=f"ollama:{MODEL}", ollama_host=ollama.url)
        Assistant(settings).ingest([Path(folder)])
        store = Parts(settings).store
        graph = create_graph(settings, store=store).compile()
        tutorial = tutorial_graph(ollama.url, MODEL, lambda q: [p["text"] for p in store.dense(q, 4)])
        # One run without counting: models load, connections and caches are made.
        ollama.tokens_per_s, ollama.ms_per_prompt_token = 0.0, 0.0
        graph.invoke({"question": question(len(FACTS) - 1)})
        tutorial.invoke({"question": question(len(FACTS) - 1)})
        ollama.tokens_per_s, ollama.ms_per_prompt_token = 30.0, 1.0
        print(f"{'mean a question':25} | {'all':41} | {'accepted at once':41} | {'first answer wrong':41} |")

        def ours(judge: str) -> Callable[[str], str]:
            return lambda q: str(graph.invoke({"question": q}, context={"judge": judge})["answer"])

        for name, ask in (
            ("cragraph, balanced", ours("auto")),
            ("cragraph, judge embedding", ours("embedding")),
            ("the usual tutorial graph", lambda q: str(tutorial.invoke({"question": q})["generation"])),
        ):
            play.reset()
            print(row(name, measure(ask, ollama, count)), flush=True)
        store.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
