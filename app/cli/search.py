"""`cragraph search`: the passages for a query, with their scores by stage."""

from typing import Annotated

import typer

from cragraph.cli.console import emit
from cragraph.cli.options import ConfigOption, JsonOption, StoreOption, WhereOption, settings_from


def search(
    query: Annotated[str, typer.Argument(help="What to search for.", show_default=False)],
    store: StoreOption = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=200, help="Passages to show.")] = 5,
    where: WhereOption = None,
    json: JsonOption = False,
    config: ConfigOption = None,
) -> None:
    """Search the store, without answering.

    Example: `cragraph search "net revenue" --where year=2023 -k 3`
    """
    from cragraph.cli.render import show_passages
    from cragraph.run import Assistant

    settings = settings_from(config, store=store, where=where)
    passages = Assistant(settings).search(query, k)
    if json:
        emit(passages)
    else:
        show_passages(passages)
