"""`cragraph serve`: a page to ask, and the same over HTTP."""

from pathlib import Path
from typing import Annotated, Any

from cragraph.cli.console import status
from cragraph.cli.options import TokenOption, option, with_settings
from cragraph.serve import run


@with_settings("store", "model", "base_url", "collection")
def serve(
    settings_of: Any,
    host: Annotated[str, option("Address to listen on.", "--host")] = "127.0.0.1",
    port: Annotated[int, option("Port to listen on.", "--port", min=0, max=65535)] = 8765,
    token: TokenOption = None,
    files: Annotated[Path, option("Folder for files that are dropped on the page.", "--files")] = Path("dropped"),
) -> None:
    """Serve a page to ask your documents in the browser, and an HTTP interface.

    Only this machine can reach the server. With --host others can, and every caller must send the token.
    `/openapi.json` describes the interface.

    Example: `cragraph serve --port 8765`
    """
    run(settings_of(), host=host, port=port, token=token, files_in=files, tell=status)
