"""`cragraph serve`: a page to ask, and the same over HTTP."""

from pathlib import Path
from typing import Annotated, Any

import typer

from cragraph.cli.console import status
from cragraph.cli.options import TokenOption, with_settings
from cragraph.serve import run


@with_settings("store", "model", "base_url", "collection")
def serve(
    settings_of: Any,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")] = 8765,
    token: TokenOption = None,
    files: Annotated[Path, typer.Option("--files", help="Folder for files that are dropped on the page.")] = Path(
        "dropped"
    ),
) -> None:
    """Serve a page to ask your documents in the browser, and an HTTP interface.

    Only this machine can reach the server. With --host others can, and every caller must send the token.
    `/openapi.json` describes the interface.

    Example: `cragraph serve --port 8765`
    """
    run(settings_of(), host=host, port=port, token=token, files_in=files, tell=status)
