"""`cragraph serve` and `cragraph mcp`: a page to ask and the same over HTTP, and tools for agents."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.cli.console import status
from cragraph.cli.options import with_settings
from cragraph.errors import SettingsError

TokenOption = Annotated[
    str | None,
    typer.Option("--token", help="Ask every caller for this (or CRAG_TOKEN); made up where others can reach it."),
]


@with_settings("store", "model", "base_url", "collection")
def serve(
    settings_of: Any,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = 8765,
    token: TokenOption = None,
    files: Annotated[Path, typer.Option("--files", help="Folder for dropped files.")] = Path("dropped"),
) -> None:
    """A page to ask your documents in the browser, and an HTTP interface (see /openapi.json).

    Only this machine can reach it, unless --host says otherwise; then a token is asked for.

    Example: `cragraph serve --port 8765`
    """
    import_module("cragraph.serve").run(settings_of(), host=host, port=port, token=token, files_in=files, tell=status)


@with_settings("store", "model", "base_url", "collection")
def mcp(
    settings_of: Any,
    http: Annotated[bool, typer.Option("--http", help="Streamable HTTP instead of stdio.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address for --http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port for --http.")] = 8766,
    token: TokenOption = None,
    root: Annotated[Path, typer.Option("--root", help="Folder whose files may be read.")] = Path(),
) -> None:
    """Offer search, ask, verify and ingest to agents by the Model Context Protocol, over stdio or HTTP.

    Needs `pip install 'cragraph[mcp]'`. Over HTTP, a token is asked for where --token or CRAG_TOKEN has one, and where
    others can reach the server.

    Example: `cragraph mcp --store ~/notes/.cragraph`
    """
    if token is not None and not http:
        raise SettingsError("--token came without --http: over stdio nobody else can call; leave it out.")

    def tell(address: str, asked: str | None) -> None:
        status(f"{address}/mcp" + (f", asks for: Authorization: Bearer {asked}" if asked else ""))

    try:
        server = import_module("cragraph.mcp").Documents(settings_of(), root)
    except ImportError as error:
        raise SettingsError(f"mcp needs {error.name}: install it with `pip install 'cragraph[mcp]'`.") from error
    if http:
        server.serve_http(host, port, token, tell)
    else:
        server.run("stdio")
