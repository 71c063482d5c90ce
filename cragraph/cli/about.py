"""`cragraph config`, `trust` and `stats`: settings, trusted files, and the metrics log."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.table import Table

from cragraph.cli.console import show, status
from cragraph.cli.options import JsonOption, with_settings
from cragraph.errors import InputError, mask
from cragraph.log import summarise
from cragraph.settings import source_of
from cragraph.trust import FILES
from cragraph.trust import trust as remember


@with_settings()
def config(settings_of: Any, json: JsonOption = False) -> None:
    """List every setting with its value and where the value comes from.

    Example: `cragraph config | grep model`
    """
    settings = settings_of()
    rows = []
    for name, value in settings.model_dump(mode="json").items():
        source = source_of(name) if name in settings.model_fields_set else "default"
        rows.append({"setting": name, "value": mask(value) if isinstance(value, str) else value, "from": source})
        if name == "confidence_threshold" and settings.threshold is None:
            fitted = {judge: own.threshold for judge, own in settings.calibration.items() if own.threshold is not None}
            rows[-1]["from"] += "".join(f"; {at} where {judge} judges, by calibration" for judge, at in fitted.items())

    def lines(rows: Any) -> str:
        shown = [(row, "-" if row["value"] in (None, "") else row["value"]) for row in rows]
        return "\n".join(f"{row['setting']:<22} {value!s:<24} {row['from']}" for row, value in shown)

    show(json, rows, lines)


def trust(folder: Annotated[Path, typer.Argument(help="Folder to trust.")] = Path()) -> None:
    """Trust the settings files of a folder: they may name code to run, servers, tokens and files.

    `cragraph.yaml`, `config.yaml` and `.env` of a folder that is not trusted set none of these. A settings file that
    changes must be trusted again.

    Example: `cragraph trust .`
    """
    files = [file for name in FILES if (file := folder / name).is_file()]
    if not files:
        raise InputError(f"{folder} has none of {', '.join(FILES)}: there is nothing to trust.")
    remember(*files)
    status(f"trusted, until they change: {', '.join(map(str, files))}")


def stats(
    file: Annotated[Path, typer.Argument(help="Metrics log, a JSONL file.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Summarise a metrics log: corrections, abstentions, latency, and the targets.

    Example: `CRAG_METRICS_LOG=runs.jsonl cragraph ask "..."; cragraph stats runs.jsonl`
    """
    show(json, summarise(file), table)


def table(summary: Mapping[str, Any]) -> Group:
    """The summary as tables."""
    rates = Table(title=f"{summary['runs']} runs", show_header=False)
    for name in (
        "abstention_rate", "rejection_rate", "doubtful_rate", "trigger_rate", "success_rate", "grounded_rate",
        "confidence",
        "cited_claims", "citation_accuracy", "false_positive_rate", "false_negative_rate", "rerank_gain",
        "selection_rate", "llm_calls", "degraded_rate", "bad_lines",
    ):  # fmt: skip
        rates.add_row(name.replace("_", " "), _shown(name, summary[name]))
    rates.add_row("judges", ", ".join(f"{name} ({n})" for name, n in summary["judges"].items()) or "none")
    targets = Table("figure", "measured", "target", "met", title="Targets")
    for row in summary["targets"]:
        value, met = row["value"], {None: "-", True: "yes", False: "no"}[row["met"]]
        shown = "-" if value is None else f"{value:.0f} ms" if "ms" in row["target"] else f"{value:.1%}"
        targets.add_row(row["name"], shown, row["target"], met)
    latency = Table("node", "p50", "p95", "p99", "runs", title="Milliseconds")
    for node, figures in summary["latency_ms"].items():
        latency.add_row(node, *(f"{figures[p]:.0f}" for p in ("p50", "p95", "p99")), str(figures["runs"]))
    degraded = Table("degraded", "runs")
    for sentence, count in summary["degraded"].items():
        degraded.add_row(sentence, str(count))
    return Group(*([rates, targets, latency] + ([degraded] if summary["degraded"] else [])))


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1%}" if name.endswith("_rate") or name.startswith(("citation", "cited")) else f"{value:.3g}"
