"""Many questions at once against a server that runs a few in parallel: are they all answered, and at what cost?

python -m lab.benchmarks.concurrency [--questions 32] [--parallel 4]
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from cragraph.api import create_graph
from cragraph.build import Parts
from cragraph.run import Assistant
from cragraph.settings import Settings
from lab.benchmarks.measure import peak_megabytes
from lab.benchmarks.simulated import FACTS, Simulated, question, server, statement, write_documents


def main() -> int:
    """Ask all questions at once; 1 when one was answered wrongly or the bound was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=32, choices=range(1, len(FACTS) // 2 + 1))
    parser.add_argument("--parallel", type=int, default=4)
    arguments = parser.parse_args()
    numbers = [2 * n for n in range(arguments.questions)]  # those whose first answer is right
    with (
        tempfile.TemporaryDirectory() as folder,
        server(Simulated(), max_parallel=arguments.parallel, tokens_per_s=300.0, ms_per_prompt_token=0.1) as ollama,
    ):
        write_documents(Path(folder))
        settings = Settings(
            store=f"{folder}/.store",
            model="ollama:llama3.2",
            ollama_host=ollama.url,
            max_concurrency=arguments.parallel,
        )
        Assistant(settings).ingest([Path(folder)])
        store = Parts(settings).store
        graph = create_graph(settings, store=store).compile()
        begun = time.perf_counter()
        graph.invoke({"question": question(1)})
        one, before = time.perf_counter() - begun, peak_megabytes()
        begun = time.perf_counter()
        inputs = [{"question": question(number)} for number in numbers]
        responses = graph.batch(inputs, config={"max_concurrency": arguments.questions})
        seconds, after = time.perf_counter() - begun, peak_megabytes()
        store.close()
    right = sum(
        statement(n).rstrip(".") in r["answer"] and r["question"] == question(n)
        for n, r in zip(numbers, responses, strict=True)
    )
    calls = {r["llm_calls"] for r in responses}
    degraded = sum(bool(r["degraded"]) for r in responses)
    print(f"{arguments.questions} questions at once, {arguments.parallel} calls in parallel (tenfold speed)")
    print(f"answered rightly, in order, none mixed: {right} of {len(responses)}; degraded: {degraded}")
    print(f"calls a question: {sorted(calls)}; most calls at once: {ollama.peak}")
    print(f"one question alone, corrected: {one:.2f} s; all: {seconds:.2f} s, {seconds / len(responses):.2f} s each")
    print(f"memory: {before:.0f} MB before, {after:.0f} MB at most")
    return 0 if right == len(responses) and ollama.peak <= arguments.parallel else 1


if __name__ == "__main__":
    sys.exit(main())
