"""`cragraph mcp`: tools for agents."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.cli.console import status
from cragraph.cli.options import with_settings
from cragraph.errors import SettingsError


@with_settings("store", "model", "base_url")
def mcp(
    settings_of: Any,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP on 127.0.0.1 instead of stdio.")] = False,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port for --http.")] = 8766,
    root: Annotated[Path, typer.Option("--root", help="Folder whose files may be read.")] = Path(),
) -> None:
    """Offer search, ask, verify and ingest to agents by the Model Context Protocol, over stdio or HTTP.

    Example: `cragraph mcp --store ~/notes/.cragraph`
    """
    try:
        from cragraph.mcp import Documents
    except ImportError as error:
        raise SettingsError(f"mcp needs {error.name}: install it with `pip install 'cragraph[mcp]'`.") from error

    server = Documents(settings_of(), root)
    if http:
        status(f"http://127.0.0.1:{port}/mcp")
        server.run("streamable-http", port=port)
    else:
        server.run("stdio")
