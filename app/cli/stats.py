"""`cragraph stats`: what the metrics log says of many runs."""

from pathlib import Path
from typing import Annotated

import typer

from cragraph.cli.console import emit, out
from cragraph.cli.options import JsonOption


def stats(
    file: Annotated[Path, typer.Argument(help="The metrics log.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Summarise a metrics log: how often the loop ran and helped, abstentions, latency, and the targets.

    Example: `CRAG_METRICS_LOG=runs.jsonl cragraph ask "..."; cragraph stats runs.jsonl`
    """
    from cragraph.metrics import summarise, table

    summary = summarise(file)
    if json:
        emit(summary)
    else:
        out().print(table(summary))
