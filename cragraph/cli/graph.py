"""`cragraph graph`: drawings of the graphs."""

from typing import Annotated

import typer

from cragraph.api import drawn
from cragraph.cli.console import emit
from cragraph.cli.options import JsonOption
from cragraph.errors import InputError


def graph(
    name: Annotated[str, typer.Argument(help="Graph to draw: crag or verify.")] = "crag", json: JsonOption = False
) -> None:
    """Draw a graph as Mermaid text, or as nodes and edges in JSON.

    Example: `cragraph graph crag`
    """
    if name not in ("crag", "verify"):
        raise InputError(f"there is no graph {name!r}; there are crag and verify.")
    drawing = drawn(name)
    if json:
        emit(drawing.to_json())
    else:
        typer.echo(drawing.draw_mermaid(with_styles=False).strip())
