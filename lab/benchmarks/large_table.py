"""A table of a million rows: time, memory and size of the store, and questions whose answers are known.

python -m lab.benchmarks.large_table [1000000] [--folder F]

Writes a CSV of so many orders, ingests it with the embedded encoder, and asks for a sum, a count under a filter, the
group with the most and the amount of one order. `ingest_mb`, `reader_mb` and `ask_mb` are the most memory that each of
these processes held; a question's time has the start of its run in it, the first one the loading of the encoder too.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cragraph import create_graph, load_settings
from cragraph.run import Assistant

REGIONS, PRODUCTS = [f"r{n}" for n in range(1, 10)], ["lamp", "chair", "desk", "shelf"]


def written(path: Path, rows: int) -> list[tuple[str, dict[str, Any] | None, str]]:
    """Write the table; the questions about it, each with its filter and what its answer has to say."""
    drawn = random.Random(rows)
    total, count, asked = 0, 0, rows * 3 // 4 + 7
    by_region: Counter[str] = Counter()
    amount = ""
    with path.open("w", encoding="utf-8") as out:
        out.write("order_id,region,product,amount_gbp,ordered\n")
        for number in range(1, rows + 1):
            region, product, pence = drawn.choice(REGIONS), drawn.choice(PRODUCTS), drawn.randint(100, 99_999)
            day = f"2024-{drawn.randint(1, 12):02d}-{drawn.randint(1, 28):02d}"
            out.write(f"{number},{region},{product},{pence / 100:.2f},{day}\n")
            total, count = total + pence, count + (region == "r3" and product == "lamp")
            by_region[region] += pence
            amount = f"{pence / 100:.2f}" if number == asked else amount
    return [
        ("What is the total amount of the orders?", None, f"£{total / 100:,.2f}".rstrip("0")),
        ("How many orders are for lamps?", {"region": "r3"}, str(count)),
        ("Which region has the largest total amount?", None, by_region.most_common(1)[0][0]),
        (f"What is the amount of order {asked:,}?", None, amount),
    ]


def most_held(who: int) -> float:
    """The most memory in MB that this process, or one that it started, has held."""
    return resource.getrusage(who).ru_maxrss / 1e3


def ingested(folder: Path) -> dict[str, Any]:
    """Ingest the table in this process."""
    begun = time.perf_counter()
    report = Assistant(load_settings(store=str(folder / "store"))).ingest([folder / "orders.csv"])
    figures = {"seconds": time.perf_counter() - begun, "chunks": report.chunks, "partial": report.partial}
    return figures | {
        "ingest_mb": most_held(resource.RUSAGE_SELF),
        "reader_mb": most_held(resource.RUSAGE_CHILDREN),
    }


def asked(folder: Path) -> dict[str, Any]:
    """Ask the questions in this process."""
    found = []
    for question, where, right in json.loads((folder / "questions.json").read_text()):
        begun = time.perf_counter()
        graph = create_graph(load_settings(store=str(folder / "store"), where=where)).compile()
        response = graph.invoke({"question": question})
        computed = response.get("computed") or {}
        said = [computed.get("value", ""), *computed.get("labels", ()), response["answer"]]
        found.append(
            {
                "question": question,
                "seconds": time.perf_counter() - begun,
                "answer": response["answer"],
                "right": any(right == text or right in text.split() for text in said),
                "outcome": response["decision"]["outcome"],
            }
        )
    return {"asked": found, "ask_mb": most_held(resource.RUSAGE_SELF)}


STEPS: dict[str, Callable[[Path], dict[str, Any]]] = {"ingest": ingested, "ask": asked}


def main() -> None:
    """Do each step in a process of its own, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--folder", type=Path, help="where to put table and store; a temporary folder by default")
    parser.add_argument("--step", choices=[*STEPS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(STEPS[options.step](options.folder)))
        return
    folder = Path(options.folder or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "questions.json").write_text(json.dumps(written(folder / "orders.csv", options.rows)))
    figures: dict[str, Any] = {}
    for step in STEPS:
        command = [sys.executable, "-m", "lab.benchmarks.large_table", "--step", step, "--folder", str(folder)]
        figures |= json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    size = sum(file.stat().st_size for file in (folder / "store").iterdir())
    print(f"{options.rows:,} rows, {(folder / 'orders.csv').stat().st_size / 1e6:.1f} MB of CSV")
    print(
        f"ingest {figures['seconds']:.0f} s, {figures['chunks']:,} chunks, left out: {figures['partial'] or 'nothing'}"
    )
    print(
        f"store {size / 1e6:.1f} MB; memory: " + ", ".join(f"{n} {figures[n]:.0f}" for n in figures if n.endswith("mb"))
    )
    for one in figures["asked"]:
        verdict = "right" if one["right"] else "WRONG"
        print(
            f"{one['seconds']:5.1f} s  {verdict}, {one['outcome']}: {one['question']}\n         {one['answer'][:150]}"
        )


if __name__ == "__main__":
    main()
