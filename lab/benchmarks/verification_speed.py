"""How long it takes to verify an answer of five claims against five passages of about 150 words, without a server.

    python -m lab.benchmarks.verification_speed [--judge embedding] [--runs 30] [--json]

Prints, for verification with the `claims` policy and for all policies side by side (every signal measured):

- cold: texts that were never seen, as in a first question; the caches are empty;
- warm passages: a new answer on passages that were read before, as on a correction;
- repeated: the same answer and passages again, all of it cached.

Processor time is what the work itself costs, over all threads; on a machine that other work shares the clock runs on.
Aims: 100 ms with the embedding judge, 150 ms with every signal of the weighted, reliability and similarity policies.
"""

import argparse
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Any

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import load_settings
from cragraph.types import Passage
from lab.benchmarks.measure import Figure, below

TOPICS = (
    ("harbour", "ferry", "quay", "tonnes of grain"),
    ("library", "archive", "reading room", "printed volumes"),
    ("orchard", "cider press", "storehouse", "boxes of apples"),
    ("railway", "signal box", "platform", "passengers a day"),
    ("observatory", "telescope", "dome", "nights of clear sky"),
)


QUESTION = "When was the harbour opened, and what became of the library, the orchard and the railway?"


def passages(run: int) -> list[Passage]:
    """Five passages of about 150 words on five subjects; every run has figures of its own."""
    texts = []
    for number, (place, machine, room, goods) in enumerate(TOPICS):
        year, amount = 1871 + 7 * run + number, 1200 + 37 * run + 11 * number
        sentences = [
            f"The {place} of Eastmere was opened in {year} after a long dispute over its cost.",
            f"In its first full year it counted {amount} {goods}, more than anyone on the council had expected.",
            f"Its {machine} was built by a local firm that had never made one before, and it needed {run + 3} repairs.",
            f"The {room} stood apart from the main building, so that a fire in one would spare the other.",
            f"A storm in {year + 9} damaged the roof, and the keeper reported a loss of {amount // 4} {goods}.",
            f"Visitors wrote that the {place} was smaller than they had imagined but kept in excellent order.",
            f"Until {year + 40} the keeper lived on the ground floor with a family of {2 + run % 5}.",
            f"The town council sold the {machine} in {year + 52} to pay for a new road along the river.",
            f"Today the {room} holds a small exhibition about the people who worked there.",
        ]
        texts.append(" ".join(sentences))
    return as_passages(texts)


def answer(run: int) -> str:
    """Five claims: three that stand in the passages, one with a wrong figure, one that nobody wrote."""
    year, amount = 1871 + 7 * run, 1200 + 37 * run
    return (
        f"The harbour of Eastmere was opened in {year}. "
        f"In its first full year the library counted {amount + 11} printed volumes. "
        f"A storm in {year + 2 + 9} damaged the roof of the orchard. "
        f"The railway counted {amount + 900} passengers a day in its first full year. "
        "The observatory discovered two comets before the war."
    )


@dataclass(frozen=True)
class Times:
    """Milliseconds of each run by the clock, and of processor time over all threads."""

    wall: list[float]
    busy: list[float]

    def figures(self) -> dict[str, float]:
        """Percentiles."""
        ordered = sorted(self.wall)
        return {
            "p50_ms": round(statistics.median(ordered), 1),
            "p95_ms": round(ordered[int(0.95 * (len(ordered) - 1))], 1),
            "processor_p50_ms": round(statistics.median(self.busy), 1),
        }


def timed(call: Callable[[int], Any], runs: int) -> Times:
    """The times of some calls, each with the number of its run."""
    times = Times([], [])
    for run in range(runs):
        start, busy = perf_counter(), process_time()
        call(run)
        times.wall.append((perf_counter() - start) * 1000)
        times.busy.append((process_time() - busy) * 1000)
    return times


def cases(judge: str, scores: bool, runs: int) -> dict[str, Times]:
    """The three cases, with all policies and signals or with the `claims` policy."""
    from cragraph.build import Parts

    verifier = Parts(load_settings(model=None)).verifier

    def verify(run: int, shown: list[Passage]) -> Any:
        return verifier(QUESTION, answer(run), shown, Notes(), judge=judge, policy_scores=scores)

    read = passages(10_000)
    found = verify(10_000, read)  # loads the models
    assert len(found.claims) == 5, [claim["text"] for claim in found.claims]
    return {
        "cold": timed(lambda run: verify(run, passages(run)), runs),
        "warm passages": timed(lambda run: verify(20_000 + run, read), runs),
        "repeated": timed(lambda run: verify(10_000, read), runs),
    }


def measure() -> Iterator[Figure]:
    """The two figures with an aim, on texts that were never seen."""
    for title, scores, aim in (
        ("verification, 5 claims x 5 passages", False, 100.0),
        ("with every signal", True, 150.0),
    ):
        times = cases("embedding", scores, 15)["cold"]
        figure = below(title, times.wall, aim)
        yield replace(figure, note=f"{figure.note}; processor {statistics.median(times.busy):.0f} ms")


def main() -> None:
    """Print the times of all cases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", default="embedding")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    results = {
        f"{title}, {case}": times.figures()
        for title, scores in (("claims policy", False), ("every signal, all policies", True))
        for case, times in cases(options.judge, scores, options.runs).items()
    }
    if options.json:
        print(json.dumps({"judge": options.judge, "runs": options.runs, "results": results}, indent=2))
        return
    print(f"judge {options.judge}, {options.runs} runs, 5 claims x 5 passages of 150 words")
    print(f"{'ms':40} {'p50':>8} {'p95':>8} {'processor p50':>14}")
    for title, figures in results.items():
        print(f"{title:40} {figures['p50_ms']:8.1f} {figures['p95_ms']:8.1f} {figures['processor_p50_ms']:14.1f}")


if __name__ == "__main__":
    main()
