"""`cragraph config`, `graph` and `stats`: what is set, how the graph is drawn, what the metrics log says."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.cli.console import emit, show
from cragraph.cli.options import JsonOption, with_settings
from cragraph.errors import InputError, mask


@with_settings()
def config(settings_of: Any, json: JsonOption = False) -> None:
    """List every setting with its value and the source that it comes from.

    Example: `cragraph config | grep model`
    """
    from cragraph.settings import source_of

    settings = settings_of()
    rows = [
        {
            "setting": name,
            "value": mask(value) if isinstance(value, str) else value,
            "from": source_of(name) if name in settings.model_fields_set else "default",
        }
        for name, value in settings.model_dump(mode="json").items()
    ]

    def lines(rows: Any) -> str:
        shown = [(row, "-" if row["value"] in (None, "") else row["value"]) for row in rows]
        return "\n".join(f"{row['setting']:<22} {value!s:<24} {row['from']}" for row, value in shown)

    show(json, rows, lines)


def graph(name: Annotated[str, typer.Argument(help="crag or verify.")] = "crag", json: JsonOption = False) -> None:
    """Draw a graph as Mermaid text, or as nodes and edges in JSON.

    Example: `cragraph graph crag`
    """
    from cragraph.api import drawn

    if name not in ("crag", "verify"):
        raise InputError(f"there is no graph {name!r}; there are crag and verify.")
    drawing = drawn(name)
    if json:
        emit(drawing.to_json())
    else:
        typer.echo(drawing.draw_mermaid(with_styles=False).strip())


def stats(
    file: Annotated[Path, typer.Argument(help="The metrics log.", show_default=False)], json: JsonOption = False
) -> None:
    """Summarise a metrics log: how often the loop ran and helped, abstentions, latency, and the targets.

    Example: `CRAG_METRICS_LOG=runs.jsonl cragraph ask "..."; cragraph stats runs.jsonl`
    """
    from cragraph.metrics import summarise, table

    show(json, summarise(file), table)
