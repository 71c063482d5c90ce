"""Timing for the benchmarks: medians, because these figures come from machines that other work shares."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
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
