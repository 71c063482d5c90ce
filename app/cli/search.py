"""`cragraph search`: the passages for a query, with their scores by stage."""

from typing import Annotated, Any

import typer

from cragraph.cli.console import emit
from cragraph.cli.options import JsonOption, with_settings


@with_settings("store", "where")
def search(
    settings_of: Any,
    query: Annotated[str, typer.Argument(help="What to search for.", show_default=False)],
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=200, help="Passages to show.")] = 5,
    json: JsonOption = False,
) -> None:
    """Search the store, without answering.

    Example: `cragraph search "net revenue" --where year=2023 -k 3`
    """
    from cragraph.cli.render import show_passages
    from cragraph.run import Assistant

    passages = Assistant(settings_of()).search(query, k)
    if json:
        emit(passages)
    else:
        show_passages(passages)
