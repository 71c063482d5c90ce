"""Timing for the benchmarks: medians, because these figures come from machines that other work shares."""

import gc
import os
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One measured number beside its aim."""

    name: str
    value: float
    unit: str
    aim: str
    met: bool
    note: str = ""

    def row(self) -> str:
        """The figure as a line of the table."""
        mark = "ok" if self.met else "MISSED"
        return f"{self.name:<44} {self.value:>9.2f} {self.unit:<9} {self.aim:<14} {mark:<7} {self.note}"


def milliseconds(call: Callable[[], Any], runs: int = 20, warm_up: int = 3) -> list[float]:
    """How long each of `runs` calls took, after some that are not counted."""
    for _ in range(warm_up):
        call()
    taken = []
    for _ in range(runs):
        begun = time.perf_counter()
        call()
        taken.append((time.perf_counter() - begun) * 1000)
    return taken


def spread(values: list[float]) -> str:
    """Minimum and 95th percentile, in words."""
    ordered = sorted(values)
    return f"min {ordered[0]:.2f}, p95 {ordered[int(0.95 * (len(ordered) - 1))]:.2f}"


def below(name: str, values: list[float], aim: float, unit: str = "ms") -> Figure:
    """The median of some times against an upper bound."""
    median = statistics.median(values)
    return Figure(name, median, unit, f"< {aim:g} {unit}", median < aim, spread(values))


@dataclass(frozen=True)
class Held:
    """What this process holds at a moment: memory in megabytes, open descriptors, threads."""

    megabytes: float
    descriptors: int
    threads: int

    def __str__(self) -> str:
        return f"{self.megabytes:.0f} MB, {self.descriptors} descriptors, {self.threads} threads"


def held() -> Held:
    """What this process holds now (Linux)."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    descriptors, threads = (len(list(Path("/proc/self", what).iterdir())) for what in ("fd", "task"))
    return Held(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, descriptors, threads)


def peak_megabytes() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
