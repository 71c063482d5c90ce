"""What must not fall, measured in short form, in a table beside the figures that were kept last.

    python -m lab.guard                   # all, in about ten minutes on two idle cores
    python -m lab.guard --only claims,computed
    python -m lab.guard --keep            # write the figures into lab/guard.json

Each line is a figure of a command of `lab.benchmarks`; two commands run at a time, the timed one alone. The blind sets
are looked at here by their figures only: nothing is fitted on them. `CRAG_DATA` has the data of the dev sets.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

KEPT: Final = Path(__file__).with_name("guard.json")
DATA: Final = os.environ.get("CRAG_DATA", "../shared/data")


SETS: Final = "adi,clapnq_dev,tatqa_dev,xquad_de,xquad_en"
DEV: Final = sorted(map(str, Path(DATA, "grounding", "dev").glob("*.jsonl")))


@dataclass(frozen=True)
class Measure:
    """A command, and its figures: a name, the pattern whose group has the value, and whether less is better.

    A pattern that is found several times gives its sum, or with `mean` its mean.
    """

    command: tuple[str, ...]
    figures: tuple[tuple[str, str, bool], ...]
    mean: bool = False
    alone: bool = False


def bench(name: str, *arguments: str) -> tuple[str, ...]:
    """A command of `lab.benchmarks`."""
    return (sys.executable, "-m", f"lab.benchmarks.{name}", *arguments)


MEASURES: Final = {
    "blind": Measure(
        bench("blind", "--only", "questions"),
        (
            ("blind sets: utility, mean of six", r"utility (\d\.\d+)", False),
            ("  AUROC of the confidence", r"AUROC (\d\.\d+)", False),
        ),
        mean=True,
    ),
    "claims": Measure(
        bench("blind", "--only", "claims"),
        (
            ("blind claims: balanced accuracy, mean", r"balanced accuracy (\d\.\d+)", False),
            ("  unrelated pairs called supported", r"unrelated: (\d+) of", True),
        ),
        mean=True,
    ),
    "users": Measure(
        bench("new_user", ".", "second", "third", "fourth", "fifth"),
        (
            ("new users: right of 300", r"as decided +: (\d+) right", False),
            ("  in part", r"as decided +: .*right, (\d+) partly", True),
            ("  wrong", r"as decided +: .*partly, (\d+) wrong", True),
            ("  accepted and right", r"accepted +\d+: (\d+) right", False),
            ("  accepted and wrong", r"accepted +\d+: .*partly, (\d+) wrong", True),
        ),
    ),
    "computed": Measure(
        bench("computed"),
        (
            ("computed, blind: right of made and human", r"together: +(\d+) right", False),
            ("  wrong", r"together: .*?(\d+) wrong", True),
            ("  right of look-alikes", r"other +\d+ questions: +(\d+) right", False),
        ),
    ),
    "conflicts": Measure(
        bench("conflicts"),
        (
            ("conflicts told", r"conflicts told +(\d+)", False),
            ("  false alarms", r"false alarms on look-alikes +(\d+)", True),
        ),
    ),
    "retrieval": Measure(
        bench("retrieval", f"{DATA}/retrieval", "--sets", SETS, "--limit", "100"),
        (
            ("retrieval dev: nDCG@10, reranked", r"ndcg@10\n(?:.*\n)*?\| hybrid\+rerank \|.*\| (\d\.\d+) \|", False),
            ("  recall@100", r"recall@100\n(?:.*\n)*?\| hybrid \|.*\| (\d\.\d+) \|", False),
        ),
    ),
    "grounding": Measure(
        (sys.executable, "-m", "lab.evals", "grounding", *DEV, "--limit", "15", "--judge", "encoder", "--json", "-q"),
        (
            ("grounding dev: AUROC, macro", r'(?s)"macro".*?"auroc": (\d\.\d+)', False),
            ("  balanced accuracy", r'(?s)"macro".*?"balanced_accuracy": (\d\.\d+)', False),
        ),
    ),
    "rules": Measure(
        bench("probes"),
        (("rules of language: probes right", r"together +(\d+) of", False),),
    ),
    "faults": Measure(
        bench("faults", "--short"),
        (("store: faults of kills and damages", r"(?m)^(\d+) faults$", True),),
    ),
    "asking": Measure(
        bench("asking"),
        (
            ("a warm question, ms", r"ask, warm +(\d+\.\d+)", True),
            ("  95th percentile, ms", r"  95th percentile +(\d+\.\d+)", True),
        ),
        alone=True,
    ),
    "startup": Measure(
        bench("startup", "--runs", "3"),
        (("a cold ask, share of three imports", r"ask / imports +(\d+\.\d+)", True),),
        alone=True,
    ),
}  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(MEASURES), help=f"some of {', '.join(MEASURES)}")
    parser.add_argument("--keep", action="store_true", help="write the figures into lab/guard.json")
    options = parser.parse_args()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.is_file() else {}
    found: dict[str, dict[str, float]] = {}
    print(f"| {'figure':<44} | {'kept':>8} | {'now':>8} | change |\n| --- | ---: | ---: | --- |")
    for name, seconds, figures in run(options.only.split(",")):
        for figure, value, less in figures:
            found.setdefault(name, {})[figure.strip()] = value
            print(row(figure, kept.get(name, {}).get(figure.strip()), value, less), flush=True)
        print(f"{name}: {seconds:.0f} s", file=sys.stderr, flush=True)
    if options.keep:
        KEPT.write_text(json.dumps(kept | found, indent=1) + "\n", encoding="utf-8")


def run(names: Sequence[str]) -> Iterator[tuple[str, float, list[tuple[str, float, bool]]]]:
    """Each measure's figures, once its command has ended; those that are timed run last, one by one."""
    timed = [name for name in names if MEASURES[name].alone]
    with ThreadPoolExecutor(2) as pool:
        yield from zip_names([name for name in names if name not in timed], pool)
    with ThreadPoolExecutor(1) as pool:
        yield from zip_names(timed, pool)


def zip_names(
    names: Sequence[str], pool: ThreadPoolExecutor
) -> Iterator[tuple[str, float, list[tuple[str, float, bool]]]]:
    """The names with what they measured, in their order."""
    for name, (seconds, figures) in zip(names, pool.map(measured, names), strict=True):
        yield name, seconds, figures


def measured(name: str) -> tuple[float, list[tuple[str, float, bool]]]:
    """Run a command and read its figures; says on stderr what it printed where one is missing."""
    measure, begun = MEASURES[name], time.monotonic()
    done = subprocess.run(measure.command, capture_output=True, text=True, check=False)
    figures, lacks = [], []
    for figure, pattern, less in measure.figures:
        values = [float(value) for value in re.findall(pattern, done.stdout)]
        if not values:
            lacks.append(figure.strip())
            continue
        figures.append((figure, sum(values) / (len(values) if measure.mean else 1), less))
    if lacks:
        told = f"{done.stdout[-600:]}\n{done.stderr[-1500:]}"
        print(f"{name}: exit code {done.returncode}, without {', '.join(lacks)}\n{told}", file=sys.stderr)
    return time.monotonic() - begun, figures


def row(figure: str, kept: float | None, value: float, less: bool) -> str:
    """A line of the table."""
    change = ""
    if kept is not None and abs(value - kept) >= 5e-4:
        better = (value < kept) is less
        change = f"{value - kept:+.3g} {'better' if better else 'WORSE'}"
    return f"| {figure:<44} | {'-' if kept is None else f'{kept:.3f}':>8} | {value:8.3f} | {change} |"


if __name__ == "__main__":
    main()
