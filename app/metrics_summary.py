"""What a metrics log says of many runs, beside the figures that the project set out to reach."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cragraph.errors import InputError

Runs = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Target:
    """A figure to reach: its name, where it stands in the summary, the bound, and on which side of it to be."""

    name: str
    field: str
    bound: float
    below: bool
    unit: str = "%"

    def row(self, summary: Mapping[str, Any]) -> dict[str, Any]:
        """The figure beside its bound; `met` is null where there is nothing to measure it on."""
        value = summary[self.field]
        met = None if value is None else (value < self.bound if self.below else value > self.bound)
        sign = "<" if self.below else ">"
        shown = f"{self.bound:g} ms" if self.unit == "ms" else f"{self.bound:.0%}"
        return {"name": self.name, "value": value, "target": f"{sign} {shown}", "met": met}


TARGETS: Final = (
    Target("unsupported claims in answers", "hallucination_rate", 0.05, below=True),
    Target("confidence agrees with a person's judgement", "confidence_accuracy", 0.80, below=False),
    Target("runs that needed a correction", "trigger_rate", 0.20, below=True),
    Target("corrections that raised the confidence", "success_rate", 0.70, below=False),
    Target("claims with a citation", "citation_coverage", 0.90, below=False),
    Target("verification, p50", "verification_ms", 500.0, below=True, unit="ms"),
)
"""The founding documents' success figures that a log can show."""


def summarise(file: str | Path) -> dict[str, Any]:
    """Rates, means and latency percentiles of a log, and the targets; lines that are no JSON are counted and skipped.

    A rate is null where no run can show it. `confidence_accuracy` needs runs that a person has marked with
    ``"correct": true`` or ``false``: the share where the confidence reached 0.7 just when the answer was right.
    Raises InputError where there is no such file.
    """
    bad = 0
    runs: list[Mapping[str, Any]] = []
    for run in _lines(Path(file)):
        if run is None:
            bad += 1
        else:
            runs.append(run)
    answered = [run for run in runs if not run.get("abstained")]
    marked = [run for run in answered if isinstance(run.get("correct"), bool) and _number(run.get("confidence"))]
    judged = [run for run in answered if run.get("claims_checked")]
    checked = sum(run["claims_checked"] for run in judged)
    latency = _latency(runs)
    summary: dict[str, Any] = {
        "runs": len(runs),
        "bad_lines": bad,
        "answered": len(answered),
        "abstention_rate": _rate(runs, lambda run: run.get("abstained")),
        "rejection_rate": _rate(runs, lambda run: run.get("rejected")),
        "trigger_rate": _rate(runs, lambda run: run.get("triggered")),
        "success_rate": _rate([run for run in runs if run.get("improved") is not None], lambda run: run["improved"]),
        "grounded_rate": _rate([r for r in answered if r.get("is_grounded") is not None], lambda r: r["is_grounded"]),
        "hallucination_rate": 1 - sum(r["claims_supported"] for r in judged) / checked if checked else None,
        "confidence": _mean(answered, "confidence"),
        "confidence_accuracy": _rate(marked, lambda run: (run["confidence"] >= 0.7) == run["correct"]),
        "citation_coverage": _mean(answered, "citation_coverage"),
        "citation_accuracy": _mean(answered, "citation_accuracy"),
        "rerank_gain": _mean(runs, "rerank_gain"),
        "llm_calls": _mean(runs, "llm_calls"),
        "degraded_rate": _rate(runs, lambda run: run.get("degraded")),
        "degraded": dict(Counter(s for run in runs for s in run.get("degraded") or []).most_common(10)),
        "judges": dict(Counter(str(run.get("judge") or "none") for run in runs).most_common()),
        "latency_ms": latency,
        "verification_ms": latency["verify"]["p50"] if "verify" in latency else None,
    }
    return summary | {"targets": [target.row(summary) for target in TARGETS]}


def percentile(values: Sequence[float], share: float) -> float:
    """The value that a share (0..1) of the values does not exceed, by nearest rank."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1]


def table(summary: Mapping[str, Any]) -> Any:
    """The summary as tables for a terminal."""
    from rich.console import Group
    from rich.table import Table

    rates = Table(title=f"{summary['runs']} runs", show_header=False)
    for name in (
        "abstention_rate", "rejection_rate", "trigger_rate", "success_rate", "grounded_rate", "confidence",
        "citation_coverage", "citation_accuracy", "rerank_gain", "llm_calls", "degraded_rate", "bad_lines",
    ):  # fmt: skip
        rates.add_row(name.replace("_", " "), _shown(name, summary[name]))
    judges = ", ".join(f"{name} ({count})" for name, count in summary["judges"].items())
    rates.add_row("judges", judges or "none")
    targets = Table("figure", "measured", "target", "met", title="Targets")
    for row in summary["targets"]:
        met = "-" if row["met"] is None else "yes" if row["met"] else "no"
        value = row["value"]
        shown = "-" if value is None else f"{value:.0f} ms" if "ms" in row["target"] else f"{value:.1%}"
        targets.add_row(row["name"], shown, row["target"], met)
    latency = Table("node", "p50", "p95", "p99", "runs", title="Milliseconds")
    for node, figures in summary["latency_ms"].items():
        latency.add_row(node, *(f"{figures[p]:.0f}" for p in ("p50", "p95", "p99")), str(figures["runs"]))
    degraded = Table("degraded", "runs")
    for sentence, count in summary["degraded"].items():
        degraded.add_row(sentence, str(count))
    return Group(*([rates, targets, latency] + ([degraded] if summary["degraded"] else [])))


def _lines(file: Path) -> Iterator[Mapping[str, Any] | None]:
    try:
        with file.open(encoding="utf-8", errors="replace") as log:
            for line in log:
                if line.strip():
                    yield _run(line)
    except OSError as error:
        raise InputError(
            f"the metrics log {file} cannot be read ({error.strerror}); wanted a file of JSON lines: set "
            "CRAG_METRICS_LOG to have one written."
        ) from error


def _run(line: str) -> Mapping[str, Any] | None:
    try:
        run = json.loads(line)
    except ValueError:
        return None
    return run if isinstance(run, dict) else None


def _latency(runs: Runs) -> dict[str, dict[str, float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for node, ms in (run.get("timings_ms") or {}).items():
            if _number(ms):
                times[node].append(float(ms))
    # `total` last, below the nodes that make it up.
    names = sorted(times, key=lambda node: node == "total")
    return {
        node: {**{f"p{p}": round(percentile(times[node], p / 100), 1) for p in (50, 95, 99)}, "runs": len(times[node])}
        for node in names
    }


def _rate(runs: Runs, holds: Callable[[Mapping[str, Any]], Any]) -> float | None:
    return sum(bool(holds(run)) for run in runs) / len(runs) if runs else None


def _mean(runs: Runs, field: str) -> float | None:
    values = [float(run[field]) for run in runs if _number(run.get(field))]
    return sum(values) / len(values) if values else None


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if name.endswith("_rate") or name.startswith("citation") else f"{value:.3g}"
