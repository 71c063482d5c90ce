"""Many askers at once: in threads, in one event loop, and at a server; thousands of verifications. Does anything grow?

    python -m lab.benchmarks.load [--askers 32,128] [--verifications 10000] [--open 200]
    python -m lab.benchmarks.load --short                # 32 askers, 500 verifications, 200 open questions

Prints p50 and p95 of a question beside its processor time, and what the process holds before and after. At a server
whose chat model is silent it prints how long the page takes while questions are open, how long after their askers left
the next question begins, and how long the server takes to end after Ctrl-C. Exits with 1 if an answer is not the one
that its asker gets alone, if descriptors, threads or memory go on growing, or if the server is slower than its bounds.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx

from cragraph import verify
from cragraph.api import create_graph
from cragraph.build import Parts
from cragraph.log import quantile
from cragraph.run import Assistant
from cragraph.settings import load_settings
from lab.benchmarks.measure import Held, held
from lab.benchmarks.simulated import FACTS, question, statement, write_documents
from tests.support.ollama import OllamaServer, Reply
from tests.support.ports import free_port

MORE_MEGABYTES: Final = 64.0
"""What a cache that is bounded may still fill after the first round."""

Timed = tuple[dict[str, Any], float]


def in_threads(graph: Any, numbers: Sequence[int]) -> list[Timed]:
    """Ask all questions, each in a thread of its own."""

    def ask(number: int) -> Timed:
        begun = time.perf_counter()
        return graph.invoke({"question": question(number)}), time.perf_counter() - begun

    with ThreadPoolExecutor(len(numbers)) as pool:
        return list(pool.map(ask, numbers))


def in_a_loop(graph: Any, numbers: Sequence[int]) -> list[Timed]:
    """Ask all questions in one event loop."""

    async def ask(number: int) -> Timed:
        begun = time.perf_counter()
        return await graph.ainvoke({"question": question(number)}), time.perf_counter() - begun

    async def all_of_them() -> list[Timed]:
        return await asyncio.gather(*map(ask, numbers))

    return asyncio.run(all_of_them())


def asked(
    name: str, ask: Callable[[Any, Sequence[int]], list[Timed]], graph: Any, askers: int, alone: Sequence[str]
) -> list[str]:
    """Two rounds of questions; what was wrong. `alone` are the answers to each question asked by itself."""
    numbers = [number % len(FACTS) for number in range(askers)]
    ask(graph, numbers)
    before, begun = held(), time.process_time()
    found = ask(graph, numbers)
    worked, after = (time.process_time() - begun) / askers * 1000, held()
    times = [seconds for _, seconds in found]
    good = sum(
        r["answer"] == alone[n] and r["question"] == question(n) for (r, _), n in zip(found, numbers, strict=True)
    )
    p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
    print(
        f"| {askers} {name} | {good} | {p50:.2f} s | {p95:.2f} s | {worked:.0f} ms | {before} | {after} |", flush=True
    )
    wrong = (
        [] if good == askers else [f"{askers} {name}: {askers - good} answers are not those given to each asker alone"]
    )
    return wrong + grown(f"{askers} {name}", before, after)


def grown(name: str, before: Held, after: Held) -> list[str]:
    """What is held now that was not."""
    more = {
        "descriptors": after.descriptors - before.descriptors,
        "threads": after.threads - before.threads,
        "megabytes": after.megabytes - before.megabytes - MORE_MEGABYTES,
    }
    return [f"{name}: {count:.0f} {what} more than before" for what, count in more.items() if count > 0]


def verified(number: int) -> list[str]:
    """Verify different answers one after the other; what grew after the first tenth."""
    times = []
    before, begun = held(), time.process_time()
    for n in range(number):
        if n == number // 10:
            before = held()
        figure = FACTS[n % len(FACTS)][2]
        answer = statement(n % len(FACTS), figure if n % 2 else figure + n)
        started = time.perf_counter()
        verify(f"{answer} It was built {n} years ago.", [statement(n % len(FACTS))])
        times.append(time.perf_counter() - started)
    worked, after = (time.process_time() - begun) / number * 1000, held()
    p50, p95 = (quantile(times, share) * 1000 for share in (0.5, 0.95))
    print(
        f"| {number} verifications | | {p50:.0f} ms | {p95:.0f} ms | {worked:.0f} ms | {before} | {after} |", flush=True
    )
    return grown(f"{number} verifications", before, after)


BOUNDS: Final = {"page": 1.0, "next question": 10.0, "end": 2.0}
"""Seconds: the slowest page while questions are open, the first run after all askers left, the end after Ctrl-C."""


def served(store: str, open_asks: int) -> list[str]:
    """Hold questions open at a server whose model is silent; what took longer than its bound."""
    took: dict[str, float] = {}
    port = free_port()
    with OllamaServer(lambda request: Reply(fault="stall"), max_parallel=1_000) as model:
        given = os.environ | {"CRAG_MODEL": "ollama:llama3.2", "OLLAMA_HOST": model.url, "CRAG_HISTORY": "false"}
        command = [sys.executable, "-m", "cragraph", "serve", "--port", str(port), "--store", store]
        server = subprocess.Popen(command, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        limits = httpx.Limits(max_connections=open_asks + 20)
        with closing(httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120, limits=limits)) as client:
            until("the server is up", lambda: up(client))
            streams = [client.stream("POST", "/ask/stream", json={"question": question(0)}) for _ in range(open_asks)]
            with ThreadPoolExecutor(open_asks) as pool:
                list(pool.map(lambda stream: stream.__enter__(), streams))
                until("the model was asked", lambda: len(model.chats) >= 1)
                took["page"] = max(timed(partial(client.get, path)) for path in ("/", "/options", "/documents"))
                list(pool.map(lambda stream: stream.__exit__(None, None, None), streams))
            with client.stream("POST", "/ask/stream", json={"question": question(1)}):
                took["next question"] = timed(lambda: until("the next", lambda: question(1) in str(model.chats)))
                server.send_signal(signal.SIGINT)
                took["end"] = timed(lambda: server.wait(60))
    for name, seconds in took.items():
        print(f"| server, {open_asks} questions open: {name} | | {seconds:.2f} s | | | | |", flush=True)
    return [f"server: {name} took {s:.2f} s, wanted {BOUNDS[name]:g}" for name, s in took.items() if s > BOUNDS[name]]


def timed(call: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def up(client: httpx.Client) -> bool:
    """Whether a server answers."""
    with suppress(httpx.TransportError):
        return client.get("/").status_code == httpx.codes.OK
    return False


def until(what: str, happened: Callable[[], bool], seconds: float = 120.0) -> None:
    """Wait for something; raises TimeoutError if it does not happen."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.02)


def main() -> int:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--askers", default="32,128")
    parser.add_argument("--verifications", type=int, default=10_000)
    parser.add_argument("--open", type=int, default=200, help="questions held open at a server; 0: no server")
    parser.add_argument("--short", action="store_true", help="32 askers, 500 verifications, the server as always")
    arguments = parser.parse_args()
    if arguments.short:
        arguments.askers, arguments.verifications = "32", 500
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        write_documents(Path(folder))
        settings = load_settings(store=f"{folder}/.store", model=None)
        Assistant(settings).ingest([Path(folder)])
        store = Parts(settings).store
        graph = create_graph(settings, store=store).compile()
        alone = [graph.invoke({"question": question(number)})["answer"] for number in range(len(FACTS))]
        print("| what | as alone | p50 | p95 | processor time each | held before | after |")
        print("| --- | ---: | ---: | ---: | ---: | --- | --- |")
        for askers in map(int, filter(None, arguments.askers.split(","))):
            wrong += asked("threads", in_threads, graph, askers, alone)
            wrong += asked("tasks of one loop", in_a_loop, graph, askers, alone)
        store.close()
        wrong += served(str(settings.store), arguments.open) if arguments.open else []
        wrong += verified(arguments.verifications)
    print("\n".join(wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
