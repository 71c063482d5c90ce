"""How long it takes to verify an answer of five claims against five passages of about 150 words, without a server.

    python benchmarks/verification_speed.py [--judge embedding] [--runs 30] [--json]

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
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

from cragraph.passages import as_passages
from cragraph.protocols import Notes
from cragraph.settings import load_settings
from cragraph.types import Passage

TOPICS = (
    ("harbour", "ferry", "quay", "tonnes of grain"),
    ("library", "archive", "reading room", "printed volumes"),
    ("orchard", "cider press", "storehouse", "boxes of apples"),
    ("railway", "signal box", "platform", "passengers a day"),
    ("observatory", "telescope", "dome", "nights of clear sky"),
)


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


def timed(call: Callable[[int], Any], runs: int) -> list[tuple[float, float]]:
    """Milliseconds of each call by the clock, and of processor time over all threads."""
    taken = []
    for run in range(runs):
        start, busy = perf_counter(), process_time()
        call(run)
        taken.append(((perf_counter() - start) * 1000, (process_time() - busy) * 1000))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", default="embedding")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    from cragraph.factory import make_verifier

    results: dict[str, dict[str, float]] = {}
    for title, scores in (("claims policy", False), ("every signal, all policies", True)):
        verifier = make_verifier(load_settings(model=None))

        def verify(run: int, shown: list[Passage], verifier: Any = verifier, scores: bool = scores) -> Any:
            question = "When was the harbour opened, and what became of the library, the orchard and the railway?"
            return verifier(question, answer(run), shown, Notes(), judge=options.judge, policy_scores=scores)

        found = verify(10_000, passages(10_000))  # loads the models
        assert len(found.claims) == 5, [claim["text"] for claim in found.claims]
        n = options.runs
        cases = {
            "cold": timed(lambda run: verify(run, passages(run)), n),
            "warm passages": timed(lambda run: verify(20_000 + run, passages(10_000)), n),
            "repeated": timed(lambda run: verify(10_000, passages(10_000)), n),
        }
        for case, taken in cases.items():
            ordered = sorted(wall for wall, _ in taken)
            results[f"{title}, {case}"] = {
                "p50_ms": round(statistics.median(ordered), 1),
                "p95_ms": round(ordered[min(n - 1, int(0.95 * n))], 1),
                "cpu_p50_ms": round(statistics.median(busy for _, busy in taken), 1),
                "words": sum(len(p["text"].split()) for p in passages(0)) // 5,
            }
    if options.json:
        print(json.dumps({"judge": options.judge, "runs": options.runs, "results": results}, indent=2))
        return
    words = next(iter(results.values()))["words"]
    print(f"judge {options.judge}, {options.runs} runs, 5 claims x 5 passages of {words} words")
    print(f"{'ms':40} {'p50':>8} {'p95':>8} {'processor p50':>14}")
    for title, figures in results.items():
        print(f"{title:40} {figures['p50_ms']:8.1f} {figures['p95_ms']:8.1f} {figures['cpu_p50_ms']:14.1f}")


if __name__ == "__main__":
    main()
