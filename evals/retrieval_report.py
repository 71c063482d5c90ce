"""Show what was measured of retrieval: a table for the terminal, a plot for a page."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cragraph.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS: Final = ("ndcg@10", "recall@10", "recall@100", "mrr", "ms_p50", "ms_p95")


def table(result: Mapping[str, Any]) -> "Table":
    """A rich table: a stage a row, the yardsticks first."""
    from rich.table import Table

    title = (
        f"{result['collection']}: {result['passages']} passages, {result['queries']} queries, "
        f"{result['embeddings']}, reranker {result['reranker']}"
    )
    shown = Table(title=title, title_justify="left")
    shown.add_column("stage")
    for column in COLUMNS:
        shown.add_column(column, justify="right")
    for name, row in result["baselines"].items():
        shown.add_row(f"plain {name}", *map(_cell, COLUMNS, (row[c] for c in COLUMNS)), style="dim")
    for name, row in result["stages"].items():
        shown.add_row(name, *map(_cell, COLUMNS, (row[c] for c in COLUMNS)))
    return shown


def write_plot(result: Mapping[str, Any], path: Path) -> None:
    """Draw nDCG@10, recall@10 and MRR of every stage as bars into a file (PNG, SVG or PDF by its ending).

    Raises:
        InputError: matplotlib is not installed, or the file's ending names no format that it writes.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise InputError("A plot needs matplotlib, which is not installed: pip install 'cragraph[report]'.") from error

    stages = {f"plain {name}": row for name, row in result["baselines"].items()} | dict(result["stages"])
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    for shift, column in enumerate(("ndcg@10", "recall@10", "mrr")):
        places = [index + (shift - 1) * 0.27 for index in range(len(stages))]
        bars = axes.bar(places, [row[column] for row in stages.values()], width=0.25, label=column)
        axes.bar_label(bars, fmt="%.2f", fontsize=7)
    axes.set_xticks(range(len(stages)), list(stages))
    axes.set_ylim(0, 1.05)
    axes.set_title(f"{result['collection']}: {result['passages']} passages, {result['queries']} queries")
    axes.legend(ncols=3, loc="lower right")
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise InputError(f"The plot cannot be written to {path} ({error}): name a .png, .svg or .pdf file.") from error


def _cell(column: str, value: float) -> str:
    return f"{value:.1f}" if column.startswith("ms") else f"{value:.3f}"
